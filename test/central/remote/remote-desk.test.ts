import { afterEach, beforeEach, expect, test } from "bun:test";
import { day_ms, hour_ms } from "../../../src/base/time.ts";
import { RemoteDesk } from "../../../src/central/remote/remote-desk.ts";
import type { SignedRequest } from "../../../src/domain/remote-request.ts";
import type { RemoteAnswer } from "../../../src/store/central/central-store.ts";
import { type Pause, pauseOpen_ms } from "../../../src/store/pause.ts";
import { type RemoteOrders, remote_hold_ms } from "../../../src/transfer/protocol.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

const start_ms = Date.UTC(2026, 5, 1);
let clock: SettableClock;
let desk: RemoteDesk;
let requests: SignedRequest[];
let pauses: Pause[];
let answers: RemoteAnswer[];

beforeEach(() => {
  clock = new SettableClock(start_ms);
  [requests, pauses, answers] = [[], [], []];
  const store = {
    remoteAsked: async () =>
      answers.length > 0 ? [] : requests.map((request) => ({ request, asked_by: "ann", asked_ms: start_ms })),
    noteRemote: async (_home: number, _number: number, answer: RemoteAnswer) => answers.push(answer) > 0,
    pauses: async () => pauses,
  };
  desk = new RemoteDesk({ store, clock });
});
afterEach(() => desk.stop());

const request = (change: Partial<SignedRequest> = {}): SignedRequest => ({
  ...{ number: 1, home: 7, request: "status", expires_ms: start_ms + hour_ms, signature: "" },
  ...change,
});
const pause = (from_ms: number, before_ms: number, home = 7): Pause => ({
  ...{ id: "a".repeat(32), at_ms: from_ms, from_ms, before_ms, home, own: 1, refused: 0 },
});

/** The answer to a box that asks: at once, or after the time for which it may wait; null is nothing. */
async function told(of: { working?: number[]; pauses_tag?: string } = {}): Promise<RemoteOrders | null> {
  let found: RemoteOrders | null | undefined;
  const { working = [], pauses_tag } = of;
  const poll = desk.poll({ home: 7, working, pauses_tag, gone: new AbortController().signal });
  void poll.then((orders) => {
    found = orders ?? null;
  });
  for (let waited_ms = 0; found === undefined; waited_ms += 1_000) {
    if (waited_ms > remote_hold_ms + 1_000) throw new Error("the box waits for ever");
    await new Promise((resolve) => setImmediate(resolve));
    if (found === undefined) clock.advance(1_000);
  }
  return found;
}

test.each<[name: string, pause: Pause, isTold: boolean]>([
  ["has begun a year ago and is open", pause(start_ms - 365 * day_ms, pauseOpen_ms), true],
  ["has begun three days ago and ends tomorrow", pause(start_ms - 3 * day_ms, start_ms + day_ms), true],
  ["begins tomorrow", pause(start_ms + day_ms, start_ms + 2 * day_ms), true],
  // The box takes it for one that is open until it hears of its end.
  ["was ended a moment ago", pause(start_ms - 9 * day_ms, start_ms - 1), true],
  ["was ended nearly two days ago", pause(start_ms - 9 * day_ms, start_ms - 2 * day_ms + hour_ms), true],
  [
    "was over two days ago, which uploads have told",
    pause(start_ms - 9 * day_ms, start_ms - 2 * day_ms),
    false,
  ],
  ["is of another home", pause(start_ms, pauseOpen_ms, 8), false],
])("of a pause that %s a box is told: %#", async (_name, given, isTold) => {
  pauses.push(given);
  const orders = await told();
  expect(orders?.pauses?.map(({ before_ms }) => before_ms)).toEqual(isTold ? [given.before_ms] : undefined);
  // It is told once.
  if (orders?.pauses_tag !== undefined) expect(await told(orders as { pauses_tag: string })).toBeNull();
});

test("a box that knows pauses is told where there are none any more", async () => {
  pauses.push(pause(start_ms, pauseOpen_ms));
  const { pauses_tag = "" } = (await told()) ?? {};
  pauses.length = 0;
  expect(await told({ pauses_tag })).toEqual({ requests: [], pauses: [], pauses_tag: "" });
});

test.each<[name: string, request: SignedRequest, working: number[], isTold: boolean]>([
  ["is new", request(), [], true],
  ["the box works on", request(), [1], false],
  ["has expired", request({ expires_ms: start_ms }), [], false],
  ["is of another home", request({ home: 8 }), [], false],
])("a request that %s is handed over: %#", async (_name, given, working, isTold) => {
  requests.push(given);
  expect((await told({ working }))?.requests ?? []).toEqual(isTold ? [given] : []);
});

test("a request that was answered is not handed over again, though the box asks at once", async () => {
  requests.push(request());
  expect((await told())?.requests).toHaveLength(1);
  await desk.answered(7, 1, { answered_ms: start_ms, outcome: "done", words: "It is well." });
  expect(await told()).toBeNull();
});

test("whoever comes while a box waits lets it go at once, and what comes meanwhile is found", async () => {
  const first = desk.poll({
    home: 7,
    working: [],
    pauses_tag: undefined,
    gone: new AbortController().signal,
  });
  await new Promise((resolve) => setImmediate(resolve));
  const second = told();
  expect(await first).toBeUndefined();
  requests.push(request());
  expect((await second)?.requests).toHaveLength(1);
});
