import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import { batch_numbers_max } from "../../../src/store/exchange.ts";
import { decodeReadings } from "../../../src/transfer/batch-codec.ts";
import { dayQueryOf } from "../../../src/transfer/protocol.ts";
import { sensor, start_ms } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { dayOf, type SimulatedGateway, wellReport } from "../../../testbed/simulated-gateway.ts";
import { encoded, gatewayOf, headerOf, type Receiving, receive, reportBody } from "./receiving.ts";

/** When central begins, a good while after the readings. */
const now_ms = start_ms + 10 * day_ms;
const type = "application/vnd.lintel.batch";
const day = dayOf(start_ms);

let receiving: Receiving;
let clock: SettableClock;
beforeAll(async () => {
  clock = new SettableClock(now_ms);
  receiving = await receive({ clock, metrics: true, quotas: { readings: 1_000, notes: 10, devices: 5 } });
});
afterAll(() => receiving[Symbol.asyncDispose]());

/** The samples of some metrics, by name. */
async function counted(...names: string[]): Promise<number[]> {
  const headers = { authorization: `bearer ${await receiving.token("read")}` };
  const text = await (await fetch(`${receiving.central.origin}/metrics`, { headers })).text();
  const value = (name: string) => text.split("\n").find((line) => line.startsWith(`${name} `));
  return names.map((name) => Number(value(name)?.split(" ").at(-1)));
}

const said = async (answer: Response) => [answer.status, await answer.json()];
const post = (home: number, path: string, body: object) =>
  receiving.ask(home, "POST", path, { body: JSON.stringify(body) });

/** The day of the sensor of a home, of a gateway's readings up to the last. */
const dayIn = ({ epoch, last_seq }: SimulatedGateway, home: number) =>
  ({
    epoch,
    through_seq: last_seq,
    series: "wirelesssensor_events",
    kind: "wirelesssensors",
    address: sensor(home).address,
    itemid: undefined,
    day,
    after_seq: 0,
  }) as const;
const queryOf = (of: Parameters<typeof dayQueryOf>[0]) => {
  const fields = Object.entries(dayQueryOf(of)).filter(([, value]) => value !== undefined);
  return new URLSearchParams(fields.map(([name, value]) => [name, String(value)])).toString();
};
const putDay = (home: number, query: string, bytes: Uint8Array<ArrayBuffer>) =>
  receiving.ask(home, "PUT", `/days?${query}`, { body: bytes, type });

test("what was taken, repeated and refused is counted, in batches, readings and bytes", async () => {
  const names = [
    "lintel_batches_total",
    "lintel_rows_total",
    "lintel_batch_bytes_total",
    "lintel_batches_repeated_total",
    "lintel_rows_repeated_total",
    'lintel_refusals_total{reason="gap"}',
    'lintel_refusals_total{reason="diverged"}',
  ];
  const before = await counted(...names);
  const gateway = gatewayOf(40, 30);
  const first = gateway.batch(1, 10);
  await receiving.send(40, first);
  await receiving.send(40, first);
  // Half of it is new; without the header its body is looked at.
  const second = gateway.batch(6, 15);
  await receiving.send(40, second, {});
  expect((await receiving.send(40, gateway.batch(20, 30))).status).toBe(409);
  const bytes = encoded(first).length + encoded(second).length;
  const after = await counted(...names);
  expect(after.map((value, place) => value - (before[place] ?? 0))).toEqual([2, 15, bytes, 1, 10, 1, 0]);
});

