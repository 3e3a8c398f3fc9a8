import type { ClockQuality } from "../../src/base/clock.ts";
import type { DeviceFacts } from "../../src/domain/device-facts.ts";
import type { Device, Gap, Reading } from "../../src/domain/reading.ts";
import type { Product } from "../driver.ts";
import { activities, type Block } from "./health-log.ts";

/** The length of a block, and so of an epoch. */
export const block_ms = 600_000;

/** Metres a step, where the configuration does not say. */
export const stride_default_m = 0.7;

/** Facts of a watch whose steps are so long, in metres. */
export function watchFacts(stride_m: number): DeviceFacts {
  return {
    description: "watch that keeps a log of ten-minute blocks",
    events: { form: "translated", from: `blocks of the health log; distance is steps × ${stride_m} m` },
    never: ["anything of the time in which it is not worn", "REM sleep"],
    battery: "per cent",
  };
}

export const products: readonly Product[] = [
  {
    name: "Bangle.js watches with the apps `health` and `android`, over Bluetooth or on a wire",
    needs: "on a wire `[watch] port`; `sleeplog` on the watch for sleep",
    series: ["watch_epochs"],
    facts: watchFacts(stride_default_m),
  },
];

/** An epoch of a worn watch; undefined for one that was not worn. The distance is derived from the steps. */
export function epochReading(
  device: Device,
  block: Block,
  { stride_m, clock }: { stride_m: number; clock: ClockQuality },
): Reading | undefined {
  const states = activities[block.activity];
  if (states === undefined) return undefined;
  const stamp_ms = block.end_ms - block_ms;
  return {
    device,
    series: "watch_epochs",
    stamp_ms,
    clock,
    // The gateway sets the watch's clock whenever it reads it.
    deviceClock: { stamp_ms, offset_ms: 0 },
    values: {
      duration: block_ms / 1000,
      distance: Math.round(block.steps * stride_m * 100) / 100,
      steps: block.steps,
      ...states,
    },
  };
}

/** The stretches in which a watch was not worn, of blocks in order; neighbours are one stretch. */
export function notWornGaps(device: Device, blocks: readonly Block[]): Gap[] {
  const gaps: Gap[] = [];
  for (const { end_ms, activity } of blocks) {
    if (activities[activity] !== undefined) continue;
    const from_ms = end_ms - block_ms;
    const last = gaps.at(-1);
    const goesOn = last !== undefined && last.to_ms >= from_ms;
    if (goesOn) gaps.pop();
    gaps.push({ device, from_ms: goesOn ? last.from_ms : from_ms, to_ms: end_ms, reason: "not_worn" });
  }
  return gaps;
}
