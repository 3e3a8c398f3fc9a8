import { clockQuality } from "../src/base/clock.ts";
import type { Reading } from "../src/domain/reading.ts";
import { below, sensor } from "./sample.ts";

/** Endless readings of a home, one after the other: mostly doors and motion, a watch, sometimes scale and pill box. */
export function* homeReadings(random: () => number, from_ms: number): Generator<Reading> {
  let stamp_ms = from_ms;
  for (let number = 1; ; number += 1) {
    stamp_ms += below(random, 20_000);
    // Some come late, as from a buffer.
    const late_ms = random() < 0.02 ? below(random, 6 * 3_600_000) : 0;
    yield { stamp_ms: stamp_ms - late_ms, clock: clockQuality.synchronised, ...said(random, number) };
  }
}

function said(random: () => number, number: number): Omit<Reading, "stamp_ms" | "clock"> {
  const part = random();
  if (part < 0.9)
    return {
      device: sensor(below(random, 14)),
      series: "wirelesssensor_events",
      values: { event: [48, 49, 50, 33][below(random, 4)] ?? 48 },
    };
  if (part < 0.97)
    return {
      device: { kind: "watches", address: "c4:7f:51:00:00:01" },
      series: "watch_epochs",
      values: {
        duration: 60,
        distance: Math.round(random() * 1_000) / 10,
        steps: below(random, 120),
        walkState: 1 + below(random, 2),
        runState: 1,
        sleepState: 1 + below(random, 4),
      },
    };
  if (part < 0.99)
    return {
      device: { kind: "pillboxes", address: "00:17:3b:00:00:0a", subtype: "broadcasting" },
      series: "pillbox_events",
      values: { event: number % 512 },
    };
  return {
    device: { kind: "scales", address: "00:24:e4:00:00:07" },
    series: "scale_weights",
    values: {
      weight: 60_000 + below(random, 20_000),
      fatMass: random() < 0.5 ? null : 15_000 + below(random, 5_000),
      waterMass: null,
      boneMass: null,
      muscleMass: 30_000 + below(random, 5_000),
      batteryLevel: below(random, 101),
    },
  };
}
