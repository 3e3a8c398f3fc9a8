import { afterAll, beforeAll, expect, test } from "bun:test";
import { Answering } from "../../../src/web/api/answering.ts";
import { fill } from "../../../testbed/programme.ts";
import { type Serving, serve } from "../../../testbed/serving.ts";

let serving: Serving;
let own: Answering;
beforeAll(async () => {
  serving = await serve();
  await fill(serving.store);
  own = new Answering(serving);
});
afterAll(() => serving[Symbol.asyncDispose]());

test("a program that holds the store is answered as one that asks over HTTP, page by page", async () => {
  for (const [path, first] of [
    ["/items", ""],
    ["/inventory/wirelesssensors", "?limit=1"],
    ["/items/wirelesssensors/wall/events", "?limit=25"],
    [`/items/wirelesssensors/${encodeURIComponent("Tür/ü %?")}/events`, "?since=&limit=25&provenance=yes"],
    ["/items/wirelesssensors/wall/coverage", ""],
    ["/items/scales/scale/device", ""],
    ["/homes/", ""],
    ["/homes", ""],
    ["/subjects/1/phone/", ""],
  ] as const)
    for (let query: string | undefined = first, pages = 0; query !== undefined && pages < 9; pages += 1) {
      const response = await serving.ask(`${path}${query}`);
      const answer: Awaited<ReturnType<typeof own.get>> = await own.get(path, query);
      if (answer === undefined || answer === "gone") throw new Error(`${path}${query} is ${answer}`);
      expect([path, answer.body]).toEqual([path, await response.json()]);
      const link = /<([^>]*)>/.exec(response.headers.get("Link") ?? "")?.[1];
      expect(answer.next).toBe(link && new URL(link).search);
      query = answer.next;
    }
});

test("what is not there is not there for it either, and what is wrong is refused", async () => {
  expect(await own.get("/nothing", "")).toBeUndefined();
  expect(await own.get("/inventory/wirelesssensors/nobody", "")).toBeUndefined();
  const [{ next = "" } = {}] = [await own.get("/items/wirelesssensors/wall/events", "?since=")] as {
    next?: string;
  }[];
  expect(await own.get("/items/scales/scale/heart", next)).toBe("gone");
  await expect(own.get("/items/wirelesssensors/wall/events", "?limt=5")).rejects.toThrow(
    "did you mean limit",
  );
});