test("a header that names more numbers than a batch may have is not believed", async () => {
  const gateway = gatewayOf(41, 1);
  gateway.readings.length = 0;
  const lost = (from_seq: number, to_seq: number) => ({
    ...gateway.batch(from_seq, to_seq),
    missing: [[from_seq, to_seq] as const],
  });
  // Two batches of lost numbers fill more than one may have.
  await using free = await receive();
  expect(await (await free.send(41, lost(1, batch_numbers_max))).json()).toMatchObject({
    held_seq: batch_numbers_max,
  });
  expect(
    await (await free.send(41, lost(batch_numbers_max + 1, batch_numbers_max + 9))).json(),
  ).toMatchObject({
    held_seq: batch_numbers_max + 9,
  });
  const named = async (from: number, to: number) => {
    const headers = { "Lintel-Batch": `${gateway.epoch} ${from} ${to}` };
    return (await free.ask(41, "POST", "/batches", { body: "x", type, headers })).status;
  };
  expect([await named(1, batch_numbers_max), await named(9, 9), await named(10, 11)]).toEqual([
    200, 200, 200,
  ]);
  const headers = { "Lintel-Batch": `0${gateway.epoch} 9 9` };
  expect(await said(await free.ask(41, "POST", "/batches", { body: "x", type, headers }))).toMatchObject([
    422,
    { message: expect.stringContaining("it is no batch, or lacks its checksum") },
  ]);
  expect([await named(1, batch_numbers_max + 1), await named(9, 8)]).toEqual([422, 422]);
});

test("the epoch of another home is refused on every route, and nothing is told of what that one has", async () => {
  const gateway = gatewayOf(42, 20);
  await receiving.send(42, gateway.all());
  const [refusals] = await counted('lintel_refusals_total{reason="foreign"}');
  const query = queryOf(dayIn(gateway, 42));
  const { epoch } = gateway;
  const span = { from_ms: day * day_ms, before_ms: (day + 1) * day_ms };
  const headers = { "Lintel-Batch": headerOf(gateway.all()) };
  for (const answer of [
    await receiving.send(43, gateway.all()),
    await receiving.ask(43, "POST", "/batches", { body: encoded(gateway.all()), type, headers }),
    await post(43, "/report", reportBody(gateway)),
    await post(43, "/verify", { epoch, through_seq: 20, ...span, digests: [] }),
    await putDay(43, query, encoded(gateway.day(dayIn(gateway, 42)))),
    await receiving.ask(43, "GET", `/days?${query}`),
  ])
    expect(await said(answer)).toEqual([
      409,
      { code: 40902, message: `The epoch ${epoch} belongs to another home`, reason: "foreign", held_seq: 0 },
    ]);
  expect(await counted('lintel_refusals_total{reason="foreign"}')).toEqual([(refusals ?? 0) + 2]);
});

test("a gateway that says it is in another home than its token is refused on every route", async () => {
  const headers = { "Lintel-Home": "44" };
  for (const path of ["/roster", "/backups", "/history?from=0"])
    expect(await said(await receiving.ask(45, "GET", path, { headers }))).toEqual([
      409,
      {
        code: 40904,
        message: "The token is of home 45, and the gateway is in home 44",
        reason: "home",
        held_seq: 0,
      },
    ]);
  expect((await receiving.ask(44, "GET", "/backups", { headers })).status).toBe(200);
});

