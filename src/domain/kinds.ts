/**
 * The kinds of item, as one table. The key is the type name everywhere: in paths, in `typename`, in imports.
 * `typeid` is stored and served: add, never renumber.
 */
export const kinds = {
  pillboxes: { typeid: 1, singular: "pillbox", title: "Pill boxes" },
  wirelesssensors: { typeid: 2, singular: "wirelesssensor", title: "Wireless sensors" },
  scales: { typeid: 3, singular: "scale", title: "Scales" },
  watches: { typeid: 4, singular: "watch", title: "Watches" },
  gateways: { typeid: 5, singular: "gateway", title: "Gateways" },
} as const;

export type Kind = keyof typeof kinds;

export const kindNames = Object.keys(kinds) as Kind[];

/** Kinds of item that record something. */
export const recordingKinds = ["pillboxes", "wirelesssensors", "scales", "watches"] as const satisfies Kind[];

export function isKind(name: string): name is Kind {
  return Object.hasOwn(kinds, name);
}

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
