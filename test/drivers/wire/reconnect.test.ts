import { expect, test } from "bun:test";
import { Reconnect, type RetryBounds, type Session } from "../../../drivers/wire/reconnect.ts";
import { type Clock, clockQuality } from "../../../src/base/clock.ts";
import { OperatorError } from "../../../src/base/errors.ts";
import type { Log } from "../../../src/base/log.ts";

/** A clock whose waits are over at once, in the order of their length; it notes them. */
class HastyClock implements Clock {
  readonly boot = "one";
  #now_ms = 0;
  readonly waits: number[] = [];
  readonly #pending = new Set<object>();

  now() {
    return { unix_ms: this.#now_ms, monotonic_ms: this.#now_ms, quality: clockQuality.synchronised };
  }

  after(delay_ms: number, action: () => void): () => void {
    // Bounds are for what hangs; only the waits between attempts pass here.
    if (delay_ms >= hang_ms) return () => {};
    const timer = {};
    this.#pending.add(timer);
    this.waits.push(delay_ms);
    queueMicrotask(() => {
      if (!this.#pending.delete(timer)) return;
      this.#now_ms += delay_ms;
      action();
    });
    return () => this.#pending.delete(timer);
  }

  pass(ms: number): void {
    this.#now_ms += ms;
  }
}

const hang_ms = 1_000_000;
const bounds: RetryBounds = {
  least_ms: 1_000,
  most_ms: 30_000,
  open_max_ms: hang_ms,
  close_max_ms: hang_ms,
  stop_max_ms: hang_ms,
};

function recorder(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const put = (level: string) => (message: string) => lines.push(`${level} ${message}`);
  const log: Log = {
    debug: () => {},
    info: put("info"),
    warn: put("warn"),
    error: put("error"),
    named: () => log,
  };
  return { log, lines };
}

/** Opens as the script says, one entry an attempt: an error fails it, a session is made. Then it hangs. */
function scripted(script: readonly (OperatorError | (() => Session))[]) {
  const clock = new HastyClock();
  const { log, lines } = recorder();
  let attempts = 0;
  const { promise: exhausted, resolve } = Promise.withResolvers<void>();
  const connection = new Reconnect({
    clock,
    log,
    target: "the stick",
    silent: new OperatorError("the stick is silent", "wake it"),
    bounds,
    open: async (signal) => {
      const step = script[attempts];
      attempts += 1;
      if (step instanceof OperatorError) throw step;
      if (step !== undefined) return step();
      resolve();
      return new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(new Error("given up"))),
      );
    },
  });
  return { connection, clock, lines, exhausted, attempts: () => attempts };
}

const missing = new OperatorError("the stick is missing", "plug it in");

function session(options: { lasts?: (end: () => void) => void; close?: () => Promise<void> } = {}): Session {
  const ended = new Promise<OperatorError>((resolve) => {
    options.lasts?.(() => resolve(new OperatorError("the stick was pulled", "plug it in")));
  });
  return { detail: "stick 1", ended, close: options.close ?? (async () => {}) };
}

