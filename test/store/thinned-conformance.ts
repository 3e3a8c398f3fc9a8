import { expect, test } from "bun:test";
import { day_ms } from "../../src/base/time.ts";
import type { Reading } from "../../src/domain/reading.ts";
import { type SeriesName, seriesNames, seriesOf, type Value } from "../../src/domain/series.ts";
import {
  type Downsampled,
  type DownsampledRequest,
  type ReadingPosition,
  type ReadingRow,
  type Store,
  steps_max,
} from "../../src/store/store.ts";
import { below, item, seeded, sensor, sensorEvent, start_ms } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { type MakeCentral, stay, take } from "./central-sample.ts";
import { anyReadings } from "./differential.ts";
import type { MakeStore } from "./make-store.ts";

/** Tests of series in steps, for every store. */
export function thinned(make: MakeStore): void {
  test("are what going through all readings tells, of any field and span, in any steps", async () => {
    await using made = await make();
    const { store } = made;
    const random = seeded(31);
    const device = (series: SeriesName, number: number) => ({
      ...sensor(number),
      kind: seriesOf(series).kind,
    });
    for (let round = 0; round < 3; round += 1)
      await store.append(anyReadings(random, 700, { device, until_ms: start_ms }));
    const { items } = await store.overview();
    for (let ask = 0; ask < 80; ask += 1) {
      const series = seriesNames[below(random, seriesNames.length)] as SeriesName;
      const names = items.filter(({ record }) => record.typename === seriesOf(series).kind);
      const name = names[below(random, names.length)]?.record.itemname ?? "";
      const { key = 0 } = (await store.item(seriesOf(series).kind, name)) ?? {};
      const span = anySpan(random, start_ms - 41 * day_ms, start_ms + day_ms);
      const rows = await rowsOf(store, { series, item: key, ...span });
      await agrees(store, { series, item: key, ...span, ...anyField(random, series, rows) });
    }
  });

  test("of many readings of a millisecond have each once, whatever arrives meanwhile", async () => {
    await using made = await make();
    const { store } = made;
    const at = (count: number, after_ms: number) =>
      Array.from({ length: count }, (_, index) => event(after_ms + Math.floor(index / 3_000), index % 4));
    await store.append(at(24_000, 10));
    const request = { ...events, from_ms: start_ms, before_ms: start_ms + 200, step_ms: 3 };
    await agrees(store, request);
    const before = await store.downsampled(request);
    const asked = store.downsampled(request);
    await store.append(at(900, 0).concat(at(900, 30), at(900, 150)));
    const meanwhile = await asked;
    const after = await store.downsampled(request);
    for (const [step, count] of meanwhile.count.entries()) {
      expect(count).toBeGreaterThanOrEqual(before.count[step] as number);
      expect(count).toBeLessThanOrEqual(after.count[step] as number);
    }
    expect(after.count.reduce((sum, count) => sum + count, 0)).toBe(26_700);
    await agrees(store, request);
  });

  test("tell motion from batteries, and how a door stands after it was opened and closed", async () => {
    await using made = await make();
    const { store } = made;
    // Battery (8) and tamper (4) bits in the first step, then a door that is opened and closed, nothing, and one that is opened.
    await store.append([event(1, 8), event(2, 12), event(10, 9), event(15, 8), event(30, 1), event(39, 5)]);
    const request = { ...events, from_ms: start_ms, before_ms: start_ms + 45, step_ms: 10, mask: 0b01 };
    expect(asLists(await store.downsampled(request))).toEqual({
      count: [2, 2, 0, 2, 0],
      nonzero: [0, 1, 0, 2, 0],
      least: [0, 0, Number.NaN, 1, Number.NaN],
      greatest: [0, 1, Number.NaN, 1, Number.NaN],
      sum: [0, 1, Number.NaN, 2, Number.NaN],
      last: [0, 0, Number.NaN, 1, Number.NaN],
    });
    expect(asLists(await store.downsampled({ ...request, mask: 0b1100 })).nonzero).toEqual([2, 2, 0, 1, 0]);
  });

  test("are refused where there is no such field, or there are too many steps", async () => {
    await using made = await make();
    const { store } = made;
    const request = { ...events, from_ms: 0, before_ms: steps_max, step_ms: 1 };
    expect((await store.downsampled(request)).count).toHaveLength(steps_max);
    expect((await store.downsampled({ ...request, before_ms: 0 })).count).toHaveLength(0);
    const scale = { ...request, series: "scale_weights", field: "weight" } as const;
    const refused: DownsampledRequest[] = [
      { ...request, before_ms: steps_max + 1 },
      { ...request, before_ms: Number.MAX_SAFE_INTEGER, step_ms: 1.5 },
      { ...request, step_ms: 0 },
      { ...request, step_ms: Number.NaN },
      { ...request, field: "weight" },
      { ...request, field: "clock" },
      { ...request, series: "pillbox_status", field: "powersource" },
      { ...request, series: "watch_epochs", field: "distance", mask: 1 },
      { ...request, mask: 0 },
      { ...request, mask: 2 ** 31 },
      { ...scale, only: { field: "colour", value: "red" } },
    ];
    for (const one of refused) expect(await faultOf(store.downsampled(one))).toBeInstanceOf(RangeError);
  });
}

