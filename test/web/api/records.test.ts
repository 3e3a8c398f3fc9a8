import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fieldsOf, type RecordType } from "../../../src/domain/records/record-table.ts";
import { fill, items, programme } from "../../../testbed/programme.ts";
import { now_ms, type Serving, serve } from "../../../testbed/serving.ts";

let serving: Serving;
beforeAll(async () => {
  serving = await serve();
  await fill(serving.store);
});
afterAll(() => serving[Symbol.asyncDispose]());

type Body = Record<string, unknown>;

const given = (type: RecordType): Body[] =>
  programme().flatMap(({ type: other, record }) => (other === type ? [record] : []));

async function bodyOf<Form = Body[]>(path: string): Promise<Form> {
  const response = await serving.ask(path);
  expect([path, response.status]).toEqual([path, 200]);
  return (await response.json()) as Form;
}

async function refusalOf(path: string): Promise<{ status: number; code: number; message: string }> {
  const response = await serving.ask(path);
  return { status: response.status, ...((await response.json()) as { code: number; message: string }) };
}

describe.each([
  ["subjects", "subjectid"],
  ["homes", "homeid"],
  ["projects", "projectid"],
  ["studies", "studyid"],
  ["issues", "issueid"],
  ["consents", "consentid"],
] as const)("%s", (type, id) => {
  test("are listed as they were imported, fields in order", async () => {
    const listed = await bodyOf(`/${type}/`);
    expect(listed).toEqual(given(type));
    for (const record of listed) expect(Object.keys(record)).toEqual(fieldsOf(type));
  });

  test("are found one by one, by number", async () => {
    for (const record of given(type)) expect(await bodyOf<Body>(`/${type}/${record[id]}`)).toEqual(record);
  });

  test("that do not exist are 404, and values that are no number are 422", async () => {
    for (const unknown of ["99", "-1", "0"])
      expect(await refusalOf(`/${type}/${unknown}`)).toMatchObject({ status: 404, code: 40404 });
    for (const malformed of ["one", "1.5", "0x1", "1e3", "%20", "9".repeat(17)])
      expect(await refusalOf(`/${type}/${malformed}`)).toEqual({
        status: 422,
        code: 42201,
        message: "id must be an integer",
      });
    expect(await refusalOf(`/${type}/%zz`)).toMatchObject({ status: 422 });
  });
});

describe.each([
  ["project_enrollments", "enrollment/projects/"],
  ["study_enrollments", "enrollment/studies/"],
  ["scheduled_contacts", "scheduled/contacts/"],
  ["phones", "phone/"],
  ["subject_inventory", "inventory/"],
  ["contacts", "contacts/"],
  ["comments", "comments/"],
  ["alerts", "alerts/"],
] as const)("a subject's %s", (type, path) => {
  test("are an array, also of one and of none, and each subject has its own", async () => {
    for (const subjectid of [1, 2, 3]) {
      const expected = given(type).filter((record) => record["subjectid"] === subjectid);
      const listed = await bodyOf(`/subjects/${subjectid}/${path}`);
      expect(new Set(listed.map((record) => JSON.stringify(record)))).toEqual(
        new Set(expected.map((record) => JSON.stringify(record))),
      );
      expect(listed).toHaveLength([2, 1, 0][subjectid - 1] ?? 0);
    }
  });

  test("of an unknown subject are 404, and of no number 422", async () => {
    expect(await refusalOf(`/subjects/99/${path}`)).toEqual({
      status: 404,
      code: 40404,
      message: "There is no subject 99",
    });
    expect(await refusalOf(`/subjects/x/${path}`)).toMatchObject({ status: 422, code: 42201 });
  });

  test("have both forms of the path", async () => {
    expect(await bodyOf(`/subjects/1/${path.slice(0, -1)}`)).toEqual(await bodyOf(`/subjects/1/${path}`));
  });
});

describe("a home's inventory", () => {
  const itemNamed = (name: string) => given("items").find(({ itemname }) => itemname === name);

  test("has the recorded stays of items with each item whole, and items that are there without a record", async () => {
    const at_s = Math.floor(now_ms / 1000);
    expect(await bodyOf("/homes/13/inventory/")).toEqual([
      { homeid: 13, item: itemNamed("wall"), start: at_s - 4000, stop: at_s - 2000 },
    ]);
    const stays =
      await bodyOf<{ item: Body; start: number | null; stop: number | null }[]>("/homes/12/inventory");
    expect(stays.map(({ item }) => item["itemname"])).toEqual([
      "wall",
      "box-polled",
      "box-broadcasting",
      "Tür/ü %?",
    ]);
    expect(stays[0]).toMatchObject({ start: at_s - 1000, stop: null });
    for (const { item, start } of stays.slice(1))
      expect(start).toBe(item["currenthomestart"] as number | null);
  });

  test("of an unknown home is 404, and of no number 422", async () => {
    expect(await refusalOf("/homes/99/inventory/")).toMatchObject({
      status: 404,
      message: "There is no home 99",
    });
    expect(await refusalOf("/homes/x/inventory/")).toMatchObject({ status: 422 });
    expect(await refusalOf("/homes/99/wirelesssensors/events")).toMatchObject({ status: 404 });
    expect(await refusalOf("/homes/x/wirelesssensors/events")).toMatchObject({ status: 422 });
  });
});

