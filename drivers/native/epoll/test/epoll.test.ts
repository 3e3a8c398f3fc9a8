import { afterEach, expect, test } from "bun:test";
import { closeSync, constants, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Epoll, type EpollCallback } from "../index.ts";
import { Fifo } from "./fifo.ts";

const fifos: Fifo[] = [];
const epolls: Epoll[] = [];
afterEach(() => {
  for (const epoll of epolls.splice(0)) if (!epoll.closed) epoll.close();
  for (const fifo of fifos.splice(0)) fifo.close();
});

function newFifo(): Fifo {
  const fifo = new Fifo();
  fifos.push(fifo);
  return fifo;
}

function newEpoll(callback: EpollCallback): Epoll {
  const epoll = new Epoll(callback);
  epolls.push(epoll);
  return epoll;
}

/** Events as they come, each to be waited for. */
function eventsOf(handle: () => void = () => {}) {
  const heard: Parameters<EpollCallback>[] = [];
  let wake = () => {};
  const epoll = newEpoll((...event) => {
    heard.push(event);
    handle();
    wake();
  });
  async function reach(count: number) {
    while (heard.length < count) await new Promise<void>((resolve) => (wake = resolve));
  }
  return { epoll, heard, reach };
}

/** Lets everything that is under way arrive: an event that another descriptor caused afterwards. */
async function settled(): Promise<void> {
  const fifo = newFifo();
  const { epoll, reach } = eventsOf(() => fifo.read());
  epoll.add(fifo.reader, Epoll.EPOLLIN);
  for (let turn = 1; turn <= 20; turn++) {
    fifo.write(".");
    await reach(turn);
  }
  epoll.close();
}

test("a readable descriptor calls back with itself and the event", async () => {
  const fifo = newFifo();
  const { epoll, heard, reach } = eventsOf(() => fifo.read());
  expect(epoll.add(fifo.reader, Epoll.EPOLLIN)).toBe(epoll);
  fifo.write("x");
  await reach(1);
  expect(heard).toEqual([[null, fifo.reader, Epoll.EPOLLIN]]);
});

test("a descriptor that stays ready calls back once for each turn, never before the last was handled", async () => {
  const fifo = newFifo();
  let inside = 0;
  const text: string[] = [];
  const { epoll, reach } = eventsOf(() => {
    expect(inside++).toBe(0);
    text.push(fifo.read());
    inside--;
  });
  epoll.add(fifo.reader, Epoll.EPOLLIN);
  fifo.write("abcdefgh");
  await reach(8);
  await settled();
  expect(text.join("")).toBe("abcdefgh");
});

test("with EPOLLONESHOT there is one event until modify arms it again", async () => {
  const fifo = newFifo();
  const { epoll, heard, reach } = eventsOf();
  epoll.add(fifo.reader, Epoll.EPOLLIN | Epoll.EPOLLONESHOT);
  fifo.write("x");
  await reach(1);
  await settled();
  expect(heard.length).toBe(1);
  epoll.modify(fifo.reader, Epoll.EPOLLIN | Epoll.EPOLLONESHOT);
  await reach(2);
  await settled();
  expect(heard.length).toBe(2);
});

test("with EPOLLET there is one event for each change, read or not", async () => {
  const fifo = newFifo();
  const { epoll, heard, reach } = eventsOf();
  epoll.add(fifo.reader, Epoll.EPOLLIN | Epoll.EPOLLET);
  fifo.write("x");
  await reach(1);
  await settled();
  expect(heard.length).toBe(1);
  fifo.write("y");
  await reach(2);
});

test("a change while the callback runs is called back afterwards", async () => {
  const fifo = newFifo();
  let first = true;
  const { epoll, reach } = eventsOf(() => {
    fifo.read();
    if (first) fifo.write("y");
    first = false;
  });
  epoll.add(fifo.reader, Epoll.EPOLLIN | Epoll.EPOLLET);
  fifo.write("x");
  await reach(2);
});

test("hang-up and writability are events too", async () => {
  const fifo = newFifo();
  const writable = eventsOf();
  writable.epoll.add(fifo.writer, Epoll.EPOLLOUT | Epoll.EPOLLONESHOT);
  await writable.reach(1);
  expect(writable.heard[0]).toEqual([null, fifo.writer, Epoll.EPOLLOUT]);
  writable.epoll.close();

  const { epoll, heard, reach } = eventsOf();
  epoll.add(fifo.reader, Epoll.EPOLLONESHOT);
  closeSync(fifo.writer);
  await reach(1);
  expect(heard[0]).toEqual([null, fifo.reader, Epoll.EPOLLHUP]);
});

test("several Epolls on several descriptors each hear their own", async () => {
  const wires = Array.from({ length: 8 }, () => {
    const fifo = newFifo();
    const { epoll, heard, reach } = eventsOf(() => fifo.read());
    epoll.add(fifo.reader, Epoll.EPOLLIN);
    return { fifo, heard, reach };
  });
  for (let round = 1; round <= 25; round++) {
    for (const { fifo } of wires) fifo.write("x");
    await Promise.all(wires.map(({ reach }) => reach(round)));
  }
  for (const { fifo, heard } of wires) {
    expect(heard.length).toBe(25);
    expect(heard.every(([, fd]) => fd === fifo.reader)).toBe(true);
  }
});

