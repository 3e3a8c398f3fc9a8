import { expect, test } from "bun:test";
import { day_ms, hour_ms } from "../../src/base/time.ts";
import type { CentralStore, DailyArrivals } from "../../src/store/central/central-store.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { events, type MakeCentral } from "./central-sample.ts";

/** Tests of what central keeps of nights, for every store of central. */
export function nightsAgree(make: MakeCentral): void {
  test("have arrived when all that the gateway had numbered is held, and not before", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 10));
    const say = (last_seq: number, hours: number) => told(store, gateway, { last_seq, hours });
    const send = (from: number, to: number, hours: number) =>
      store.receive(gateway.batch(from, to), { home: 12, at_ms: hours * hour_ms });
    // The first upload begins, sends all, and ends when there is more again.
    await say(5, 26);
    expect(await of12(store)).toEqual({ home: 12, first_day: undefined, days: [] });
    await send(1, 5, 26.5);
    await say(6, 27);
    expect(await of12(store)).toMatchObject({ first_day: 1, days: [{ day: 1, arrived_ms: 26.5 * hour_ms }] });
    // The second is cut off half way, and the third brings all.
    await say(8, 50);
    await send(6, 7, 50.5);
    await say(9, 74);
    await send(8, 9, 75);
    await say(9, 76);
    await say(9, 77);
    expect((await of12(store)).days).toEqual([
      { day: 1, arrived_ms: 26.5 * hour_ms, differing: 0 },
      { day: 3, arrived_ms: 75 * hour_ms, differing: 0 },
    ]);
    // Nothing was recorded on the fourth day: that arrives too.
    await say(9, 100);
    expect((await of12(store, 4)).days).toEqual([{ day: 4, arrived_ms: 100 * hour_ms, differing: 0 }]);
    expect(await of12(store, 5)).toEqual({ home: 12, first_day: 1, days: [] });
  });

  test("that were brought by an upload whose last word was lost have arrived with its last batch", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 9));
    await told(store, gateway, { last_seq: 5, hours: 26 });
    await store.receive(gateway.batch(1, 5), { home: 12, at_ms: 27 * hour_ms });
    await told(store, gateway, { last_seq: 9, hours: 50 });
    expect((await of12(store)).days).toEqual([{ day: 1, arrived_ms: 27 * hour_ms, differing: 0 }]);
  });

  test("differ until a comparison finds them equal, and are each home's own", async () => {
    await using made = await make();
    const { store } = made;
    const at_ms = 100 * day_ms;
    const compared = (home: number, ...days: [number, number][]) =>
      store.noteCompared(new Map(days), { home, at_ms });
    await compared(12, [97, 0], [98, 2], [99, 1], [5_000, 3], [-400, 3]);
    await compared(13, [98, 1]);
    await compared(12, [98, 0]);
    expect((await of12(store)).days).toEqual([
      { day: 98, differing: 0 },
      { day: 99, differing: 1 },
    ]);
    expect((await store.dailyArrivals([13], 0))[0]?.days).toEqual([{ day: 98, differing: 1 }]);
    await told(store, new SimulatedGateway(12, "one"), { last_seq: 0, hours: 99 * 24 });
    expect((await of12(store, 99)).days).toEqual([{ day: 99, arrived_ms: 99 * day_ms, differing: 1 }]);
    await store.erase({ target: { home: 12 }, id: "0123456789abcdef".repeat(2), at_ms });
    expect((await of12(store)).days).toEqual([]);
    expect((await store.dailyArrivals([13, 12], 0)).map(({ home, days }) => [home, days.length])).toEqual([
      [13, 1],
      [12, 0],
    ]);
  });
}

/** A gateway reports its newest number, so many hours after 1970, in a home whose calendar is UTC. */
function told(
  store: CentralStore,
  gateway: SimulatedGateway,
  { last_seq, hours }: { last_seq: number; hours: number },
): Promise<void> {
  const as_of = { last_seq, day: Math.floor(hours / 24) };
  return store.noteReport({ ...gateway.report(), as_of }, { home: gateway.home, at_ms: hours * hour_ms });
}

async function of12(store: CentralStore, from_day = 0): Promise<DailyArrivals> {
  return (await store.dailyArrivals([12], from_day))[0] as DailyArrivals;
}