describe("a day that is sent again", () => {
  test("adds what was lost, puts right what differs, keeps what central alone has, and is counted", async () => {
    const gateway = gatewayOf(46, 10);
    gateway.lost.add(4);
    await receiving.send(46, gateway.all());
    gateway.lost.clear();
    gateway.lost.add(7);
    gateway.readings[1] = { ...(gateway.readings[1] as (typeof gateway.readings)[0]), fields: [9] };
    const [before = 0] = await counted("lintel_rows_repaired_total");
    const of = dayIn(gateway, 46);
    const answer = await putDay(46, queryOf(of), encoded(gateway.day(of)));
    expect(await said(answer)).toEqual([200, { added: 1, corrected: 1, kept: 1 }]);
    expect(await counted("lintel_rows_repaired_total")).toEqual([before + 2]);
    const held = await receiving.ask(46, "GET", `/days?${queryOf(of)}`);
    expect(held.headers.get("Content-Type")).toBe(type);
    const { wirelesssensor_events } = decodeReadings(await held.bytes()).series;
    expect([...(wirelesssensor_events?.seq ?? [])]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(wirelesssensor_events?.values[0]?.[1]).toBe(9);
  });

  test("is refused where it is of another epoch or day than its query, or of numbers that are not held", async () => {
    const gateway = gatewayOf(47, 10);
    await receiving.send(47, gateway.all());
    const of = dayIn(gateway, 47);
    const sent = encoded(gateway.day(of));
    const other = queryOf({ ...of, epoch: "e".repeat(32) });
    expect(await said(await putDay(47, other, sent))).toMatchObject([
      422,
      { message: expect.stringContaining("of another epoch than the query") },
    ]);
    expect(await said(await putDay(47, queryOf({ ...of, day: day + 1 }), sent))).toMatchObject([
      422,
      { message: expect.stringContaining("readings of another day than the query") },
    ]);
    const more = gatewayOf(47, 12);
    const beyond = dayIn(more, 47);
    expect(await said(await putDay(47, queryOf(beyond), encoded(more.day(beyond))))).toMatchObject([
      409,
      { code: 40901, reason: "gap", held_seq: 10 },
    ]);
  });
});

describe("an allowance", () => {
  test("is spent by what is new alone: what is repeated, repaired or refused costs nothing", async () => {
    const gateway = gatewayOf(48, 5_010);
    expect((await receiving.send(48, gateway.batch(1, 4_900))).status).toBe(200);
    for (let round = 0; round < 3; round += 1) {
      expect((await receiving.send(48, gateway.batch(4_850, 4_900), {})).status).toBe(200);
      expect((await receiving.send(48, gateway.batch(4_902, 4_990))).status).toBe(409);
      const of = { ...dayIn(gateway, 48), through_seq: 4_900, after_seq: 4_300 };
      expect(await said(await putDay(48, queryOf(of), encoded(gateway.day(of))))).toMatchObject([
        200,
        { added: 0 },
      ]);
    }
    expect((await receiving.send(48, gateway.batch(4_901, 5_000))).status).toBe(200);
    const [before = 0] = await counted('lintel_quotas_exceeded_total{quota="readings"}');
    const spent = await receiving.send(48, gateway.batch(5_001, 5_010));
    expect([spent.headers.get("Retry-After"), ...(await said(spent))]).toEqual([
      "864",
      429,
      { code: 42903, message: "Home 48 has sent more readings than 1000 a day: try again in 864 s" },
    ]);
    expect(await counted('lintel_quotas_exceeded_total{quota="readings"}')).toEqual([before + 1]);
  });

  test("is spent by what a day that is sent again adds, and by nothing else of it", async () => {
    const gateway = gatewayOf(56, 5_000);
    for (let seq = 1; seq <= 10; seq += 1) gateway.lost.add(seq);
    // Lost numbers count.
    expect((await receiving.send(56, gateway.batch(1, 4_980))).status).toBe(200);
    gateway.lost.clear();
    const of = { ...dayIn(gateway, 56), through_seq: 20 };
    expect(await said(await putDay(56, queryOf(of), encoded(gateway.day(of))))).toMatchObject([
      200,
      { added: 10 },
    ]);
    expect((await receiving.send(56, gateway.batch(4_981, 4_991))).status).toBe(429);
    expect((await receiving.send(56, gateway.batch(4_981, 4_990))).status).toBe(200);
  });

  test("of devices is a bound that is said with what to do, and counted apart", async () => {
    const gateway = gatewayOf(57, 0);
    for (let number = 1; number <= 6; number += 1)
      gateway.add({
        device: sensor(900 + number),
        series: "wirelesssensor_events",
        stamp_ms: start_ms,
        fields: [1],
      });
    const [before = 0] = await counted('lintel_quotas_exceeded_total{quota="devices"}');
    expect(await said(await receiving.send(57, gateway.all()))).toEqual([
      422,
      {
        code: 42206,
        message: "Home 57 may have at most 5 devices here, and would have more",
        remedy: expect.stringContaining("start central with --quota devices=N"),
      },
    ]);
    const names = ["devices", "epochs", "listeners"].map(
      (quota) => `lintel_quotas_exceeded_total{quota="${quota}"}`,
    );
    expect(await counted(...names)).toEqual([before + 1, 0, 0]);
    // It is no refusal of a batch that cannot follow.
    expect(await counted('lintel_refusals_total{reason="undefined"}')).toEqual([Number.NaN]);
  });

  test("of notes is spent by interruptions, and a report that has none is always answered", async () => {
    const gateway = gatewayOf(49, 1);
    const body = reportBody(gateway) as { condition: object };
    const noting = (after_note: number, count: number) => {
      const outages = Array.from({ length: count }, (_, minute) => ({
        listener: "zigbee",
        start_ms: start_ms + (after_note + minute) * 60_000,
        stop_ms: start_ms + (after_note + minute) * 60_000 + 1,
      }));
      const condition = { ...body.condition, after_note, to_note: after_note + count, outages };
      return post(49, "/report", { ...body, condition });
    };
    expect((await noting(0, 50)).status).toBe(200);
    expect(await said(await noting(50, 1))).toMatchObject([429, { code: 42903 }]);
    expect((await noting(50, 0)).status).toBe(200);
  });
});

test("readings of a time that was erased are not kept, are counted, and said once a home", async () => {
  const gateway = gatewayOf(50, 20);
  await receiving.send(50, gateway.batch(1, 10));
  await receiving.store.erase({ target: { home: 50 }, id: "ab".repeat(16), at_ms: now_ms + 400 * day_ms });
  const [before = 0] = await counted("lintel_rows_erased_total");
  expect(await (await receiving.send(50, gateway.batch(11, 14))).json()).toEqual({ held_seq: 14, taken: 0 });
  expect(await (await receiving.send(50, gateway.batch(15, 20))).json()).toEqual({ held_seq: 20, taken: 0 });
  const of = dayIn(gateway, 50);
  expect(await said(await putDay(50, queryOf(of), encoded(gateway.day(of))))).toEqual([
    200,
    { added: 0, corrected: 0, kept: 0 },
  ]);
  expect(await counted("lintel_rows_erased_total")).toEqual([before + 30]);
  expect(receiving.lines.filter((line) => line.includes("home 50 has sent"))).toEqual([
    expect.stringContaining("home 50 has sent 4 readings of a time that was erased"),
  ]);
});

test("a report tells central's version and time, and lasts: which day it was in the home, and what it holds", async () => {
  const gateway = gatewayOf(51, 10);
  await receiving.send(51, gateway.all());
  const at_ms = clock.now().unix_ms;
  const older = { epoch: "d".repeat(32), first_seq: 1, last_seq: 3 };
  const oldest = { ...older, epoch: "c".repeat(32) };
  const body = reportBody(gateway) as { epochs: object[] };
  // Central's noon is the next day already where clocks are fourteen hours ahead.
  const report = wellReport({ now_ms: at_ms, last_seq: 10, timezone: "Pacific/Kiritimati" });
  const answer = await post(51, "/report", { ...body, epochs: [oldest, older, ...body.epochs], report });
  expect(await answer.json()).toEqual({
    home: 51,
    now_ms: at_ms,
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    epochs: [
      { epoch: oldest.epoch, held_seq: 0, held_note: 0 },
      { epoch: older.epoch, held_seq: 0, held_note: 0 },
      { epoch: gateway.epoch, held_seq: 10, held_note: 0 },
    ],
  });
  expect(await receiving.store.gateways([51])).toMatchObject([
    { epoch: gateway.epoch, held_seq: 10, reported_ms: at_ms, report: { timezone: "Pacific/Kiritimati" } },
  ]);
  const [nights] = await receiving.store.dailyArrivals([51], dayOf(at_ms) - 1);
  expect(nights?.days.map(({ day: of, arrived_ms }) => [of, arrived_ms])).toContainEqual([
    dayOf(at_ms) + 1,
    at_ms,
  ]);
});

describe("the history of a home", () => {
  test("goes on after the position that was handed back, and an unknown one is 422", async () => {
    const gateway = gatewayOf(52, 30);
    await receiving.send(52, gateway.all());
    const first = await receiving.ask(52, "GET", "/history?from=0");
    expect([...(decodeReadings(await first.bytes()).series.wirelesssensor_events?.seq ?? [])]).toHaveLength(
      30,
    );
    const [, seq = "", at = ""] = /^(\d+) (.+)$/.exec(first.headers.get("Lintel-Position") ?? "") ?? [];
    const from = ({ seq, at }: { seq?: string; at?: string }) => {
      const named = [seq && `&seq=${seq}`, at && `&at=${encodeURIComponent(at)}`];
      return receiving.ask(52, "GET", `/history?from=0${named.filter(Boolean).join("")}`);
    };
    expect((await from({ seq, at })).status).toBe(204);
    // One half of a position is none.
    expect((await from({ seq })).status).toBe(200);
    expect((await from({ at })).status).toBe(200);
    expect(await said(await from({ seq, at: "no position" }))).toEqual([
      422,
      expect.objectContaining({ message: expect.stringMatching(/\bat\b.*as the answer before named it/) }),
    ]);
    const later = await receiving.ask(52, "GET", `/history?from=${start_ms + 200_000}`);
    expect([...(decodeReadings(await later.bytes()).series.wirelesssensor_events?.seq ?? [])]).toHaveLength(
      10,
    );
  });

  test("of a home that has sent nothing is empty", async () => {
    expect((await receiving.ask(53, "GET", "/history?from=0")).status).toBe(204);
  });
});

test("the home's records come as JSON with a tag, and a gateway that has them is told so by the tag", async () => {
  const first = await receiving.ask(54, "GET", "/roster");
  const etag = first.headers.get("ETag") ?? "";
  expect([first.status, first.headers.get("Content-Type")]).toEqual([200, "application/json"]);
  expect(await first.json()).toBeObject();
  const again = await receiving.ask(54, "GET", "/roster", { headers: { "If-None-Match": etag } });
  expect([again.status, again.headers.get("ETag")]).toEqual([304, etag]);
  const stale = await receiving.ask(54, "GET", "/roster", { headers: { "If-None-Match": '"other"' } });
  expect(stale.status).toBe(200);
});

test("days that are compared are a month at most, and central keeps how many differ", async () => {
  const gateway = gatewayOf(58, 10);
  await receiving.send(58, gateway.all());
  const verify = (days: number) => {
    const span = { from_ms: day * day_ms, before_ms: (day + days) * day_ms };
    const digests = gateway.digests({ through_seq: 10, ...span }).map((one) => ({ ...one, count: 9 }));
    return post(58, "/verify", { epoch: gateway.epoch, through_seq: 10, ...span, digests });
  };
  expect((await verify(31)).status).toBe(200);
  expect((await receiving.store.dailyArrivals([58], day))[0]?.days).toMatchObject([{ day, differing: 1 }]);
  expect(await said(await verify(32))).toMatchObject([
    422,
    { message: expect.stringContaining("from_ms and before_ms must be 1 to 31 whole days apart, UTC") },
  ]);
});

test("what a request may not have is refused by name: its query, its type, its files", async () => {
  for (const [method, path] of [
    ["PUT", "/days?day=x"],
    ["GET", "/days?day=x"],
    ["GET", "/history?from=x"],
  ] as const) {
    const sent = method === "PUT" ? { body: encoded(gatewayOf(59, 1).all()), type } : {};
    expect([path, ...(await said(await receiving.ask(59, method, path, sent)))]).toMatchObject([
      path,
      422,
      { message: expect.stringMatching(/^(epoch|from) must be /) },
    ]);
  }
  const text = { body: JSON.stringify(reportBody(gatewayOf(59, 1))), type: "text/plain" };
  expect((await receiving.ask(59, "POST", "/report", text)).status).toBe(415);
  const files = { body: JSON.stringify({ files: { "a.json": "%%%" } }) };
  expect(await said(await receiving.ask(59, "PUT", "/backups", files))).toMatchObject([
    422,
    { message: expect.stringContaining("a.json is not base64") },
  ]);
});

test("a report comes compressed where a gateway sends it so", async () => {
  const body = new Uint8Array(Bun.zstdCompressSync(JSON.stringify(reportBody(gatewayOf(60, 1)))));
  const headers = { "content-encoding": "zstd" };
  expect((await receiving.ask(60, "POST", "/report", { body, headers })).status).toBe(200);
});

test("the fleet is for administrators", async () => {
  const fleet = async (token: string) =>
    said(await fetch(`${receiving.url}/fleet`, { headers: { authorization: `bearer ${token}` } }));
  await post(61, "/report", reportBody(gatewayOf(61, 1)));
  const [status, homes] = await fleet(await receiving.token("admin"));
  expect(status).toBe(200);
  expect((homes as { homeid: number }[]).map(({ homeid }) => homeid)).toContain(61);
  expect((await fleet(await receiving.homeToken(61)))[0]).toBe(401);
});