test("what was removed is not called back, though its event was under way", async () => {
  const fifo = newFifo();
  const { epoll, heard } = eventsOf();
  for (let round = 0; round < 50; round++) {
    epoll.add(fifo.reader, Epoll.EPOLLIN);
    if (round === 0) fifo.write("x");
    epoll.remove(fifo.reader);
  }
  await settled();
  expect(heard).toEqual([]);
});

test("an event that was under way when its descriptor changed hands is for nobody", async () => {
  const fifo = newFifo();
  const before = eventsOf();
  const after = eventsOf();
  before.epoll.add(fifo.reader, Epoll.EPOLLIN);
  fifo.write("x");
  Bun.sleepSync(50); // the thread hands the event over, and this one isn't there to take it
  before.epoll.remove(fifo.reader);
  fifo.read();
  after.epoll.add(fifo.reader, Epoll.EPOLLIN);
  await settled();
  expect(before.heard).toEqual([]);
  expect(after.heard).toEqual([]);
});

test("a callback that throws is not the end of the events", async () => {
  const uncaught = Bun.spawn([process.execPath, join(import.meta.dir, "throwing.ts")], {
    stdout: "pipe",
    stderr: "inherit",
  });
  expect(await new Response(uncaught.stdout).text()).toBe("caught first\nheard second\n");
  expect(await uncaught.exited).toBe(0);
});

test("what can't be watched says why", () => {
  const fifo = newFifo();
  const epoll = newEpoll(() => {});
  const file = openSync(import.meta.path, "r");
  expect(() => epoll.add(file, Epoll.EPOLLIN)).toThrow("EPERM");
  closeSync(file);
  expect(() => epoll.add(file, Epoll.EPOLLIN)).toThrow("EBADF");
  epoll.add(fifo.reader, Epoll.EPOLLIN);
  expect(() => epoll.add(fifo.reader, Epoll.EPOLLIN)).toThrow("EEXIST");
  expect(() => epoll.modify(fifo.writer, Epoll.EPOLLIN)).toThrow("ENOENT");
  expect(() => epoll.remove(fifo.writer)).toThrow("ENOENT");
  expect(() => epoll.add(1.5, Epoll.EPOLLIN)).toThrow("incorrect arguments");
  // @ts-expect-error what a program without types may do
  expect(() => epoll.add(fifo.reader)).toThrow("incorrect arguments");
  // @ts-expect-error what a program without types may do
  expect(() => new Epoll()).toThrow("must be a callback");
});

test("a closed Epoll says so, and can't be used", () => {
  const fifo = newFifo();
  const epoll = newEpoll(() => {}).add(fifo.reader, Epoll.EPOLLIN);
  expect(epoll.closed).toBe(false);
  expect(epoll.close()).toBeNull();
  expect(epoll.closed).toBe(true);
  for (const call of [() => epoll.add(0, 1), () => epoll.modify(0, 1), () => epoll.remove(0)]) {
    expect(call).toThrow("after calling close");
  }
  expect(() => epoll.close()).toThrow("more than once");
});

test("a descriptor that was closed and opened again under the same number can be watched anew", async () => {
  const fifo = newFifo();
  const { epoll, heard, reach } = eventsOf(() => fifo.read());
  epoll.add(fifo.reader, Epoll.EPOLLIN);
  closeSync(fifo.reader);
  // The lowest free number is given out first: this one comes, after those that are lower.
  const lower: number[] = [];
  for (let fd = reopened(fifo); fd !== fifo.reader; fd = reopened(fifo)) lower.push(fd);
  for (const fd of lower) closeSync(fd);
  epoll.add(fifo.reader, Epoll.EPOLLIN);
  fifo.write("x");
  await reach(1);
  expect(heard.length).toBe(1);
});

function reopened({ path }: Fifo): number {
  return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
}

test("loading it costs neither thread nor descriptor, and waiting costs no processor time", async () => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "idle.ts")], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const { before, loaded, watching, waited_us } = JSON.parse(await new Response(child.stdout).text());
  expect(loaded).toEqual(before);
  expect(watching.workers).toBe(before.workers + 1);
  // One of ours, and one of the worker's own event loop.
  expect(watching.epolls).toBeGreaterThan(before.epolls);
  // Of 300,000 µs that it waited; a loop that asks again and again takes them all.
  expect(waited_us).toBeLessThan(100_000);
  expect(await child.exited).toBe(0);
});

test("onoff and others get it by the name epoll", () => {
  expect(require("epoll").Epoll.EPOLLPRI).toBe(2);
  expect(readFileSync(require.resolve("epoll"), "utf8")).toContain("class Epoll");
  expect(readdirSync(join(import.meta.dir, ".."))).toContain("thread.ts");
});
