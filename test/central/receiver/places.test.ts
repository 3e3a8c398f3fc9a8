import { expect, test } from "bun:test";
import {
  type AdmissionBounds,
  AdmissionQueue,
  defaultAdmission,
  type Ticket,
} from "../../../src/central/receiver/admission-queue.ts";
import { HttpError } from "../../../src/web/server/http-errors.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const place_kept_ms = 15 * 60_000;

/** A queue in which one is worked on at once, and homes that ask for their turn. */
function queueOf(bounds: Partial<AdmissionBounds> = {}) {
  const clock = new SettableClock(0);
  const queue = new AdmissionQueue({ clock, under_way_max: 1, ...bounds });
  const said = new Map<number, string>();
  const tickets = new Map<number, Ticket>();
  return {
    clock,
    queue,
    said,
    tickets,
    /** A home enters and asks for its turn; what became of it stands in `said`. */
    come: (home: number, bytes = 10): void => {
      try {
        const ticket = queue.enter(home, bytes);
        tickets.set(home, ticket);
        said.set(home, "waits");
        ticket.turn().then(
          () => said.set(home, "works"),
          () => said.set(home, "sent away"),
        );
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(HttpError);
        said.set(home, "refused");
      }
    },
  };
}

test("a home that was refused keeps its place for a quarter of an hour", async () => {
  for (const [away_ms, outcome] of [
    [place_kept_ms - 1, ["sent away", "waits"]],
    [place_kept_ms, ["waits", "refused"]],
  ] as const) {
    const { clock, come, said } = queueOf({ tickets_max: 2 });
    clock.advance(place_kept_ms);
    come(9, Number.MAX_SAFE_INTEGER);
    clock.advance(away_ms);
    come(1);
    come(2);
    come(9);
    await settle();
    expect([said.get(2), said.get(9)]).toEqual([...outcome]);
  }
});

test("turns are given by when a home first came, and where that is the same by who asked first", async () => {
  const { clock, come, said, tickets } = queueOf();
  come(9, Number.MAX_SAFE_INTEGER);
  clock.advance(10);
  for (const home of [1, 2, 3]) come(home);
  clock.advance(10);
  come(9);
  await settle();
  const order: number[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    const [home = 0] = [...said].find(([, state]) => state === "works") ?? [];
    order.push(home);
    said.set(home, "done");
    tickets.get(home)?.leave();
    await settle();
  }
  expect(order).toEqual([1, 9, 2, 3]);
});

test("room is made by the last that came, and by no more of them than it takes", async () => {
  const { clock, come, said, queue } = queueOf({ waiting_bytes_max: 100, tickets_max: 4 });
  come(9, 1_000);
  clock.advance(10);
  come(1, 60);
  come(2);
  come(3);
  clock.advance(10);
  come(9, 21);
  await settle();
  expect([...said]).toEqual([
    [9, "waits"],
    [1, "works"],
    [2, "waits"],
    [3, "sent away"],
  ]);
  expect(queue.status()).toEqual({ under_way: 1, waiting: 2, waiting_bytes: 91, refused: 2 });
});

test("nobody is sent away where the room would not be enough, and what just fits is enough", async () => {
  for (const [bytes, outcome] of [
    [51, ["waits", "refused"]],
    [50, ["sent away", "waits"]],
  ] as const) {
    const { clock, come, said } = queueOf({ waiting_bytes_max: 100 });
    come(9, 1_000);
    clock.advance(10);
    come(1, 50);
    come(2, 20);
    come(9, bytes);
    await settle();
    expect([said.get(2), said.get(9)]).toEqual([...outcome]);
  }
  const { come, said } = queueOf({ waiting_bytes_max: 100 });
  for (const [home, bytes] of [
    [1, 60],
    [2, 40],
    [3, 1],
  ] as const)
    come(home, bytes);
  expect(said.get(3)).toBe("refused");
  expect(said.get(2)).not.toBe("refused");
});

test("who came at the same time makes no room", async () => {
  const { come, said } = queueOf({ tickets_max: 2 });
  come(9, Number.MAX_SAFE_INTEGER);
  come(1);
  come(2);
  come(9);
  await settle();
  expect([said.get(2), said.get(9)]).toEqual(["waits", "refused"]);
});

test("a home that was served is at the end of the queue", async () => {
  const { clock, come, said, tickets } = queueOf({ tickets_max: 2 });
  come(9, Number.MAX_SAFE_INTEGER);
  clock.advance(10);
  come(9);
  await settle();
  tickets.get(9)?.leave();
  clock.advance(10);
  come(1);
  come(2);
  clock.advance(10);
  come(9);
  await settle();
  expect([said.get(2), said.get(9)]).toEqual(["waits", "refused"]);
});

test("a home that was sent away keeps the place that it had", async () => {
  const { clock, come, said } = queueOf({ tickets_max: 2, wait_ms_max: 100 });
  come(1);
  clock.advance(10);
  come(2);
  clock.advance(100);
  await settle();
  expect(said.get(2)).toBe("sent away");
  come(5);
  clock.advance(10);
  come(2);
  await settle();
  expect([said.get(5), said.get(2)]).toEqual(["sent away", "waits"]);
});

test("who leaves before its turn, or twice, takes nothing with it", async () => {
  const { queue } = queueOf();
  const [early, worked] = [queue.enter(1, 10), queue.enter(2, 10)];
  early.leave();
  early.leave();
  expect(queue.status()).toMatchObject({ under_way: 0, waiting: 1, waiting_bytes: 10 });
  await worked.turn();
  worked.leave();
  worked.leave();
  expect(queue.status()).toEqual({ under_way: 0, waiting: 0, waiting_bytes: 0, refused: 0 });
});

test("places are kept for 20,000 homes, and 64 MiB of bodies may wait", () => {
  expect(defaultAdmission.waiting_bytes_max).toBe(67_108_864);
  // A hundred at once, 20 ms each: a second for every 5,000 homes that wait.
  const { queue } = queueOf({ tickets_max: 0, under_way_max: 100 });
  let last: HttpError | undefined;
  for (let home = 1; home <= 20_002; home += 1)
    try {
      queue.enter(home, 1);
    } catch (thrown) {
      last = thrown as HttpError;
    }
  expect(last?.headers).toEqual({ "Retry-After": "4" });
  expect(last?.message).toContain("4");
  expect(queue.status().refused).toBe(20_002);
});
