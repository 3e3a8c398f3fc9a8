import { expect, test } from "bun:test";
import { fill } from "../../../testbed/programme.ts";
import { now_ms, serveHomes } from "./homes-central.ts";
import { servePages } from "./pages-server.ts";

const id = "ab".repeat(16);
const wordsOf = async (page: Response) =>
  (await page.text())
    .replace(/<script.*?<\/script>/gs, "")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ");

test("a gateway says that its home was erased, and blames no device for it", async () => {
  await using server = await servePages();
  await fill(server.store);
  const read = async (path: string) => wordsOf(await server.page(path, server.tokens.read));
  expect(await read("/recorded")).not.toContain("was erased.");
  const at_ms = server.clock.now().unix_ms;
  expect(await server.store.erase({ target: { home: 12 }, id, at_ms })).toBeDefined();
  const words = "Everything that was recorded before 13:00 was erased.";
  expect(await read("/recorded")).toContain(words);
  expect(await read("/day")).toContain(words);
  const home = await read("/");
  expect(home).toContain(words);
  expect(home).toContain("have not been heard since, which may take four hours.");
  expect(home).not.toContain("never been heard");
});

test("central says of a home that it was erased, on each of its pages, and to nobody who does not see it", async () => {
  await using served = await serveHomes();
  const { store } = served.central;
  await store.erase({ target: { home: 4 }, id, at_ms: now_ms });
  const token = await served.mint("read");
  const bound = (home: number) => served.mint("read", { homes: [home], projects: [], studies: [] });
  const pages = ["", "/day", "/recorded", "/mesh", "/acceptance", "/burn-in"].map(
    (path) => `/homes/4${path}`,
  );
  const foreign = await bound(3);
  for (const path of pages) {
    expect([path, (await served.page(path, token)).status]).toEqual([path, 200]);
    expect([path, (await served.page(path, foreign)).status]).toEqual([path, 404]);
  }
  // Its zone went with its record.
  const words = "Everything that was recorded before 22:00 was erased.";
  for (const path of ["/homes/4", "/homes/4/day", "/homes/4/recorded"])
    for (const one of [token, await bound(4)])
      expect(await wordsOf(await served.page(path, one))).toContain(words);
  expect(await wordsOf(await served.page("/homes/4", token))).not.toContain("lintel pair");
  expect((await served.page("/homes/999", token)).status).toBe(404);
});
