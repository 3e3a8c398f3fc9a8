import { expect, test } from "bun:test";
import { healthWithoutErased } from "../../src/store/erased-health.ts";
import { everyDevice } from "../../src/store/erasure.ts";
import type { DeviceHealth } from "../../src/store/exchange.ts";
import { sensor } from "../../testbed/sample.ts";

const times = [50, 100, 150, 199, 200];
const each = [0, 1].flatMap((device) => times.map((at_ms) => ({ device, at_ms })));
const health: DeviceHealth = {
  ...{ devices: [sensor(1), sensor(2)], listeners: [], outages: [], after_note: 0, to_note: 0 },
  states: each.map(({ device, at_ms }) => ({ device, first_ms: 1, heard_ms: at_ms })),
  silences: each.map(({ device, at_ms }) => ({ device, start_ms: at_ms, stop_ms: at_ms + 120 })),
  gaps: each.map(({ device, at_ms }) => ({ device, from_ms: at_ms, to_ms: at_ms, reason: "overwritten" })),
};

test("of an erased time nothing stays in any list of the health of devices, and of others everything", () => {
  const span = { from_ms: 100, before_ms: 200 };
  const { kind, address } = sensor(1);
  const ofOne = healthWithoutErased(health, [{ ...everyDevice, ...span, kind, address }]);
  const ofAll = healthWithoutErased(health, [{ ...everyDevice, ...span }]);
  for (const [left, erased] of [
    [ofOne, [0]],
    [ofAll, [0, 1]],
  ] as const) {
    const isErased = (device: number) => (erased as readonly number[]).includes(device);
    const kept = each.filter(({ device, at_ms }) => !isErased(device) || at_ms < 100 || at_ms >= 200);
    expect(left.states.map(({ device, heard_ms: at_ms }) => ({ device, at_ms }))).toEqual(kept);
    expect(left.gaps.map(({ device, from_ms: at_ms }) => ({ device, at_ms }))).toEqual(kept);
    // A silence goes on outside of it.
    expect(left.silences).toEqual(
      each.flatMap(({ device, at_ms }) => {
        const [start_ms, stop_ms] = [at_ms, at_ms + 120];
        if (!isErased(device) || at_ms >= 200) return [{ device, start_ms, stop_ms }];
        if (at_ms < 100) return [{ device, start_ms, stop_ms: 100 }];
        return { device, start_ms: 200, stop_ms };
      }),
    );
  }
  expect(healthWithoutErased(health, [])).toBe(health);
});

test("a gap over an erased time is two, of which nobody knows what each has lost; a silence over it too", () => {
  const over: DeviceHealth = {
    ...health,
    silences: [{ device: 0, start_ms: 20, stop_ms: 300 }],
    gaps: [{ device: 0, from_ms: 10, to_ms: 400, reason: "overwritten", lost: 7 }],
  };
  const left = healthWithoutErased(over, [{ ...everyDevice, from_ms: 100, before_ms: 200 }]);
  const gap = { device: 0, reason: "overwritten" } as const;
  expect(left.gaps).toEqual([
    { ...gap, from_ms: 10, to_ms: 100 },
    { ...gap, from_ms: 200, to_ms: 400 },
  ]);
  expect(left.silences).toEqual([
    { device: 0, start_ms: 20, stop_ms: 100 },
    { device: 0, start_ms: 200, stop_ms: 300 },
  ]);
});
