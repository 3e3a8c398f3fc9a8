import type { Kind } from "./kinds.ts";

/** Whether a battery should be changed soon, by what its device last told: charge in percent, or else voltage in millivolts. */
export function isBatteryLow(battery: {
  readonly kind: Kind;
  readonly percent?: number | undefined;
  readonly millivolts?: number | undefined;
}): boolean {
  const { kind, percent, millivolts } = battery;
  if (percent !== undefined) return percent <= low_percent;
  return kind === "wirelesssensors" && millivolts !== undefined && millivolts <= coin_cell_low_mv;
}

export const low_percent = 15;
/** A lithium coin cell holds 3 V for most of its life; below this it has days. */
export const coin_cell_low_mv = 2_500;
