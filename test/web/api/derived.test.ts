import { afterAll, beforeAll, expect, test } from "bun:test";
import { SystemClock } from "../../../src/base/clock.ts";
import { day_ms } from "../../../src/base/time.ts";
import type { Device } from "../../../src/domain/reading.ts";
import type { Note } from "../../../src/domain/records/programme-records.ts";
import type { GatewayStore } from "../../../src/store/gateway/gateway-store.ts";
import { openCentralStore } from "../../../src/store/sqlite/open-central.ts";
import { openGatewayStore } from "../../../src/store/sqlite/open-store.ts";
import { Answering } from "../../../src/web/api/answering.ts";
import { keptLog, reading, temporaryDirectory } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";
import { events } from "../../store/central-sample.ts";

const box: Device = { kind: "pillboxes", address: "5c:f2:86:00:00:01", subtype: "broadcasting" };
const [june_ms, september_ms, october_ms] = [5, 8, 9].map((month) => Date.UTC(2026, month, 1)) as [
  number,
  number,
  number,
];
const clock = new SettableClock(september_ms + 15 * day_ms + 2 * 3_600_000);
const directory = temporaryDirectory();
const { log } = keptLog("warn");
const contact: Device = { kind: "wirelesssensors", address: "00:0d:6f:00:00:00:00:01", subtype: "curtain" };
const walking = [{ name: "hall", sensors: [{ item: "Front door", metres: 0.5 }] }];
let store: GatewayStore;
let api: Answering;

beforeAll(async () => {
  store = await openGatewayStore({
    directory: directory.path,
    clock: new SystemClock(),
    log,
    home: 12,
    ...writerOfTests(),
  });
  const hours = Array.from({ length: 120 }, (_, at) => june_ms + at * 4 * 3_600_000);
  await store.append([reading(box, "pillbox_events", june_ms + 9 * 3_600_000, { event: 2 })], {
    listening: [{ listener: "ble", from_ms: june_ms, to_ms: october_ms }],
    states: hours.map((heard_ms) => ({ device: box, heard_ms, listener: "ble" })),
  });
  const settingOf = async () => ({ id: 12, timezone: "UTC", walking });
  api = new Answering({ store, clock, settingOf });
});
afterAll(async () => {
  await store.close();
  directory[Symbol.dispose]();
});

async function doses(query: string): Promise<{ day: string; status: string }[]> {
  const answer = await api.get<{ day: string; status: string }[]>("/homes/12/derived/doses", query);
  if (answer === undefined || answer === "gone") throw new Error(`${query}: no answer`);
  return answer.body;
}

test("a month in which nothing was heard of an item has a row for each day, which says unknown", async () => {
  const august = await doses(`?before=${september_ms / 1000}`);
  expect(august.map(({ day }) => day).reverse()).toEqual(
    Array.from({ length: 31 }, (_, at) => `2026-08-${String(at + 1).padStart(2, "0")}`),
  );
  expect(new Set(august.map(({ status }) => status))).toEqual(new Set(["unknown"]));
  // Before its first sign of life there is nothing to tell of.
  expect(await doses(`?before=${june_ms / 1000}`)).toEqual([]);
});

test("what has not come of today may still come: a dose of today is due, and one of yesterday is unknown", async () => {
  const [today, yesterday] = await doses("");
  expect([today, yesterday]).toMatchObject([
    { day: "2026-09-16", status: "due" },
    { day: "2026-09-15", status: "due" },
  ]);
  clock.advance(5 * 3_600_000);
  expect((await doses("")).slice(0, 2)).toMatchObject([
    { day: "2026-09-16", status: "due" },
    { day: "2026-09-15", status: "unknown" },
  ]);
});

test("a record has the kinds of the notes that overlap its day", async () => {
  const at = (day: number, hour: number) => Date.UTC(2026, 7, day, hour) / 1000;
  const note = (noteid: number, kind: Note["kind"], start: number, stop: number | null): Note => ({
    ...{ homeid: 12, noteid, itemid: null, subjectid: null, kind, start, stop },
    ...{ words: null, source: "home", said: null },
  });
  const kept = [
    note(1, "hospital", at(10, 12), at(12, 0)),
    note(2, "visitor", at(11, 8), at(11, 8)),
    note(3, "other", at(31, 1), null),
  ];
  await store.changeNotes(12, { kept, removed: [] });
  const asked = (await doses(`?before=${september_ms / 1000}`)) as { day: string; notes?: string }[];
  const noted = asked.filter(({ notes }) => notes !== "").map(({ day, notes }) => [day, notes]);
  await store.changeNotes(12, { kept: [], removed: [1, 2, 3] });
  expect(noted).toEqual([
    ["2026-08-31", "other"],
    ["2026-08-11", "visitor hospital"],
    ["2026-08-10", "hospital"],
  ]);
});

test("the places of a home have the room, the role and the line of each item, by which measures are made", async () => {
  await store.append([reading(contact, "wirelesssensor_events", october_ms, { event: 1 })]);
  const { address } = contact;
  await store.nameItem({ address, name: "Front door", room: "Corridor", given_ms: october_ms });
  const answer = await api.get<Record<string, unknown>[]>("/homes/12/places", "");
  if (answer === undefined || answer === "gone") throw new Error("no answer");
  const unknown = { room: null, role: null, line: null, order: null, metres: null };
  expect(answer.body).toMatchObject([
    { homeid: 12, typename: "pillboxes", ...unknown },
    { typename: "wirelesssensors", room: "hall", role: "front door", line: "hall", order: 1, metres: 0.5 },
  ]);
  expect(await api.get("/homes/13/places", "")).toBeUndefined();
});

test("central measures a home that uploads before the programme has a record of it, and no other", async () => {
  using place = temporaryDirectory();
  const central = await openCentralStore({ directory: place.path, clock, log });
  const gateway = new SimulatedGateway(7, "one");
  gateway.add(...events(1, 1));
  await central.receive(gateway.all(), gateway.sender);
  const answering = new Answering({ store: central, clock });
  const body = async (path: string) => {
    const answer = await answering.get<unknown[]>(path, "");
    return answer === undefined || answer === "gone" ? answer : answer.body;
  };
  expect(await body("/homes/7/derived/activity")).toBeArray();
  expect(await body("/homes/7/places")).toMatchObject([{ homeid: 7, typename: "wirelesssensors" }]);
  expect(await body("/homes/8/derived/activity")).toBeUndefined();
  await central.close();
});
