import { expect, test } from "bun:test";
import { clockQuality } from "../../src/base/clock.ts";
import { clockWords } from "../../src/domain/reading.ts";
import type { GatewayStore } from "../../src/store/gateway/gateway-store.ts";
import type { ArrivalPosition, ArrivalsRequest, PlacementPosition, Store } from "../../src/store/store.ts";
import { nightly } from "../../testbed/nightly.ts";
import { below, item, reading, seeded, sensor, sensorEvent, start_ms } from "../../testbed/sample.ts";
import type { MakeStore } from "./make-store.ts";

/** Tests of every store that is asked for readings in order of arrival. */
export function arrivals(make: MakeStore): void {
  test.each(nightly ? [1, 2, 3] : [1])(
    "while readings arrive, late ones too, are each returned once and in the order of their numbers, seed %d",
    async (seed) => {
      await using made = await make();
      const random = seeded(seed);
      const appended: Appended[] = [];
      const add = (count: number) => append(made.store, appended, anyStamps(random, count));
      await add(1 + below(random, 2_500));
      const seen: number[] = [];
      const request = { ...all, limit: 1 + below(random, 90) };
      let position: ArrivalPosition | undefined;
      for (let page = 0; page < 3_000; page += 1) {
        const { records, ...answer } = await arrived(made.store, { ...request, ...from(position) });
        seen.push(...records);
        position = answer.position;
        if (page % 3 === 0 && page < 60) await add(below(random, 40));
        else if (records.length < request.limit) break;
      }
      expect(seen).toEqual(appended.map(({ event }) => event));
      // And whoever comes back later finds what is new.
      await add(200);
      expect((await arrived(made.store, { ...request, limit: 1_000, ...from(position) })).records).toEqual(
        appended.slice(seen.length).map(({ event }) => event),
      );
    },
  );

  test("keep to the span that their walk began with", async () => {
    await using made = await make();
    const random = seeded(7);
    const appended: Appended[] = [];
    await append(made.store, appended, anyStamps(random, 1_500));
    const span = { from_ms: start_ms + 50_000, before_ms: start_ms + 200_000 };
    const seen: number[] = [];
    let position: ArrivalPosition | undefined;
    for (let page = 0; page < 200; page += 1) {
      const answer = await arrived(made.store, { ...all, span, limit: 40, ...from(position) });
      seen.push(...answer.records);
      position = answer.position;
      if (page === 5) await append(made.store, appended, anyStamps(random, 300));
      else if (answer.records.length < 40) break;
    }
    const within = appended.filter(({ stamp_ms }) => stamp_ms >= span.from_ms && stamp_ms < span.before_ms);
    expect(seen).toEqual(within.map(({ event }) => event));
    expect(seen.length).toBeWithin(300, 1_500);
  });

  test("are returned once, also where what made them late lies behind the span", async () => {
    await using made = await make();
    await made.store.append([sensorEvent(sensor(1), start_ms + 200_000, 1)]);
    await made.store.append([sensorEvent(sensor(1), start_ms + 100_000, 2)]);
    const request = { ...all, span: { from_ms: start_ms, before_ms: start_ms + 150_000 } };
    const { records, position } = await arrived(made.store, request);
    expect(records).toEqual([2]);
    expect((await arrived(made.store, { ...request, after: position })).records).toEqual([]);
  });

  test("of an item without readings are none, and a walk that began there finds the first", async () => {
    await using made = await make();
    await made.store.append([], { states: [{ device: sensor(1), heard_ms: start_ms }] });
    expect((await arrived(made.store, all)).records).toEqual([]);
    await made.store.append([sensorEvent(sensor(1), start_ms, 7)]);
    expect((await arrived(made.store, all)).records).toEqual([7]);
  });

  test("have their stamps in the unit that was asked for, and their fields in order", async () => {
    await using made = await make();
    await made.store.append([sensorEvent(sensor(1), start_ms + 1_250, 7)]);
    const stampsIn = async (precision: "s" | "ms") =>
      JSON.stringify((await made.store.arrivals({ ...all, precision }))?.records);
    expect(await stampsIn("ms")).toBe(`[{"stamp":${start_ms + 1_250},"event":7}]`);
    expect(await stampsIn("s")).toBe(`[{"stamp":${start_ms / 1000 + 1},"event":7}]`);
  });

  test("tell where they were recorded and how their time was made, as reading from old to new does", async () => {
    await using made = await make({ home: 12 });
    const qualities = Object.values(clockQuality);
    const readings = qualities.map((clock, at) => ({
      ...sensorEvent(sensor(1), start_ms + at * 1_000, at),
      clock,
    }));
    await made.store.append(readings);
    const records = (await made.store.arrivals({ ...all, provenance: true }))?.records;
    const told = Object.keys(clockWords).map((word, at) => [at, 12, word]);
    expect(records?.map(({ event, homeid, clock }) => [event, homeid, clock])).toEqual(told);
    const { span, ...of } = all;
    const { rows } = await made.store.oldestFirst({ ...of, ...span, provenance: true });
    expect(rows.map(([, ...values]) => values)).toEqual(told);
    // What a device's own clock said is kept behind that, and not served.
    const box = { kind: "pillboxes", address: "00:0d:6f:00:07:00" } as const;
    const event = reading(box, "pillbox_events", start_ms, { event: 3 });
    const deviceClock = { stamp_ms: start_ms + 17, offset_ms: -17 };
    await made.store.append([{ ...event, clock: clockQuality.device, deviceClock }]);
    const [known] = await made.store.items("pillboxes", { skip: 0, limit: 1 });
    const { key = 0 } = (await made.store.item("pillboxes", known?.itemname ?? "")) ?? {};
    const ofBox = { ...all, series: "pillbox_events", item: key, provenance: true } as const;
    expect((await made.store.arrivals(ofBox))?.records).toEqual([
      { stamp: start_ms, event: 3, homeid: 12, clock: "device" },
    ]);
  });

  test("do not go on from a position of another store, or one that the store has not come to", async () => {
    await using made = await make();
    await made.store.append([sensorEvent(sensor(1), start_ms, 1)]);
    const { position } = await arrived(made.store, all);
    const answerFrom = (after: ArrivalPosition) => made.store.arrivals({ ...all, after });
    expect(await answerFrom(position)).toEqual({ records: [], position });
    expect(await answerFrom({ ...position, epoch: "f".repeat(32) })).toBeUndefined();
    const [stay] = position.stays as [PlacementPosition];
    const other = (change: Partial<PlacementPosition>) => ({ ...position, stays: [{ ...stay, ...change }] });
    expect(await answerFrom(other({ seq: stay.seq + 1 }))).toBeUndefined();
    expect(await answerFrom(other({ revision: stay.revision + 1 }))).toBeUndefined();
    expect(await answerFrom(other({ before_ms: stay.before_ms - 1 }))).toBeUndefined();
  });

  test("begin again where the readings of another item were joined with them", async () => {
    await using made = await make();
    const { store } = made;
    await store.importRecords([[{ type: "items", record: item(1) }]]);
    const random = seeded(9);
    const stamps = anyStamps(random, 900);
    const readings = stamps.map((stamp_ms, event) => sensorEvent(sensor(1 + (event % 2)), stamp_ms, event));
    await store.append(readings);
    const before = await arrived(store, { ...all, limit: 1_000 });
    expect(before.records).toHaveLength(450);
    await store.importRecords([[{ type: "items", record: item(1, { macaddress: sensor(2).address }) }]]);
    expect(await store.arrivals({ ...all, after: before.position })).toBeUndefined();
    const again = await arrived(store, { ...all, limit: 1_000 });
    expect(again.records).toEqual(stamps.map((_, event) => event));
    await store.append([sensorEvent(sensor(2), start_ms, 5_000)]);
    expect((await arrived(store, { ...all, after: again.position })).records).toEqual([5_000]);
  });
}

