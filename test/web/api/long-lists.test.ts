import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Serving, serve } from "../../../testbed/serving.ts";

let serving: Serving;
const issues = Array.from({ length: 2_500 }, (_, index) => ({
  ...{
    issueid: index + 1,
    homeid: null,
    subjectid: null,
    itemid: null,
    typename: 'é,"]',
    statusname: "open",
  },
  ...{ opened: 1_800_000_000 + index, closed: null, summary: `issue ${index + 1}` },
}));
beforeAll(async () => {
  serving = await serve();
  await serving.store.importRecords([issues.map((record) => ({ type: "issues" as const, record }))]);
});
afterAll(() => serving[Symbol.asyncDispose]());

function asking(coding: string): Promise<Response> {
  const authorization = `bearer ${serving.tokens.read}`;
  const headers = { authorization, accept: "application/json", "accept-encoding": coding };
  return serving.ask("/issues/", { headers });
}

test("a list of thousands of records is sent in pieces, which together are the list", async () => {
  const response = await asking("identity");
  expect(response.headers.get("content-length")).toBeNull();
  expect(response.headers.get("content-type")).toBe("application/json");
  const text = await response.text();
  expect(text).toBe(JSON.stringify(issues));
});

test.each(["gzip", "zstd"])("whoever takes %s gets it so", async (coding) => {
  const response = await asking(coding);
  expect(response.headers.get("content-encoding")).toBe(coding);
  expect(await response.json()).toEqual(issues);
});

test("HEAD of it has no body", async () => {
  const response = await serving.ask("/issues/", { method: "HEAD" });
  expect([response.status, await response.text()]).toEqual([200, ""]);
});
