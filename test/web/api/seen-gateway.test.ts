import { describe, expect, test } from "bun:test";
import { type Binding, mintToken } from "../../../src/domain/token.ts";
import type { Store } from "../../../src/store/store.ts";
import { sensor, sensorEvent } from "../../../testbed/sample.ts";
import { now_ms, type Serving, serve } from "../../../testbed/serving.ts";
import { everything, recordOf } from "../../domain/records/marked-home.ts";

/** The records that the gateway of home 12 has, and three events; somebody has moved in from home 15, where they were in project 3. */
async function fill({ store }: Serving): Promise<void> {
  const { clashes } = await store.importRecords([
    [
      ...everything(12),
      recordOf("homes", 15, { homeid: 15 }),
      recordOf("projects", 3, { projectid: 3 }),
      recordOf("project_enrollments", 15, { subjectid: 12, projectid: 3, homeid: 15, start: 5 }),
    ],
  ]);
  expect(clashes).toEqual([]);
  await store.append([3, 2, 1].map((back) => sensorEvent(sensor(12), now_ms - back * 1000, back)));
  await store.append([sensorEvent(sensor(13), now_ms - 5000, 4)]);
}

async function tokenOf(store: Store, { clock }: Serving, bound: Partial<Binding>): Promise<string> {
  const binding = { homes: [], projects: [], studies: [], ...bound };
  const { token, text } = mintToken({ name: "reader", scope: "read", binding, clock });
  await store.addToken(token);
  return text;
}

/** Addresses of all that the gateway has. */
const lists = ["/inventory/wirelesssensors", "/subjects/", "/homes/", "/projects/", "/studies/", "/issues/"];
const single = [
  "/items/wirelesssensors/item-12%20of%20home%2012/events",
  "/items/wirelesssensors/12/coverage",
  "/inventory/wirelesssensors/12",
  "/homes/12/wirelesssensors/events",
  "/homes/12/inventory/",
  "/subjects/12/alerts/",
  "/projects/12",
];

async function seenWith(serving: Serving, token: string) {
  const answers = [...lists, ...single].map(async (path) => {
    const headers = { Authorization: `bearer ${token}`, Accept: "application/json" };
    const response = await serving.ask(path, { headers });
    const body: unknown = await response.json();
    return [path, response.status, response.status === 200 ? body : null] as const;
  });
  return Promise.all(answers);
}

/** Nothing in any list, and nothing at any other address. */
const nothing = [
  ...lists.map((path) => [path, 200, []] as const),
  ...single.map((path) => [path, 404, null] as const),
];

describe("at the gateway of a home", () => {
  test("a token of the home reads all that is the home's", async () => {
    await using serving = await serve({ home: 12 });
    await fill(serving);
    const whole = await seenWith(serving, serving.tokens.read);
    const seen = await seenWith(serving, await tokenOf(serving.store, serving, { homes: [12, 13] }));
    const of15 = (record: object) => JSON.stringify(record).includes("of home 15");
    const of3 = (record: object) => JSON.stringify(record).includes("of home 3");
    expect(seen).toEqual(
      whole.map(([path, status, body]) => [
        path,
        status,
        Array.isArray(body) ? body.filter((record) => !of15(record) && !of3(record)) : body,
      ]),
    );
    expect(seen.map(([path, , body]) => [path, (body as unknown[]).length])).toContainEqual([
      "/inventory/wirelesssensors",
      2,
    ]);
  });

  test("a token of another home, or of a project there, sees nothing", async () => {
    await using serving = await serve({ home: 12 });
    await fill(serving);
    // The pages that an unbound token has just been sent are remembered.
    await seenWith(serving, serving.tokens.read);
    const elsewhere = await tokenOf(serving.store, serving, { homes: [15] });
    expect(await seenWith(serving, elsewhere)).toEqual(nothing);
  });

  test("a token of a project sees who is in it, and no home where that was elsewhere", async () => {
    await using serving = await serve({ home: 12 });
    await fill(serving);
    const answers = await seenWith(serving, await tokenOf(serving.store, serving, { projects: [3] }));
    const found = new Map(answers.map(([path, status, body]) => [path, status === 200 ? body : status]));
    expect(found.get("/subjects/")).toMatchObject([{ subjectid: 12 }]);
    expect(found.get("/projects/")).toMatchObject([{ projectid: 3 }]);
    expect(found.get("/homes/")).toEqual([]);
    expect(found.get("/inventory/wirelesssensors")).toEqual([]);
    expect(found.get("/items/wirelesssensors/12/coverage")).toBe(404);
  });

  test("without a number no bound token sees anything", async () => {
    await using serving = await serve();
    await fill(serving);
    expect(await seenWith(serving, await tokenOf(serving.store, serving, { homes: [12] }))).toEqual(nothing);
  });
});
