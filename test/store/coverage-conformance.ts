import { expect, test } from "bun:test";
import { hour_ms } from "../../src/base/time.ts";
import type { DeviceHealth } from "../../src/store/exchange.ts";
import type { CoverageInterval } from "../../src/store/store.ts";
import { item, sensor, start_ms } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { keyOf, type MakeCentral, stay, take } from "./central-sample.ts";

/** Tests of when devices were covered, as the stores of central answer it; times are hours. */
export function coverageOfHomes(make: MakeCentral): void {
  test("of some homes in a span is told for each device that was heard of then, with all that interrupted it", async () => {
    await using made = await make();
    const { store } = made;
    const moved_s = start_ms / 1000 + 6 * 3600;
    await take(store, item(1, { currenthomeid: 1 }), item(2, { currenthomeid: 1 }), item(3));
    await stay(
      store,
      { homeid: 1, item: 3, start: null, stop: moved_s },
      { homeid: 2, item: 3, start: moved_s, stop: null },
    );
    const report = async (home: number, health: Partial<DeviceHealth>) => {
      const gateway = new SimulatedGateway(home, `home ${home}`);
      await store.noteReport(gateway.report({ to_note: 9, ...health }), gateway.sender);
    };
    const listeners = ["gateway", "zigbee"].map((name) => ({ name, ...span(0, 24, "first_ms", "last_ms") }));
    await report(1, {
      devices: [sensor(1), sensor(2), sensor(3)],
      listeners,
      states: [heard(0, 0, 20), heard(1, 0, 24), heard(2, 0, 6)],
      outages: [
        { listener: "gateway", ...span(9, 10) },
        { listener: "zigbee", ...span(11, 12) },
        { listener: "zigbee", ...span(1, 2) },
      ],
      silences: [4, 1].map((from) => ({ device: from === 4 ? 0 : 1, ...span(from, from + 4) })),
      gaps: [
        { device: 0, ...span(13, 14, "from_ms", "to_ms"), reason: "missed_broadcasts", lost: 3 },
        { device: 0, ...span(15, 16, "from_ms", "to_ms"), reason: "not_worn" },
      ],
    });
    // Another home hears the third one when it has moved; one that is heard no longer when the span begins is not told.
    await report(2, {
      devices: [sensor(3), sensor(4)],
      listeners,
      states: [heard(0, 7, 10), { device: 1, ...span(0, 5, "first_ms", "heard_ms") }],
    });
    await report(3, { devices: [sensor(5)], listeners, states: [heard(0, 0, 24)] });
    const told = async (homes: readonly number[], from: number, until: number) =>
      (await store.coverageIn(homes, span(from, until))).map((device) => [
        device.home,
        hours(device.start_ms),
        hours(device.stop_ms),
        ...device.uncovered.map(inHours),
      ]);
    const off = [
      [11, 12, "driver_down"],
      [9, 10, "gateway_down"],
    ];
    const missing = [
      [15, 16, "not_worn"],
      [13, 14, "missed_broadcasts", 3],
    ];
    expect(await told([1, 2], 5, 18)).toEqual([
      [1, 5, 18, ...missing, ...off, [4, 8, "device_silent"]],
      // What lies outside of the span is not told.
      [1, 5, 18, ...off],
      [1, 5, 6],
      [2, 7, 18, [10, 24, "device_silent"]],
    ]);
    expect(await told([2], 0, 5)).toEqual([[2, 0, 5]]);
    expect(await told([2], 25, 30)).toEqual([]);
    expect(await told([], 0, 24)).toEqual([]);
  });

  test("of an item is told to who may see some homes as far as these have heard it, and of none that nobody knows", async () => {
    await using made = await make();
    const { store } = made;
    const moved_s = start_ms / 1000 + 6 * 3600;
    await take(store, item(1));
    await stay(
      store,
      { homeid: 1, item: 1, start: null, stop: moved_s },
      { homeid: 2, item: 1, start: moved_s, stop: null },
    );
    for (const [home, first, last] of [
      [1, 0, 5],
      [2, 7, 9],
    ] as const) {
      const gateway = new SimulatedGateway(home, `home ${home}`);
      const health = { devices: [sensor(1)], states: [heard(0, first, last)] };
      await store.noteReport(gateway.report(health), gateway.sender);
    }
    const key = await keyOf(store, "item-1");
    const told = async (of: { item: number; homes?: readonly number[] }) =>
      (await store.coverage({ ...of, before_ms: start_ms * 2, skip: 0, limit: 9 })).map(inHours);
    expect(await told({ item: key })).toEqual([
      [7, 9],
      [5, 7, "device_silent"],
      [0, 5],
    ]);
    expect(await told({ item: key, homes: [1] })).toEqual([[0, 5]]);
    expect(await told({ item: key, homes: [2, 3] })).toEqual([[7, 9]]);
    for (const nothing of [{ item: key, homes: [] }, { item: 404 }]) expect(await told(nothing)).toEqual([]);
  });

  test("that is overdue is an item whose driver has listened for long enough in the home that it lives in", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(1, "one");
    const listeners = ["zigbee", "mqtt"].map((name) => ({ name, ...span(0, 9, "first_ms", "last_ms") }));
    await store.noteReport(
      gateway.report({
        devices: [sensor(1), sensor(2), sensor(3), sensor(4), sensor(5)],
        listeners,
        // Between its outages the radio has listened for three hours: to hear nothing for so long is well.
        states: [
          heard(0, 0, 0),
          heard(1, 0, 0.9),
          heard(2, 5, 5.5),
          { ...heard(3, 0, 0), listener: "mqtt" },
          { device: 4, ...span(0, 0, "first_ms", "heard_ms") },
        ],
        to_note: 1,
        outages: [
          { listener: "zigbee", ...span(1, 5) },
          { listener: "zigbee", ...span(6, 8) },
        ],
      }),
      gateway.sender,
    );
    const other = new SimulatedGateway(2, "other");
    await store.noteReport(
      other.report({ devices: [sensor(6)], listeners, states: [heard(0, 0, 0)] }),
      other.sender,
    );
    const { items } = await store.overview();
    expect(items.map(({ overdue }) => overdue)).toEqual([false, false, false, true, false, true]);
  });
}

/** The state of a device that zigbee has heard. */
function heard(device: number, first: number, last: number) {
  return { device, listener: "zigbee", ...span(first, last, "first_ms", "heard_ms") };
}

function span(from: number, until: number): { start_ms: number; stop_ms: number };
function span<From extends string, Until extends string>(
  from: number,
  until: number,
  fromName: From,
  untilName: Until,
): Record<From | Until, number>;
function span(from: number, until: number, fromName = "start_ms", untilName = "stop_ms") {
  return { [fromName]: start_ms + from * hour_ms, [untilName]: start_ms + until * hour_ms };
}

function hours(stamp_ms: number): number {
  return (stamp_ms - start_ms) / hour_ms;
}

function inHours({ start_ms: from_ms, stop_ms, reason, lost }: CoverageInterval): unknown[] {
  return [hours(from_ms), hours(stop_ms), ...[reason, lost].filter((told) => told !== undefined)];
}
