import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  event,
  fillForWalk,
  walkedPath,
} from "../../../scripts/trial-programs/with-source/requests/paging-links.ts";
import { clockQuality } from "../../../src/base/clock.ts";
import { append, now_ms, reading, type Serving, serve } from "../../../testbed/serving.ts";

let serving: Serving;
beforeEach(async () => {
  serving = await serve();
});
afterEach(() => serving[Symbol.asyncDispose]());

test("a walk by since has each record once, in the order of arrival, while others arrive now and late", async () => {
  const total = 5_000;
  await fillForWalk(serving.store, total, start_ms);
  let number = total;
  const seen: number[] = [];
  let url = `${serving.api.url}${walkedPath}?since=&limit=170`;
  for (let pages = 0; pages < 200; pages += 1) {
    const page = await asked(url);
    seen.push(...page.events);
    if (page.next === undefined) break;
    url = page.next;
    if (pages < 20) {
      const stamps_ms = [now_ms + pages, start_ms + ((pages * 7_919_000) % 3_000_000), now_ms];
      await serving.store.append(stamps_ms.map((stamp_ms) => event(stamp_ms, number++)));
    }
  }
  expect(seen).toEqual(Array.from({ length: number }, (_, index) => index));
});

test("nothing newer is a page without records and without a link, and its address finds what comes later", async () => {
  const first = `${serving.api.url}${walkedPath}?since=`;
  await serving.store.append([event(now_ms, 1), event(now_ms - 5_000, 2)]);
  const { next = "", events } = await asked(first);
  expect(events).toEqual([1, 2]);
  expect(await asked(next)).toEqual({ events: [], next: undefined });
  await serving.store.append([event(now_ms - 9_000, 3)]);
  expect((await asked(next)).events).toEqual([3]);
});

test("a walk by since may begin at a time, and end before another", async () => {
  await serving.store.append([5, 1, 4, 2, 3].map((second) => event(start_ms + second * 1000, second)));
  const at = (second: number) => start_ms / 1000 + second;
  const from = (since: string) => asked(`${serving.api.url}${walkedPath}?since=${since}`);
  expect((await from(`@${at(3)}`)).events).toEqual([5, 4, 3]);
  const { events, next = "" } = await from(`@${at(2)}/${at(5)}`);
  expect(events).toEqual([4, 2, 3]);
  await serving.store.append([1, 3, 6].map((second) => event(start_ms + second * 1000, 10 + second)));
  expect((await asked(next)).events).toEqual([13]);
});

test("a walk by since keeps limit and precision from page to page", async () => {
  await serving.store.append([event(start_ms + 250, 1), event(start_ms, 2), event(start_ms, 3)]);
  const response = await serving.ask(`${walkedPath}?since=&limit=2&precision=ms`);
  expect(await response.json()).toEqual([
    { stamp: start_ms + 250, event: 1 },
    { stamp: start_ms, event: 2 },
  ]);
  const next = new URL(linkIn(response) ?? "").searchParams;
  expect([next.get("limit"), next.get("precision")]).toEqual(["2", "ms"]);
});

test("a cursor of another store, item or series is gone: 410", async () => {
  const scale = { kind: "scales", address: "00:0d:6f:00:05:05" } as const;
  const [name = ""] = await append(serving.store, [
    reading(scale, "scale_heart", now_ms, { heartRate: 60 }),
    event(now_ms, 1),
  ]);
  await serving.store.append([
    { ...event(now_ms, 1), device: { kind: "wirelesssensors", address: "ff:01" } },
  ]);
  const { next = "" } = await asked(`${serving.api.url}${walkedPath}?since=`);
  const cursor = new URL(next).searchParams.get("since");
  await using other = await serve();
  await other.store.append([event(now_ms, 1)]);
  const answers = [
    await other.ask(`${walkedPath}?since=${cursor}`),
    await serving.ask(`/items/scales/${name}/heart?since=${cursor}`),
    await serving.ask(`/items/wirelesssensors/wirelesssensor-ff01/events?since=${cursor}`),
  ];
  for (const answer of answers) {
    expect(answer.status).toBe(410);
    expect(await answer.json()).toMatchObject({
      code: 41_001,
      message: expect.stringContaining("begin again"),
    });
  }
  expect((await serving.ask(`${walkedPath}?since=${cursor}`)).status).toBe(200);
});

