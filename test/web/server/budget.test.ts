import { describe, expect, test } from "bun:test";
import { Budget, type Caller } from "../../../src/web/server/caller-budget.ts";
import type { HttpError } from "../../../src/web/server/http-errors.ts";
import { type CostName, costTable } from "../../../src/web/server/request-costs.ts";
import { sent } from "../../../src/web/server/responses.ts";
import { eventually } from "../../../testbed/front-door.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

const clock = () => new SettableClock(1_760_000_000_000);
const callerOf = (token: string, address: string, signal?: AbortSignal): Caller => ({
  request: new Request("http://a/", { ...(signal && { signal }) }),
  address,
  token: { id: token },
});

/** Spends, and holds the turn until it is told to go on. */
function hold(budget: Budget, cost: CostName, caller: Caller) {
  const gate = Promise.withResolvers<void>();
  const held = {
    began: false,
    fault: undefined as HttpError | undefined,
    goOn: gate.resolve,
    over: Promise.resolve(),
  };
  held.over = budget
    .spend(cost, caller, async () => {
      held.began = true;
      await gate.promise;
    })
    .catch((thrown: HttpError) => {
      held.fault = thrown;
    });
  return held;
}

test.each(Object.entries(costTable))(
  "of %s no token has all, nor two tokens at two addresses",
  (_, { gateway, central }) => {
    for (const { turns, all, of_token, of_address } of [gateway, central]) {
      expect(of_token).toBeLessThanOrEqual(of_address);
      expect(2 * of_token).toBeLessThanOrEqual(all);
      // Turns are short and go round; what lasts as long as its reader likes is divided.
      if (turns === all) expect(2 * of_address).toBeLessThan(all);
    }
  },
);

describe("a greedy token", () => {
  test("never has the last turn, and waits in a bounded queue beyond which it is refused", async () => {
    const budget = new Budget({ clock: clock(), scale: "gateway" });
    const { waiting_of_token } = costTable.heavy.gateway;
    const greedy = Array.from({ length: waiting_of_token + 5 }, () =>
      hold(budget, "heavy", callerOf("one", "10.0.0.1")),
    );
    await eventually(() => greedy.some(({ fault }) => fault !== undefined) || undefined, "a refusal");
    expect(greedy.filter(({ began }) => began)).toHaveLength(1);
    const refused = greedy.flatMap(({ fault }) => fault ?? []);
    expect(refused).toHaveLength(4);
    expect(refused[0]?.body.code).toBe(42904);
    expect(Number(refused[0]?.headers["Retry-After"])).toBeGreaterThan(0);
    const other = hold(budget, "heavy", callerOf("two", "10.0.0.2"));
    await eventually(() => other.began || undefined, "the turn of another");
    const next = hold(budget, "heavy", callerOf("three", "10.0.0.3"));
    other.goOn();
    await eventually(() => next.began || undefined, "the turn of a third, before those that wait");
    expect(greedy.filter(({ began }) => began)).toHaveLength(1);
    for (const one of [next, ...greedy]) one.goOn();
    await Promise.all(greedy.map(({ over }) => over));
    expect(greedy.filter(({ began }) => began)).toHaveLength(waiting_of_token + 1);
  });

  test("begins no more in a minute than its rate", async () => {
    const time = clock();
    const budget = new Budget({ clock: time, scale: "gateway" });
    const spend = () =>
      budget.spend("heavy", callerOf("one", "10.0.0.1"), () => true).catch((thrown) => thrown);
    for (let count = 0; count < costTable.heavy.gateway.a_minute; count += 1)
      expect(await spend()).toBe(true);
    expect(await spend()).toMatchObject({ status: 429 });
    expect(await budget.spend("heavy", callerOf("two", "10.0.0.1"), () => true)).toBe(true);
    time.advance(1_000);
    expect(await spend()).toBe(true);
  });

  test("is refused once a request of it has waited too long, and forgotten once its client has gone", async () => {
    const time = clock();
    const budget = new Budget({ clock: time, scale: "gateway" });
    const first = hold(budget, "heavy", callerOf("one", "10.0.0.1"));
    const second = hold(budget, "heavy", callerOf("one", "10.0.0.1"));
    const leave = new AbortController();
    const gone = hold(budget, "heavy", callerOf("one", "10.0.0.1", leave.signal));
    leave.abort();
    await gone.over;
    time.advance(10_000);
    await second.over;
    expect([first.began, second.began, gone.began]).toEqual([true, false, false]);
    expect(second.fault?.status).toBe(429);
    first.goOn();
  });
});

test("who had a turn longest ago has the next one, however many others wait and however they came", async () => {
  const budget = new Budget({ clock: clock(), scale: "gateway" });
  const { turns, waiting_of_token } = costTable.heavy.gateway;
  const each = Math.min(3, waiting_of_token);
  const greedy = ["one", "two", "three", "four"].flatMap((token) => Array<string>(each).fill(token));
  const begun: string[] = [];
  const go: (() => void)[] = [];
  const all = greedy.map((token, place) =>
    budget.spend("heavy", callerOf(token, `10.0.0.${token.length}${place % 2}`), () => {
      begun.push(token);
      return new Promise<void>((resolve) => go.push(resolve));
    }),
  );
  for (let ended = 0; ended < greedy.length; ended += 1)
    (await eventually(() => go[ended], "the next turn"))();
  await Promise.all(all);
  // None has a turn more than another that waits, but for the first, which came while nobody else was there.
  for (let turn = turns; turn < greedy.length; turn += 1) {
    const had = [...new Set(greedy)].map(
      (token) => begun.slice(0, turn).filter((one) => one === token).length,
    );
    expect(Math.max(...had) - Math.min(...had)).toBeLessThanOrEqual(1);
  }
});

test("addresses of one /64 of IPv6 are one address, whatever tokens come from it", async () => {
  const budget = new Budget({ clock: clock(), scale: "gateway" });
  const { of_address } = costTable.live.gateway;
  const followed = Array.from({ length: of_address + 1 }, (_, count) =>
    hold(budget, "live", callerOf(`token ${count}`, `2001:db8:1:2::${count}`)),
  );
  await followed.at(-1)?.over;
  expect(followed.at(-1)?.fault?.status).toBe(429);
  const other = hold(budget, "live", callerOf("another", "2001:db8:1:3::1"));
  await eventually(() => other.began || undefined, "a page of another address");
  for (const one of followed) one.goOn();
});

test("a large answer counts until it is sent, and its turn is another's by then", async () => {
  const budget = new Budget({ clock: clock(), scale: "gateway" });
  const large = () => sent(new Uint8Array(1_000_000), { headers: {} });
  const caller = callerOf("one", "10.0.0.1");
  const answers = [await budget.spend("heavy", caller, large), await budget.spend("heavy", caller, large)];
  const third = hold(budget, "heavy", caller);
  await Bun.sleep(0);
  expect(third.began).toBe(false);
  expect((await answers[0]?.bytes())?.length).toBe(1_000_000);
  await eventually(() => third.began || undefined, "the third, once the first is sent");
  await answers[1]?.body?.cancel();
  third.goOn();
});
