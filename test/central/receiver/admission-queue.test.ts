import { describe, expect, test } from "bun:test";
import {
  type AdmissionBounds,
  AdmissionQueue,
  type Ticket,
} from "../../../src/central/receiver/admission-queue.ts";
import type { HttpError } from "../../../src/web/server/http-errors.ts";
import { below, seeded } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

function admission(bounds: Partial<AdmissionBounds> = {}): { clock: SettableClock; queue: AdmissionQueue } {
  const clock = new SettableClock(0);
  return { clock, queue: new AdmissionQueue({ clock, under_way_max: 2, ...bounds }) };
}

/** Asks for the turn of a ticket, and says what became of it. */
function turnOf(ticket: Ticket): { readonly said: () => string } {
  let said = "waits";
  ticket.turn().then(
    () => {
      said = "works";
    },
    (thrown) => {
      said = `${(thrown as HttpError).status}`;
    },
  );
  return { said: () => said };
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("turns", () => {
  test("are given to a bounded number at once, and to one request of a home", async () => {
    const { queue } = admission();
    const tickets = [12, 12, 13, 14].map((home) => queue.enter(home, 10));
    const turns = tickets.map(turnOf);
    await settle();
    expect(turns.map(({ said }) => said())).toEqual(["works", "waits", "works", "waits"]);
    expect(queue.status()).toMatchObject({ under_way: 2, waiting: 2, waiting_bytes: 40 });
    tickets[2]?.leave();
    await settle();
    expect(turns.map(({ said }) => said())).toEqual(["works", "waits", "works", "works"]);
    tickets[0]?.leave();
    await settle();
    expect(turns[1]?.said()).toBe("works");
  });

  test("are not taken by a body that is still coming", async () => {
    const { queue } = admission({ under_way_max: 1 });
    queue.enter(12, 10);
    const turn = turnOf(queue.enter(13, 10));
    await settle();
    expect(turn.said()).toBe("works");
  });

  test("go round: a home that sends without a pause does not come before one that waits", async () => {
    const { clock, queue } = admission({ under_way_max: 1 });
    const busy = queue.enter(12, 10);
    await busy.turn();
    clock.advance(1);
    const patient = queue.enter(13, 10);
    const waiting = turnOf(patient);
    clock.advance(1);
    const again = turnOf(queue.enter(12, 10));
    busy.leave();
    await settle();
    expect([waiting.said(), again.said()]).toEqual(["works", "waits"]);
  });
});

describe("a full queue", () => {
  const refused = (enter: () => unknown): HttpError => {
    try {
      enter();
    } catch (thrown) {
      return thrown as HttpError;
    }
    throw new Error("it was let in");
  };

  test("refuses by bytes, by number, and a third request of one home, with when to come back", () => {
    const { queue } = admission({ waiting_bytes_max: 100, tickets_max: 3 });
    queue.enter(12, 60);
    expect(refused(() => queue.enter(13, 60)).body.code).toBe(42902);
    queue.enter(12, 10);
    expect(refused(() => queue.enter(12, 1)).headers).toEqual({ "Retry-After": "1" });
    queue.enter(14, 10);
    expect(refused(() => queue.enter(15, 1)).status).toBe(429);
  });

  test("tells a time that grows with the queue and the time that a request takes, within bounds", async () => {
    const { clock, queue } = admission({ under_way_max: 1, tickets_max: 5 });
    for (let round = 0; round < 100; round += 1) {
      const ticket = queue.enter(1, 10);
      await ticket.turn();
      clock.advance(4_000);
      ticket.leave();
    }
    for (let home = 1; home <= 5; home += 1) queue.enter(home, 10);
    const times = Array.from({ length: 100 }, (_, index) =>
      Number(refused(() => queue.enter(100 + index, 10)).headers["Retry-After"]),
    );
    expect(times[0]).toBeWithin(20, 25);
    expect(times[10]).toBeWithin(60, 66);
    expect(Math.max(...times)).toBe(240);
  });

  test("keeps the place of a home that was refused: it has the room of those who came later", async () => {
    const { clock, queue } = admission({ under_way_max: 1, tickets_max: 2 });
    const first = queue.enter(1, 10);
    await first.turn();
    const second = turnOf(queue.enter(2, 10));
    clock.advance(10);
    expect(refused(() => queue.enter(3, 10)).status).toBe(429);
    first.leave();
    await settle();
    expect(second.said()).toBe("works");
    clock.advance(10);
    const late = turnOf(queue.enter(4, 10));
    const back = turnOf(queue.enter(3, 10));
    await settle();
    expect([late.said(), back.said()]).toEqual(["429", "waits"]);
  });

  test("lets a body that is still coming keep its room", () => {
    const { clock, queue } = admission({ tickets_max: 1 });
    expect(refused(() => queue.enter(2, Number.MAX_SAFE_INTEGER)).status).toBe(429);
    clock.advance(10);
    queue.enter(1, 10);
    expect(refused(() => queue.enter(2, 10)).status).toBe(429);
  });

  test("refuses who has waited too long", async () => {
    const { clock, queue } = admission({ under_way_max: 1, wait_ms_max: 1_000 });
    const first = queue.enter(1, 10);
    await first.turn();
    const ticket = queue.enter(2, 10);
    const turn = turnOf(ticket);
    clock.advance(1_000);
    await settle();
    expect(turn.said()).toBe("429");
    ticket.leave();
    first.leave();
    expect(queue.status()).toMatchObject({ under_way: 0, waiting: 0, waiting_bytes: 0 });
    expect(clock.waiting).toBe(0);
  });
});

test("1,000 homes that come at once all get through, whoever comes back when", async () => {
  const { clock, queue } = admission({
    under_way_max: 4,
    tickets_max: 50,
    waiting_bytes_max: 2_000,
  });
  const random = seeded(1);
  const attempts = new Map<number, number>();
  const done: number[] = [];
  const come = async (home: number): Promise<void> => {
    attempts.set(home, (attempts.get(home) ?? 0) + 1);
    let ticket: Ticket | undefined;
    try {
      ticket = queue.enter(home, 20 + below(random, 40));
      await ticket.turn();
      clock.after(50 + below(random, 100), () => {
        done.push(home);
        ticket?.leave();
      });
    } catch (thrown) {
      ticket?.leave();
      const retry_s = Number((thrown as HttpError).headers["Retry-After"]);
      clock.after(retry_s * 1000 * (1 + random() / 2), () => void come(home));
    }
  };
  for (let home = 1; home <= 1_000; home += 1) void come(home);
  let steps = 0;
  for (; done.length < 1_000 && steps < 100_000; steps += 1) {
    await Promise.resolve();
    clock.advance(25);
  }
  expect(new Set(done).size).toBe(1_000);
  // Nobody is sent away for ever, and the line is worked off about as fast as it can be.
  expect(Math.max(...attempts.values())).toBeLessThan(20);
  expect(steps * 25).toBeLessThan(4 * ((1_000 * 100) / 4));
  expect(queue.status()).toMatchObject({ under_way: 0, waiting: 0, waiting_bytes: 0 });
});