test("attempts are further and further apart, up to the longest wait", async () => {
  const { connection, clock, exhausted } = scripted(Array(8).fill(missing));
  connection.start();
  await exhausted;
  expect(clock.waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  await connection.stop();
});

test("the same failure is one line, another is another, and the recovery is one", async () => {
  const other = new OperatorError("the stick is held", "let go");
  const { connection, lines } = scripted([missing, missing, missing, other, other, () => session()]);
  connection.start();
  while (connection.status().state !== "listening") await Promise.resolve();
  expect(lines).toEqual([
    "warn the stick is missing: plug it in (trying again by itself)",
    "warn the stick is held: let go (trying again by itself)",
    "info stick 1: works again",
  ]);
  expect(connection.status()).toMatchObject({ state: "listening", detail: "stick 1" });
  await connection.stop();
  expect(connection.status()).toMatchObject({ state: "stopped", detail: "the stick" });
});

test("a connection that ends is closed and opened again; only one that lasted starts over with short waits", async () => {
  let closed = 0;
  const close = async () => {
    closed += 1;
  };
  const short = () => session({ lasts: queueMicrotask, close });
  const lasting = (ms: number) => () =>
    session({
      lasts: (end) =>
        setImmediate(() => {
          clock.pass(ms);
          end();
        }),
      close,
    });
  const { most_ms } = bounds;
  const { connection, clock, exhausted } = scripted([
    ...[missing, missing, short, lasting(most_ms), lasting(most_ms + 1), missing],
  ]);
  connection.start();
  await exhausted;
  expect(closed).toBe(3);
  expect(clock.waits).toEqual([1_000, 2_000, 4_000, 8_000, 1_000, 2_000]);
  await connection.stop();
});

test("stop during an attempt gives the attempt up, and during a connection closes it", async () => {
  const during = scripted([]);
  during.connection.start();
  await during.exhausted;
  await during.connection.stop();
  expect(during.attempts()).toBe(1);

  let closed = false;
  const close = async () => {
    closed = true;
  };
  const open = scripted([() => session({ close })]);
  open.connection.start();
  while (open.connection.status().state !== "listening") await Promise.resolve();
  await open.connection.stop();
  expect(closed).toBe(true);
  expect(open.lines).toEqual(["info stick 1"]);
});

test("a wait is ended on demand, and a demand during an attempt makes the next one follow at once", async () => {
  const { log } = recorder();
  const opens: PromiseWithResolvers<Session>[] = [];
  // No wait is over on this clock unless the test says so.
  let endWait = () => {};
  const clock: Clock = {
    boot: "one",
    now: () => ({ unix_ms: 0, monotonic_ms: 0, quality: clockQuality.synchronised }),
    after: (delay_ms, action) => {
      if (delay_ms < hang_ms) endWait = action;
      return () => {};
    },
  };
  const open = () => {
    const next = Promise.withResolvers<Session>();
    opens.push(next);
    return next.promise;
  };
  const silent = new OperatorError("the stick is silent", "wake it");
  const connection = new Reconnect({ clock, log, target: "the stick", silent, bounds, open });
  const until = async (attempts: number, state: string) => {
    while (opens.length !== attempts || connection.status().state !== state)
      await new Promise((resolve) => setImmediate(resolve));
  };
  connection.start();
  await until(1, "starting");
  opens[0]?.reject(missing);
  await until(1, "retrying");
  connection.retry();
  await until(2, "starting");
  opens[1]?.reject(missing);
  await until(2, "retrying");
  endWait();
  await until(3, "retrying");
  connection.retry();
  opens[2]?.reject(missing);
  await until(4, "starting");
  opens[3]?.resolve(session({ close: async () => {} }));
  await until(4, "listening");
  connection.retry();
  expect(connection.status().state).toBe("listening");
  await connection.stop();
});

test("an attempt that takes too long is given up, and what it still opens is closed", async () => {
  const { log } = recorder();
  const { promise: late, resolve: finish } = Promise.withResolvers<Session>();
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const due: (() => void)[] = [];
  const clock: Clock = {
    boot: "one",
    now: () => ({ unix_ms: 0, monotonic_ms: 0, quality: clockQuality.synchronised }),
    after: (_, action) => {
      due.push(action);
      return () => due.splice(due.indexOf(action), 1);
    },
  };
  const silent = new OperatorError("the stick is silent", "wake it");
  const connection = new Reconnect({ clock, log, target: "the stick", silent, bounds, open: () => late });
  connection.start();
  // First the bound on opening, then the one on giving up.
  while (connection.status().state === "starting") {
    due.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(connection.status()).toMatchObject({ state: "retrying", problem: "the stick is silent: wake it" });
  finish(session({ close: async () => close() }));
  await closed;
  const stopped = connection.stop();
  for (const action of due.splice(0)) action();
  await stopped;
});