/** Tests of series in steps of items that have moved, for every store of central. */
export function thinnedOfHomes(make: MakeCentral): void {
  test("of an item that has moved are of each of its stays in the homes that are asked for, sealed or not", async () => {
    await using made = await make();
    const { store } = made;
    const random = seeded(32);
    const start_s = start_ms / 1000;
    await take(store, item(1));
    await stay(
      store,
      { homeid: 1, item: 1, start: null, stop: start_s + 20 * 86_400 },
      { homeid: 2, item: 1, start: start_s + 20 * 86_400, stop: start_s + 50 * 86_400 },
      { homeid: 1, item: 1, start: start_s + 60 * 86_400, stop: null },
    );
    const gateways = [1, 2].map((home) => new SimulatedGateway(home, `home ${home}`));
    for (let round = 0; round < 4; round += 1) {
      for (const gateway of gateways) {
        const from_seq = gateway.last_seq + 1;
        for (let count = 0; count < 1_500; count += 1) {
          const stamp_ms = start_ms + below(random, 90) * day_ms + below(random, 40) * 100_000;
          gateway.add({ device: sensor(1), series: events.series, stamp_ms, fields: [below(random, 16)] });
        }
        await store.receive(gateway.batch(from_seq, gateway.last_seq), gateway.sender);
      }
      for (let ask = 0; ask < 12; ask += 1) {
        const homes = [[1], [2], [1, 2], [3], []][below(random, 6)];
        const span = anySpan(random, start_ms - 2 * day_ms, start_ms + 95 * day_ms);
        const mask = random() < 0.5 ? {} : { mask: 1 + below(random, 15) };
        await agrees(store, {
          ...events,
          item: 1,
          ...span,
          ...mask,
          ...(homes === undefined ? {} : { homes }),
        });
      }
    }
  });
}

const events = { series: "wirelesssensor_events", item: 1, field: "event" } as const;

function event(after_ms: number, value: number): Reading {
  return sensorEvent(sensor(1), start_ms + after_ms, value);
}

/** A span within another and steps for it, hundreds at most. */
function anySpan(random: () => number, from_ms: number, before_ms: number) {
  const ends = [0, 1]
    .map(() => from_ms + below(random, before_ms - from_ms))
    .sort((one, other) => one - other);
  const [first = 0, last = 0] = random() < 0.2 ? [from_ms, before_ms] : ends;
  return {
    from_ms: first,
    before_ms: last,
    step_ms: Math.ceil((last - first + 1) / (1 + below(random, 400))),
  };
}