describe("a home's events", () => {
  type Events = { itemname: string; events: { stamp: number; event: number }[] }[];

  test("are those of each of its wireless sensors, as the sensor's own endpoint has them", async () => {
    for (const query of [
      "",
      "?limit=7",
      "?skip=3&limit=5",
      `?before=${Math.floor(now_ms / 1000) - 4}`,
      `?after=${Math.floor(now_ms / 1000) - 4}`,
      "?precision=ms",
    ]) {
      const home = await bodyOf<Events>(`/homes/12/wirelesssensors/events${query}`);
      expect(home.map(({ itemname }) => itemname)).toEqual(["wall", "Tür/ü %?"]);
      for (const { itemname, events } of home) {
        const own = await bodyOf(`/items/wirelesssensors/${encodeURIComponent(itemname)}/events${query}`);
        expect(own.length).toBeGreaterThan(0);
        expect(events as unknown).toEqual(own);
      }
    }
  });

  test("end with the stay of the item there", async () => {
    // The wall sensor was there until 2,000 s ago; what it has recorded is from the last seconds.
    expect(await bodyOf<Events>("/homes/13/wirelesssensors/events")).toEqual([
      { itemname: "wall", events: [] },
    ]);
    const [, wall] = programme().filter(({ type }) => type === "home_inventory");
    const stop = Math.floor(now_ms / 1000) - 3;
    async function* batches() {
      yield [
        { type: "home_inventory" as const, record: { ...wall?.record, homeid: 13, start: stop - 4, stop } },
      ];
    }
    await serving.store.importRecords(batches(), { dryRun: () => false });
    const own = await bodyOf<{ stamp: number }[]>("/items/wirelesssensors/wall/events");
    const during = own.filter(({ stamp }) => stamp >= stop - 4 && stamp < stop);
    expect(during.length).toBeGreaterThan(3);
    expect(during.length).toBeLessThan(own.length);
    const [, later] = await bodyOf<Events>("/homes/13/wirelesssensors/events");
    expect(later?.events as unknown).toEqual(during);
    const [, skipped] = await bodyOf<Events>("/homes/13/wirelesssensors/events?skip=2&limit=3&precision=ms");
    expect(skipped?.events.map(({ stamp }) => Math.floor(stamp / 1000))).toEqual(
      during.slice(2, 5).map(({ stamp }) => stamp),
    );
  });
});

describe("a home with many stays", () => {
  const record = (itemid: number) => {
    const [first] = given("items");
    const mac = itemid.toString(16).padStart(4, "0");
    return {
      ...first,
      ...{ itemid, itemname: `sensor ${itemid}`, typename: "wirelesssensors", subtypename: "wall" },
      ...{
        macaddress: `00:0d:6f:00:${mac.slice(0, 2)}:${mac.slice(2)}`,
        currenthomeid: 12,
        currenthomestart: null,
      },
    };
  };

  test("bounds what one answer holds, and says how", async () => {
    await using crowded = await serve();
    async function* batches() {
      yield programme();
      yield Array.from({ length: 498 }, (_, index) => ({
        type: "items" as const,
        record: record(1000 + index),
      }));
    }
    await crowded.store.importRecords(batches(), { dryRun: () => false });
    const path = "/homes/12/wirelesssensors/events";
    const refused = await crowded.ask(path);
    expect([refused.status, await refused.json()]).toEqual([
      422,
      { code: 42201, message: "limit must be an integer from 1 to 500, because 500 items are asked at once" },
    ]);
    expect((await crowded.ask(`${path}?limit=501`)).status).toBe(422);
    const answered = await crowded.ask(`${path}?limit=500`);
    expect([answered.status, ((await answered.json()) as unknown[]).length]).toEqual([200, 500]);
  });

  test("gives an item that came back a stay from when it last left, where nothing says more", async () => {
    await using crowded = await serve();
    const stays = [
      [100, 200],
      [300, 400],
    ].map(([start, stop]) => ({ homeid: 12, item: 1000, start, stop }));
    async function* batches() {
      yield programme();
      yield [{ type: "items" as const, record: record(1000) }];
      yield stays.map((stay) => ({ type: "home_inventory" as const, record: stay }));
    }
    await crowded.store.importRecords(batches(), { dryRun: () => false });
    const body = (await (await crowded.ask("/homes/12/inventory/")).json()) as {
      item: { itemid: number };
      start: number | null;
      stop: number | null;
    }[];
    const own = body.filter(({ item }) => item.itemid === 1000).map(({ start, stop }) => [start, stop]);
    expect(own).toEqual([
      [100, 200],
      [300, 400],
      [400, null],
    ]);
  });
});

test("a home's notes come newest first, in windows of after, before, skip and limit that link to each other", async () => {
  const [older, newer] = given("notes") as [Body, Body];
  const path = "/homes/12/notes/";
  expect(await bodyOf(path)).toEqual([newer, older]);
  expect(Object.keys(newer)).toEqual(fieldsOf("notes"));
  expect(await bodyOf(`${path}?before=${newer["start"]}`)).toEqual([older]);
  expect(await bodyOf(`${path}?after=${older["start"]}`)).toEqual([newer]);
  expect(await bodyOf(`${path}?skip=1`)).toEqual([older]);
  const first = await serving.ask(`${path}?limit=1`);
  expect(await first.json()).toEqual([newer]);
  expect(first.headers.get("Link")).toContain("/homes/12/notes/?skip=1&limit=1");
  expect(await bodyOf("/homes/13/notes")).toEqual([]);
  expect(await refusalOf("/homes/99/notes")).toMatchObject({ status: 404, code: 40404 });
});

test("every item of the inventory is found under its type, whatever its name", async () => {
  for (const { typename, itemname, itemid } of items) {
    const record = given("items").find((item) => item["itemid"] === itemid);
    expect(await bodyOf<Body>(`/inventory/${typename}/${encodeURIComponent(itemname)}`)).toEqual(
      record as Body,
    );
    expect(await bodyOf<Body>(`/inventory/${typename}/${itemid}`)).toEqual(record as Body);
  }
});
