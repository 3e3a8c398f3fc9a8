import { afterEach, beforeEach, expect, test } from "bun:test";
import { Live } from "../../../src/web/pages/live-pages.ts";
import { eventually } from "../../../testbed/front-door.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { now_ms, type PagesServer, servePages } from "./pages-server.ts";

let server: PagesServer;
beforeEach(async () => {
  server = await servePages();
});
afterEach(() => server[Symbol.asyncDispose]());

/** A browser that follows a page: the text of all that has come so far. */
async function follow(path = "/live", token = server.tokens.read) {
  const leave = new AbortController();
  const response = await server.page(path, token, { signal: leave.signal });
  const followed = { response, text: "", ended: false, leave: () => leave.abort() };
  const reading = async () => {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) followed.text += decoder.decode(bytes);
  };
  reading()
    .catch(() => {})
    .finally(() => {
      followed.ended = true;
    });
  return followed;
}

/** Lets time pass in small steps until it is so. */
const until = (so: () => boolean, what: string) =>
  eventually(
    () => {
      server.clock.advance(100);
      return so() || undefined;
    },
    what,
    { tries_max: 400, pause_ms: 5 },
  );

test("streams at once are bounded, of one token and of one address, and freed when browsers leave", async () => {
  const [other, third] = [await server.mint("read"), await server.mint("read")];
  const refusal = async (token: string) => {
    const answer = server.page("/live", token);
    let isAnswered = false;
    void answer.finally(() => {
      isAnswered = true;
    });
    await until(() => isAnswered, "the refusal");
    const refused = await answer;
    return [refused.status, refused.headers.get("Retry-After")];
  };
  for (let round = 0; round < 3; round++) {
    const followed = await Promise.all(Array.from({ length: 20 }, () => follow()));
    expect(await refusal(server.tokens.read)).toEqual([429, "15"]);
    followed.push(...(await Promise.all(Array.from({ length: 20 }, () => follow("/live", other)))));
    expect(followed.map(({ response }) => response.status)).toEqual(Array(40).fill(200));
    expect(await refusal(third)).toEqual([429, "15"]);
    for (const one of followed) one.leave();
    await eventually(
      async () => {
        const next = await follow();
        next.leave();
        return next.response.status === 200 || undefined;
      },
      "room",
      { tries_max: 200 },
    );
  }
});

test("HEAD takes no stream", async () => {
  for (let count = 0; count < 101; count++)
    expect((await server.page("/live", server.tokens.read, { method: "HEAD" })).status).toBe(200);
  expect((await follow()).response.status).toBe(200);
});

test("a revoked token ends its stream", async () => {
  const followed = await follow();
  await until(() => followed.text.includes("data:"), "the first data");
  await server.store.revokeToken(server.tokens.read.split(".")[0] ?? "");
  await until(() => followed.ended, "the end");
  expect(followed.text).toContain("event: ended");
});

test("who comes later to a page that others follow gets its data too", async () => {
  const first = await follow();
  await until(() => first.text.includes("data:"), "the first data");
  const second = await follow();
  await until(() => second.text.includes("data:"), "its data");
  first.leave();
  second.leave();
});

test("a stop of the server does not wait for who looks at pages", async () => {
  const followed = await follow();
  await until(() => followed.text.includes("data:"), "the first data");
  const stopped = server[Symbol.asyncDispose]();
  await eventually(() => followed.ended || undefined, "the end", { tries_max: 400, pause_ms: 5 });
  await stopped;
  server = await servePages();
});

test("who takes nothing of what is sent is left, and nothing is kept for them", async () => {
  const clock = new SettableClock(now_ms);
  let looks = 0;
  const find = async () => ({ now_ms, text: `look ${++looks} `.repeat(150_000) });
  const live = new Live({ clock, changes: () => looks });
  const page = Bun.serve({
    port: 0,
    fetch: (request) => live.stream(request, { name: "page", first: find, find }),
  });
  const deaf = await Bun.connect({
    hostname: "127.0.0.1",
    port: page.port ?? 0,
    socket: { data: () => {} },
  });
  deaf.pause();
  deaf.write("GET / HTTP/1.1\r\nHost: page\r\n\r\n");
  await eventually(() => clock.waiting === 1 || undefined, "the first look");
  let before = -1;
  await eventually(
    () => {
      if (before === looks && clock.waiting === 0) return true;
      before = looks;
      for (let count = 0; count < 20; count++) clock.advance(300);
      return undefined;
    },
    "the last look",
    { tries_max: 100 },
  );
  deaf.terminate();
  await page.stop(true);
});

test("a connection is kept while nothing of its page changes, however much else does", async () => {
  const clock = new SettableClock(now_ms);
  let changes = 0;
  const find = async () => ({ now_ms });
  const live = new Live({ clock, changes: () => ++changes });
  const page = Bun.serve({
    port: 0,
    fetch: (request) => live.stream(request, { name: "page", first: find, find }),
  });
  const leave = new AbortController();
  const response = await fetch(page.url, { signal: leave.signal });
  let text = "";
  const reading = (async () => {
    for await (const bytes of response.body ?? []) text += new TextDecoder().decode(bytes);
  })().catch(() => {});
  let passed_ms = 0;
  await eventually(
    () => {
      clock.advance(300);
      passed_ms += 300;
      return /: \n\n$/.test(text) || undefined;
    },
    "a sign of life",
    { tries_max: 400, pause_ms: 2 },
  );
  // A connection on which nothing happens is closed after 30 s.
  expect(passed_ms).toBeLessThan(30_000);
  leave.abort();
  await reading;
  await page.stop(true);
});