/** A field of numbers, some of its bits, or only readings with what one of them has in another field. */
function anyField(
  random: () => number,
  series: SeriesName,
  rows: readonly ReadingRow[],
): Pick<DownsampledRequest, "field" | "mask" | "only"> {
  const fields = Object.entries(seriesOf(series).fields);
  const numbers = fields.filter(([, { sql }]) => sql !== "TEXT");
  const [field = "", { sql = "TEXT" } = {}] = numbers[below(random, numbers.length)] ?? [];
  const mask = sql === "INTEGER" && random() < 0.4 ? { mask: 1 + below(random, 1_000) } : {};
  const place = below(random, fields.length);
  const value = rows[below(random, rows.length)]?.[place + 1] ?? null;
  if (value === null || random() < 0.6) return { field, ...mask };
  return { field, ...mask, only: { field: fields[place]?.[0] ?? "", value } };
}

/** Has a store answer what going through all readings tells; sums may differ in how they were rounded. */
async function agrees(store: Store, request: DownsampledRequest): Promise<void> {
  const { sum, ...rest } = asLists(await store.downsampled(request));
  const { sum: expected, ...others } = await plain(store, request);
  expect({ request, ...rest }).toEqual({ request, ...others });
  const close = sum.filter((one, step) => {
    const other = expected[step] as number;
    return Object.is(one, other) || Math.abs(one - other) <= Math.abs(other) * 1e-12;
  });
  expect({ request, sums: close.length }).toEqual({ request, sums: expected.length });
}

type Lists = Record<keyof Downsampled, number[]>;

function asLists({ count, nonzero, least, greatest, sum, last }: Downsampled): Lists {
  return {
    count: [...count],
    nonzero: [...nonzero],
    least: [...least],
    greatest: [...greatest],
    sum: [...sum],
    last: [...last],
  };
}

/** The slow and obvious answer. */
async function plain(store: Store, request: DownsampledRequest): Promise<Lists> {
  const { series, from_ms, before_ms, step_ms, field, mask, only } = request;
  const names = Object.keys(seriesOf(series).fields);
  const fieldOf = (row: ReadingRow, name: string): Value => row[names.indexOf(name) + 1] ?? null;
  const rows = (await rowsOf(store, request)).filter(
    (row) => only === undefined || fieldOf(row, only.field) === only.value,
  );
  const steps = Array.from({ length: Math.ceil((before_ms - from_ms) / step_ms) }, (_, step) => {
    const [start_ms, end_ms] = [from_ms + step * step_ms, from_ms + (step + 1) * step_ms];
    const within = rows.filter(([stamp_ms]) => stamp_ms >= start_ms && stamp_ms < end_ms);
    const values = within.flatMap((row) => {
      const value = fieldOf(row, field);
      if (value === null) return [];
      return [mask === undefined ? Number(value) : Number(BigInt(value) & BigInt(mask))];
    });
    const some = (value: number) => (values.length === 0 ? Number.NaN : value);
    return {
      count: within.length,
      nonzero: values.filter((value) => value !== 0).length,
      least: some(Math.min(...values)),
      greatest: some(Math.max(...values)),
      sum: some(values.reduce((sum, value) => sum + value, 0)),
      last: some(values.at(-1) ?? 0),
    };
  });
  const list = (name: keyof Downsampled) => steps.map((step) => step[name]);
  return {
    count: list("count"),
    nonzero: list("nonzero"),
    least: list("least"),
    greatest: list("greatest"),
    sum: list("sum"),
    last: list("last"),
  };
}

/** All readings of a span. */
async function rowsOf(
  store: Store,
  request: Pick<DownsampledRequest, "series" | "item" | "homes" | "from_ms" | "before_ms">,
): Promise<ReadingRow[]> {
  const { series, item, homes, from_ms, before_ms } = request;
  const span = { series, item, from_ms, before_ms, ...(homes === undefined ? {} : { homes }) };
  const rows: ReadingRow[] = [];
  let after: ReadingPosition | undefined;
  for (;;) {
    const given = after === undefined ? {} : { after };
    const part = await store.oldestFirst({ ...span, ...given, limit: 5_000 });
    rows.push(...part.rows);
    if (part.next === undefined) return rows;
    after = part.next;
  }
}

async function faultOf(asked: Promise<unknown>): Promise<unknown> {
  return asked.then(
    () => undefined,
    (fault: unknown) => fault,
  );
}