const all = {
  series: "wirelesssensor_events",
  item: 1,
  span: { from_ms: 0, before_ms: Number.MAX_SAFE_INTEGER },
  limit: 100,
  precision: "ms",
} as const;

/** A reading of sensor 1. */
interface Appended {
  readonly event: number;
  readonly stamp_ms: number;
}

/** Appends readings of sensor 1 and, between them, of another; those of sensor 1 are added to `appended`. */
async function append(
  store: GatewayStore,
  appended: Appended[],
  stamps_ms: readonly number[],
): Promise<void> {
  const readings = stamps_ms.flatMap((stamp_ms) => {
    const event = appended.push({ event: appended.length, stamp_ms }) - 1;
    const own = sensorEvent(sensor(1), stamp_ms, event);
    return event % 5 === 0 ? [own, sensorEvent(sensor(2), stamp_ms, event)] : [own];
  });
  await store.append(readings);
}

/** Mostly in order of time, some late, some of one millisecond. */
function anyStamps(random: () => number, count: number): number[] {
  let stamp_ms = start_ms + below(random, 300_000);
  return Array.from({ length: count }, () => {
    const draw = random();
    if (draw < 0.03) stamp_ms = start_ms + below(random, 400_000);
    else if (draw < 0.1) return stamp_ms - below(random, 5_000);
    else if (draw > 0.4) stamp_ms += below(random, 240);
    return stamp_ms;
  });
}

function from(position: ArrivalPosition | undefined): { after?: ArrivalPosition } {
  return position === undefined ? {} : { after: position };
}

/** The events of a page of arrivals, and its position. */
async function arrived(
  store: Store,
  request: ArrivalsRequest,
): Promise<{ records: number[]; position: ArrivalPosition }> {
  const answer = await store.arrivals(request);
  if (answer === undefined) throw new Error("the position does not hold");
  return { records: answer.records.map(({ event }) => event as number), position: answer.position };
}
