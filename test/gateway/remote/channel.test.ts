import { afterEach, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { clockQuality } from "../../../src/base/clock.ts";
import { publicKeyText } from "../../../src/base/ed25519.ts";
import {
  type RemoteRequestName,
  remoteRequestNames,
  type SignedRequest,
  signRequest,
} from "../../../src/domain/remote-request.ts";
import type { RemoteActions } from "../../../src/gateway/remote/remote-actions.ts";
import { RemoteChannel } from "../../../src/gateway/remote/remote-channel.ts";
import { remoteEntriesIn } from "../../../src/gateway/remote/remote-journal.ts";
import type { RemoteAnswerBody, RemoteOrders } from "../../../src/transfer/protocol.ts";
import { keptLog, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { TravellingClock } from "../../drivers/travelling-clock.ts";
import { answeringServers } from "../../fakes/answering-servers.ts";
import { centralAt } from "../uploader/central-at.ts";

const { answering } = answeringServers();
const [study, thief] = [generateKeyPairSync("ed25519").privateKey, generateKeyPairSync("ed25519").privateKey];
const ending: (() => Promise<unknown>)[] = [];
/** Requests to central: no time passes meanwhile, or they would take too long. */
const underWay = new Set<unknown>();
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

/** A box of home 12, and a central that hands it whatever the test says; each order is handed on until it is answered. */
function boxAt(
  options: {
    directory?: string;
    act?: (name: string) => Promise<void>;
    /** Called before pauses are taken. */
    onPauses?: () => Promise<void>;
  } = {},
) {
  const clock = new TravellingClock();
  const done: string[] = [];
  const answers: RemoteAnswerBody[] = [];
  let orders: RemoteOrders = { requests: [] };
  let polls = 0;
  const tags: (string | null)[] = [];
  const url = answering(async (request) => {
    if (request.method === "POST") {
      const answer = (await request.json()) as RemoteAnswerBody;
      answers.push(answer);
      orders = { requests: orders.requests.filter(({ number }) => number !== answer.number) };
      return new Response(null, { status: 204 });
    }
    polls += 1;
    tags.push(new URL(request.url).searchParams.get("pauses_tag"));
    return orders.requests.length + (orders.pauses?.length ?? 0) === 0
      ? new Response(null, { status: 204 })
      : Response.json(orders);
  });
  const temporary = temporaryDirectory();
  const directory = options.directory ?? temporary.path;
  const actions = Object.fromEntries(
    remoteRequestNames.map((name) => [
      name,
      async (argument: string) => {
        await options.act?.(name);
        done.push(`${name} ${argument}`.trim());
        return { words: `did ${name}`, answer: "x" };
      },
    ]),
  ) as unknown as RemoteActions;
  const pauses: unknown[] = [];
  const { log, lines } = keptLog();
  const allow = remoteRequestNames.filter((name) => name !== "blink");
  const channel = new RemoteChannel({
    ...{ home: 12, settings: { allow, keys: [publicKeyText(study)] }, directory, actions, clock, log },
    connect: (stop) => {
      const { central } = centralAt(url, { stop, clock, failures_max: 1 });
      const ask = central.ask.bind(central);
      central.ask = async (request) => {
        underWay.add(request);
        return ask(request).finally(() => underWay.delete(request));
      };
      return central;
    },
    takePauses: async (taken) => {
      await options.onPauses?.();
      pauses.push(...taken);
    },
    random: () => 1,
  });
  channel.start();
  ending.push(
    async () => temporary[Symbol.dispose](),
    () => channel.stop(),
  );
  /** Hands orders on, and waits until so many are answered. */
  const order = async (requests: SignedRequest[], answered = requests.length) => {
    const expected = answers.length + answered;
    orders = { requests };
    while (answers.length < expected) await turn(clock);
    return answers.slice(-answered).map(({ outcome, words }) => `${outcome}: ${words}`);
  };
  return {
    clock,
    done,
    answers,
    order,
    directory,
    lines,
    pauses,
    tags,
    polls: () => polls,
    tell: (told: RemoteOrders) => (orders = told),
  };
}

/** Lets the channel and the server go on, while a little time passes. */
async function turn(clock: TravellingClock): Promise<void> {
  if (underWay.size === 0) clock.travel(1_000);
  await new Promise((resume) => setImmediate(resume));
}

function signed(
  clock: TravellingClock,
  request: RemoteRequestName | "shell",
  more: Partial<SignedRequest> & { key?: typeof study } = {},
): SignedRequest {
  const { key = study, ...fields } = more;
  const now_ms = clock.now().unix_ms;
  return signRequest(
    { home: 12, number: now_ms, expires_ms: now_ms + 12 * 3_600_000, request, ...fields },
    key,
  );
}

test("a signed request is done once, answered and written down, and its number is used up", async () => {
  const { clock, order, done, answers, directory } = boxAt();
  const asked = signed(clock, "open-joining", { argument: "5" });
  expect(await order([asked])).toEqual(["done: did open-joining"]);
  expect(answers[0]).toMatchObject({ number: asked.number, answer: "x" });
  // Central has lost the answer, or replays it: it is told again, and nothing is done.
  expect(await order([asked])).toEqual(["done: did open-joining"]);
  expect(done).toEqual(["open-joining 5"]);
  expect(remoteEntriesIn(directory)).toMatchObject([
    { request: "open-joining", argument: "5", outcome: "done" },
  ]);
});

test("what is forged, replayed, expired, for another home, not listed or not allowed is refused, and written down", async () => {
  const { clock, order, done, directory, lines } = boxAt();
  const first = signed(clock, "status");
  await order([first]);
  const number = first.number + 1_000;
  const cases: [SignedRequest, string][] = [
    [signed(clock, "status", { number, key: thief }), "no key of [remote] keys has signed it"],
    [
      { ...signed(clock, "open-joining", { number, argument: "5" }), argument: "15" },
      "no key of [remote] keys has signed it",
    ],
    [{ ...signed(clock, "status", { number }), expires_ms: 4e12 }, "no key of [remote] keys has signed it"],
    [{ ...first, number: number + 1 }, "no key of [remote] keys has signed it"],
    [signed(clock, "status", { number, home: 13 }), "it was signed for home 13"],
    [signed(clock, "status", { number, expires_ms: clock.now().unix_ms - 1 }), "it has expired"],
    [
      signed(clock, "status", { number, expires_ms: clock.now().unix_ms + 2 * 86_400_000 }),
      "it is valid for longer than 24 h",
    ],
    [
      signed(clock, "status", { number: first.number - 1 }),
      "its number is not above that of the last one: it was sent before",
    ],
    [signed(clock, "shell", { number }), "there is no such request"],
    [signed(clock, "status", { number, argument: "x" }), "it takes no argument"],
    [signed(clock, "open-joining", { number, argument: "90" }), "it takes whole minutes from 1 to 15"],
    [
      signed(clock, "restart-driver", { number, argument: "../etc" }),
      "it takes a driver that the box has, such as zigbee",
    ],
    [signed(clock, "open-joining", { number }), "it takes whole minutes from 1 to 15"],
    [signed(clock, "blink", { number }), "[remote] allow does not have it"],
  ];
  for (const [request, why] of cases) expect(await order([request])).toEqual([`refused: ${why}`]);
  expect(done).toEqual(["status"]);
  expect(remoteEntriesIn(directory).filter(({ outcome }) => outcome === "refused")).toHaveLength(
    cases.length,
  );
  expect(lines.filter((line) => line.startsWith("warn  refused"))).toHaveLength(cases.length);
  // None of them has used up a number.
  expect(await order([signed(clock, "status", { number })])).toEqual(["done: did status"]);

  clock.quality = clockQuality.unsynchronised;
  expect(await order([signed(clock, "status", { number: number + 1 })])).toEqual([
    expect.stringContaining("refused: the clock of this box is not known to be right"),
  ]);
});

test("a box that was cut off does nothing twice, and says so", async () => {
  using temporary = temporaryDirectory();
  let isBegun = false;
  const act = () => {
    isBegun = true;
    return new Promise<void>(() => {});
  };
  const first = boxAt({ directory: temporary.path, act });
  const asked = signed(first.clock, "upload");
  first.tell({ requests: [asked] });
  while (!isBegun) await turn(first.clock);
  const second = boxAt({ directory: temporary.path });
  expect(await second.order([asked])).toEqual(["failed: the box was cut off meanwhile"]);
  expect(second.done).toEqual([]);
});

test("pauses that central tells are taken over, and a central that always answers at once costs no more than the bytes of a day", async () => {
  const { clock, tell, polls, pauses, order } = boxAt();
  const pause = { id: "a".repeat(32), at_ms: 1, from_ms: 1, before_ms: Number.MAX_SAFE_INTEGER };
  await order([signed(clock, "status")]);
  const before = polls();
  tell({ requests: [], pauses: [pause], pauses_tag: "a" });
  const day_ms = 86_400_000;
  for (let passed_ms = 0; passed_ms < day_ms; passed_ms += 1_000) await turn(clock);
  expect(pauses[0]).toEqual({ ...pause, home: 0, own: 0 });
  expect(polls() - before).toBeLessThan(1_300);
});

test("pauses that could not be kept are asked for again", async () => {
  let failures = 0;
  const onPauses = async () => {
    failures += 1;
    if (failures === 1) throw new Error("the disk is full");
  };
  const { clock, tell, tags, pauses } = boxAt({ onPauses });
  const pause = { id: "a".repeat(32), at_ms: 1, from_ms: 1, before_ms: Number.MAX_SAFE_INTEGER };
  tell({ requests: [], pauses: [pause], pauses_tag: "one" });
  while (pauses.length === 0) await turn(clock);
  const asked = tags.length;
  expect(tags).toEqual(Array(asked).fill(null));
  while (tags.length === asked) await turn(clock);
  expect(tags.at(-1)).toBe("one");
});

/** Keeps how long each wait is to be. */
class WaitedClock extends SettableClock {
  readonly waits: number[] = [];
  override after(delay_ms: number, action: () => void): () => void {
    this.waits.push(delay_ms);
    return super.after(delay_ms, action);
  }
}

test("a central that is away is asked less and less often, and one that went away again soon anew", async () => {
  const clock = new WaitedClock(start_ms);
  using directory = temporaryDirectory();
  const { log, lines } = keptLog();
  const away = () => Promise.reject(new Error("nobody listens there"));
  const nothing = async () => ({ status: 204, body: new Uint8Array() });
  const orders = async () => ({ status: 200, body: new Uint8Array() });
  const course = [...Array<typeof away>(7).fill(away), nothing, away, away, orders, away, nothing];
  const central = { read: () => ({ requests: [] }), ask: () => (course[clock.waits.length] ?? away)() };
  const channel = new RemoteChannel({
    ...{ home: 12, settings: { allow: [], keys: [] }, directory: directory.path, clock, log },
    ...{ actions: {} as RemoteActions, connect: () => central as never, takePauses: async () => {} },
    random: () => 1,
  });
  channel.start();
  for (let asked = 1; asked <= course.length; asked += 1) {
    while (clock.waits.length < asked) await new Promise((resume) => setImmediate(resume));
    if (asked < course.length) clock.advance(clock.waits.at(-1) ?? 0);
  }
  await channel.stop();
  expect(clock.waits.map((wait_ms) => wait_ms / 1_000)).toEqual([
    ...[30, 60, 120, 240, 480, 840, 840, 230],
    ...[30, 60, 2, 30, 230],
  ]);
  expect(lines.map((line) => line.includes("said once"))).toEqual([true, false, true, false, true, false]);
});
