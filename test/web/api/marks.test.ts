import { afterAll, beforeAll, expect, test } from "bun:test";
import { fill, items } from "../../../testbed/programme.ts";
import { now_ms, type Serving, serve } from "../../../testbed/serving.ts";
import { event } from "../../export/filled.ts";

let serving: Serving;
beforeAll(async () => {
  serving = await serve();
  await fill(serving.store);
});
afterAll(() => serving[Symbol.asyncDispose]());

interface Marks {
  readonly path: string;
  readonly marks: Readonly<Record<string, string>>;
  readonly readings?: Readonly<Record<string, number>>;
}

async function marks(path: string): Promise<Marks[]> {
  const response = await serving.ask(`/marks/${path}`);
  expect(response.status).toBe(200);
  return response.json();
}

test("marks tell which answers below an item, a subject and a home are others than before", async () => {
  const all = async () => [
    ...(await marks("wirelesssensors")),
    ...(await marks("pillboxes")),
    ...(await marks("subjects")),
    ...(await marks("homes")),
  ];
  const before = await all();
  // Each is of an answer that there is.
  for (const { path, marks } of before)
    for (const name of Object.keys(marks))
      expect([path, name, (await serving.ask(`${path}/${name}`)).status]).toEqual([path, name, 200]);
  const wall = { kind: "wirelesssensors", address: "00:0d:6f:00:0a:03" } as const;
  await serving.store.append([event(wall, now_ms - 7, 5)]);
  const comment = { subjectid: 3, commentid: 9, stamp: 1_700_000_000, username: "u", comment: "c" };
  await serving.store.importRecords([[{ type: "comments", record: comment }]]);
  const after = await all();
  const changed = after.flatMap(({ path, marks }, place) =>
    Object.keys(marks)
      .filter((name) => marks[name] !== before[place]?.marks[name])
      .map((name) => `${path}/${name}`),
  );
  expect(changed).toEqual([
    "/items/wirelesssensors/wall/events",
    "/subjects/3/comments/",
    // At a gateway all readings are those of its home, whatever the number.
    "/homes/12/derived/all",
    "/homes/13/derived/all",
  ]);
});

test("the mark of a home's measures is another one where a device has another place", async () => {
  const derived = async () => (await marks("homes")).map(({ marks }) => marks["derived"]);
  const before = await derived();
  await serving.store.nameItem({ address: "00:0d:6f:00:0a:03", room: "hall", given_ms: now_ms });
  const after = await derived();
  expect(after).toHaveLength(before.length);
  for (const [place, mark] of after.entries()) expect(mark).not.toBe(before[place]);
});

test("a list of marks tells how many records each series has", async () => {
  for (const { path, readings } of await marks("pillboxes")) {
    expect(Object.keys(readings ?? {}).length).toBeGreaterThan(0);
    for (const [name, count] of Object.entries(readings ?? {}))
      expect([path, count]).toEqual([
        path,
        (await (await serving.ask(`${path}/${name}?limit=1000`)).json()).length,
      ]);
  }
});

test("marks come in pages, and of no type that is unknown", async () => {
  const response = await serving.ask("/marks/wirelesssensors?limit=1");
  expect(response.headers.get("Link")).toContain("skip=1");
  expect((await marks("wirelesssensors?skip=1")).map(({ path }) => path)).toEqual([
    `/items/wirelesssensors/${encodeURIComponent(items[3].itemname)}`,
  ]);
  expect(await marks("gateways")).toEqual([{ path: "/items/gateways/gateway", marks: {} }]);
  expect((await serving.ask("/marks/others")).status).toBe(404);
  expect((await serving.ask("/marks/homes?limit=0")).status).toBe(422);
});
