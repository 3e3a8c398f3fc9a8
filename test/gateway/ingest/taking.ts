import type { Reading } from "../../../src/domain/reading.ts";
import type { Value } from "../../../src/domain/series.ts";
import { Ingest, type IngestOptions } from "../../../src/gateway/ingest/ingest.ts";
import { keptLog, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";

/** Ingest on a real store, with a clock that the test moves; `refuse` may throw instead of the store, `disk` keep it waiting. */
export async function take(
  options: Omit<Partial<IngestOptions>, "store"> & {
    directory?: string;
    refuse?: (readings: readonly Reading[]) => void;
    disk?: () => Promise<void>;
    /** May throw instead of the store where the start reads it. */
    read?: () => void;
  } = {},
) {
  const directory = temporaryDirectory();
  const store = await openGateway(options.directory ?? directory.path);
  const clock = new SettableClock(start_ms);
  const { log, lines } = keptLog();
  const commits: Value[][] = [];
  let tries = 0;
  const under = new Set<Promise<unknown>>();
  const watch = <Result>(call: Promise<Result>): Promise<Result> => {
    under.add(call);
    call.then(
      () => under.delete(call),
      () => under.delete(call),
    );
    return call;
  };
  const append: IngestOptions["store"]["append"] = async (readings, notes) => {
    tries += 1;
    const group = readings.map(({ values }) => values["event"] ?? null);
    options.refuse?.(readings);
    await options.disk?.();
    const appended = await watch(store.append(readings, notes));
    commits.push(group);
    return appended;
  };
  const watched: IngestOptions["store"] = {
    timeKnown: () => {
      options.read?.();
      return store.timeKnown();
    },
    waiting: (limit) => store.waiting(limit),
    deviceOffset: (series, device) => store.deviceOffset(series, device),
    append,
  };
  const ingest = new Ingest({ ...options, store: watched, clock, log });
  // It has asked the same by then.
  await store.timeKnown();
  return {
    ingest,
    store,
    /** Where the store is. */
    path: options.directory ?? directory.path,
    clock,
    lines,
    /** The events of each group that the store has committed. */
    commits,
    tries: () => tries,
    /** Waits until nothing is under way in the store, and what follows from its answers has followed. */
    rest: async () => {
      await turnOfTheLoop();
      while (under.size > 0) {
        await Promise.allSettled([...under]);
        await turnOfTheLoop();
      }
    },
    async [Symbol.asyncDispose]() {
      await ingest.close();
      await store.close();
      directory[Symbol.dispose]();
    },
  };
}

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function event(number: number): Reading {
  return sensorEvent(sensor(1), start_ms + number, number);
}
