import { expect, test } from "bun:test";
import { everyDevice, healthWithoutErased } from "../../src/store/erasure.ts";
import type { DeviceHealth } from "../../src/store/exchange.ts";
import { sensor } from "../../testbed/sample.ts";

const times = [50, 100, 150, 199, 200];
const each = [0, 1].flatMap((device) => times.map((at_ms) => ({ device, at_ms })));
const health: DeviceHealth = {
  ...{ devices: [sensor(1), sensor(2)], listeners: [], outages: [], after_note: 0, to_note: 0 },
  states: each.map(({ device, at_ms }) => ({ device, first_ms: 1, heard_ms: at_ms })),
  silences: each.map(({ device, at_ms }) => ({ device, start_ms: at_ms, stop_ms: at_ms + 500 })),
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
    const kept = each.filter(
      ({ device, at_ms }) => !(erased as readonly number[]).includes(device) || at_ms < 100 || at_ms >= 200,
    );
    const lists = {
      states: left.states.map(({ device, heard_ms: at_ms }) => ({ device, at_ms })),
      silences: left.silences.map(({ device, start_ms: at_ms }) => ({ device, at_ms })),
      gaps: left.gaps.map(({ device, from_ms: at_ms }) => ({ device, at_ms })),
    };
    expect(lists).toEqual({ states: kept, silences: kept, gaps: kept });
  }
  expect(healthWithoutErased(health, [])).toBe(health);
});