test("what is no cursor is refused with 422, and so is since with before, after, skip or through, naming both", async () => {
  await serving.store.append([event(now_ms, 1)]);
  for (const wrong of ["x", "1700000000", "@", "@1/", "-1", "a".repeat(60), "a".repeat(300)]) {
    const answer = await serving.ask(`${walkedPath}?since=${wrong}`);
    expect([wrong, answer.status]).toEqual([wrong, 422]);
    expect(await answer.json()).toMatchObject({
      code: 42_201,
      message: expect.stringContaining("since must be"),
    });
  }
  for (const other of ["before", "after", "skip", "through"]) {
    const answer = await serving.ask(`${walkedPath}?since=&${other}=0`);
    expect([other, answer.status, await answer.json()]).toEqual([
      ...[other, 422],
      { code: 42_205, message: `since cannot be given together with ${other}` },
    ]);
  }
});

test("provenance=yes tells which reading each record is, and /epochs how far they are here", async () => {
  await serving.store.append([event(now_ms, 1), event(now_ms - 5_000, 2)]);
  await serving.store.append([event(now_ms + 1, 3)]);
  const { epoch } = serving.store;
  const from = { homeid: null, clock: "synchronised" };
  const told = (await (await serving.ask(`${walkedPath}?since=&provenance=yes&limit=2`)).json()) as object[];
  const s = Math.floor(now_ms / 1000);
  expect(told).toEqual([
    { stamp: s, event: 1, ...from, epoch, number: 1 },
    { stamp: s - 5, event: 2, ...from, epoch, number: 2 },
  ]);
  const next = new URL(linkIn(await serving.ask(`${walkedPath}?since=&provenance=yes&limit=2`)) ?? "");
  expect(await (await serving.ask(`${walkedPath}${next.search}`)).json()).toEqual([
    { stamp: s, event: 3, ...from, epoch, number: 3 },
  ]);
  expect(await (await serving.ask(`${walkedPath}?since=&limit=1`)).json()).toEqual([{ stamp: s, event: 1 }]);
  expect(await (await serving.ask("/epochs")).json()).toEqual([
    { epoch, homeid: null, first: 1, last: 3, erased: [] },
  ]);
});

test("older versions ignore since", async () => {
  await serving.store.append([event(now_ms - 5_000, 1), event(now_ms, 2)]);
  const url = `${serving.api.url}${walkedPath}?since=x&skip=1`.replace("/v0.9/", "/v0.8/");
  expect(await asked(url)).toEqual({ events: [1], next: undefined });
});

const start_ms = now_ms - 20_000_000 - 250;

/** The events of a page in their order, and where its link leads. */
async function asked(url: string): Promise<{ events: number[]; next: string | undefined }> {
  const headers = { Authorization: `bearer ${serving.tokens.read}`, Accept: "application/json" };
  const response = await fetch(url, { headers });
  expect([url, response.status]).toEqual([url, 200]);
  const records = (await response.json()) as { event: number }[];
  return { events: records.map(({ event }) => event), next: linkIn(response) };
}

function linkIn(response: Response): string | undefined {
  return /^<([^>]+)>; rel="next"$/.exec(response.headers.get("Link") ?? "")?.[1];
}

test("provenance=yes tells the home of each record and how its time was made, from page to page", async () => {
  await serving.store.append([event(now_ms, 1), { ...event(now_ms + 1, 2), clock: clockQuality.bounded }]);
  const first = `${walkedPath}?since=&limit=1&provenance=yes`;
  const response = await serving.ask(first);
  const told = { stamp: Math.floor(now_ms / 1000), homeid: null };
  expect(await response.json()).toMatchObject([{ ...told, event: 1, clock: "synchronised" }]);
  const next = await serving.ask(`${walkedPath}${new URL(linkIn(response) ?? "").search}`);
  expect(await next.json()).toMatchObject([{ ...told, event: 2, clock: "bounded" }]);
});
