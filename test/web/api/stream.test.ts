import { afterEach, beforeEach, expect, test } from "bun:test";
import { event, walkedPath } from "../../../scripts/trial-programs/with-source/requests/paging-links.ts";
import { eventually } from "../../../testbed/front-door.ts";
import { fill } from "../../../testbed/programme.ts";
import { now_ms, type Serving, serve } from "../../../testbed/serving.ts";

let serving: Serving;
beforeEach(async () => {
  serving = await serve();
  await serving.store.append([event(now_ms, 1), event(now_ms - 5_000, 2)]);
});
afterEach(() => serving[Symbol.asyncDispose]());

test("a stream has what is there and what arrives, now and late, as the pages of since have it", async () => {
  const followed = await follow("?since=&limit=1&precision=ms&provenance=yes");
  expect(await followed.records(2)).toMatchObject([
    { stamp: now_ms, event: 1, clock: "synchronised", number: 1 },
    { stamp: now_ms - 5_000, event: 2 },
  ]);
  await serving.store.append([event(now_ms + 1, 3)]);
  await serving.store.append([event(now_ms - 90_000_000, 4)]);
  const all = await followed.records(4);
  expect(all).toHaveLength(4);
  const pages: object[] = [];
  for (const { id } of [{ id: "" }, ...followed.messages]) {
    const page = await serving.ask(`${walkedPath}?since=${id}&limit=1&precision=ms&provenance=yes`);
    pages.push(...((await page.json()) as object[]));
  }
  expect(all).toEqual(pages);
});

test("after an interruption a stream goes on by the id of its last message, and by a cursor of since", async () => {
  const first = await follow("?since=&limit=1");
  await first.records(2);
  const [message] = first.messages;
  first.leave();
  const again = await follow("?since=&limit=1", { "Last-Event-ID": message?.id ?? "" });
  const other = await follow(`?since=${message?.id}`);
  for (const one of [again, other]) expect(await one.records(1)).toMatchObject([{ event: 2 }]);
});

test("a stream without news says that it is open, and is kept open", async () => {
  const followed = await follow(`?since=@${Math.floor(now_ms / 1000) + 60}`);
  const signs = (count: number) =>
    until(() => followed.text.split(": \n\n").length > count, "a sign of life");
  await signs(1);
  const began_ms = serving.clock.now().unix_ms;
  await signs(2);
  // A connection on which nothing happens is closed after 30 s.
  expect(serving.clock.now().unix_ms - began_ms).toBeLessThan(30_000);
  expect(followed.messages).toEqual([]);
});

test("only who names server-sent events beside JSON, and gives since, has a stream", async () => {
  const type = async (query: string, accept: string) => {
    const answer = await serving.ask(`${walkedPath}${query}`, { headers: { ...bearer(), Accept: accept } });
    const type = answer.headers.get("Content-Type");
    await answer.body?.cancel();
    return [answer.status, type];
  };
  expect(await type("?since=", both)).toEqual([200, "text/event-stream"]);
  expect(await type("?since=", "application/json")).toEqual([200, "application/json"]);
  expect(await type("?since=", "application/json, text/event-stream;q=0")).toEqual([200, "application/json"]);
  expect(await type("", both)).toEqual([200, "application/json"]);
  expect(await type("?since=", "text/event-stream")).toEqual([400, "application/json"]);
  expect(await type("?since=x", both)).toEqual([422, "application/json"]);
});

test("a cursor that is none or gone is refused before a stream begins", async () => {
  const cursor = async (id: string) =>
    (
      await serving.ask(`${walkedPath}?since=`, {
        headers: { ...bearer(), Accept: both, "Last-Event-ID": id },
      })
    ).status;
  expect(await cursor("x")).toBe(422);
  await using other = await serve();
  await other.store.append([event(now_ms, 1)]);
  const page = await other.ask(`${walkedPath}?since=`);
  const [, id = ""] = /since=([^&>]+)/.exec(page.headers.get("Link") ?? "") ?? [];
  expect(await cursor(id)).toBe(410);
});

test("where a store cannot tell whether anything has changed, a stream looks again within a second", async () => {
  await using unknowing = await serve({
    through: (store) =>
      new Proxy(store, {
        get: (of, name) => {
          if (name === "changes") return () => undefined;
          const value: unknown = Reflect.get(of, name);
          return typeof value === "function" ? value.bind(of) : value;
        },
      }),
  });
  await unknowing.store.append([event(now_ms, 1)]);
  const followed = await follow("?since=", {}, unknowing);
  await followed.records(1);
  await unknowing.store.append([event(now_ms - 5_000, 2)]);
  expect(await followed.records(2)).toMatchObject([{ event: 1 }, { event: 2 }]);
  followed.leave();
});

test("a revoked token ends its stream, and no other", async () => {
  const admin = await follow("?since=", { Authorization: `bearer ${serving.tokens.admin}` });
  const reader = await follow("?since=");
  await reader.records(2);
  await serving.store.revokeToken(serving.tokens.read.split(".")[0] ?? "");
  await until(() => reader.ended, "the end");
  await serving.store.append([event(now_ms + 1, 3)]);
  expect(await admin.records(3)).toHaveLength(3);
});

test("a stream for a use ends once the home has refused that use", async () => {
  await using home = await serve({ home: 12 });
  await fill(home.store);
  await home.store.append([event(now_ms, 1)]);
  const followed = await follow("?since=", { "Lintel-Uses": "coded" }, home);
  const other = await follow("?since=", { "Lintel-Uses": "shared" }, home);
  const { length } = await followed.records(1);
  const start = Math.ceil(home.clock.now().unix_ms / 1000) + 1;
  await until(() => home.clock.now().unix_ms >= start * 1000, "the refusal", home);
  const refused = { homeid: null, use: "coded", answer: "refused", start, stop: null };
  await home.store.importRecords([
    [{ type: "consents", record: { consentid: 9, subjectid: 1, ...refused } }],
  ]);
  await home.store.append([event(now_ms + 1, 3)]);
  await other.records(length + 1);
  await until(() => followed.ended, "the end", home);
  expect(await followed.records(length)).toHaveLength(length);
});

test("streams at once are bounded, and freed when their readers leave", async () => {
  const ask = () => serving.ask(`${walkedPath}?since=`, { headers: { ...bearer(), Accept: both } });
  const all = await Promise.all(Array.from({ length: 20 }, () => follow("?since=")));
  const refusal = ask();
  let isAnswered = false;
  void refusal.finally(() => {
    isAnswered = true;
  });
  await until(() => isAnswered, "the refusal");
  const { status, headers } = await refusal;
  expect([status, headers.get("Retry-After")]).toEqual([429, "15"]);
  for (const one of all) one.leave();
  await eventually(async () => {
    const response = await ask();
    await response.body?.cancel();
    return response.status === 200 || undefined;
  }, "room");
});

test("HEAD takes no stream, and a stop of the server waits for none", async () => {
  for (let count = 0; count < 41; count++) {
    const head = { method: "HEAD", headers: { ...bearer(), Accept: both } };
    expect((await serving.ask(`${walkedPath}?since=`, head)).status).toBe(200);
  }
  const followed = await follow("?since=");
  await followed.records(2);
  const stopped = serving.api.stop();
  await eventually(() => followed.ended || undefined, "the end");
  await stopped;
});

const both = "application/json, text/event-stream";
const bearer = () => ({ Authorization: `bearer ${serving.tokens.read}` });

/** A program that follows a series: its messages so far. */
async function follow(query: string, headers: Record<string, string> = {}, of = serving) {
  const leaving = new AbortController();
  const response = await fetch(`${of.api.url}${walkedPath}${query}`, {
    headers: { Authorization: `bearer ${of.tokens.read}`, Accept: both, ...headers },
    signal: leaving.signal,
  });
  expect([response.status, response.headers.get("Content-Type")]).toEqual([200, "text/event-stream"]);
  const followed = {
    text: "",
    ended: false,
    get messages() {
      return [...followed.text.matchAll(/^id: (.+)\ndata: (.+)\n\n/gm)].map(([, id = "", data = ""]) => ({
        id,
        records: JSON.parse(data) as object[],
      }));
    },
    /** The first records of all messages, once there are so many. */
    records: async (count: number) => {
      const all = () => followed.messages.flatMap(({ records }) => records);
      await until(() => all().length >= count, `${count} records`, of);
      return all();
    },
    leave: () => leaving.abort(),
  };
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) followed.text += decoder.decode(bytes, { stream: true });
  };
  void read()
    .catch(() => {})
    .finally(() => {
      followed.ended = true;
    });
  return followed;
}

/** Lets time pass in small steps until it is so. */
const until = (so: () => boolean, what: string, of = serving) =>
  eventually(
    () => {
      of.clock.advance(100);
      return so() || undefined;
    },
    what,
    { tries_max: 400, pause_ms: 5 },
  );
