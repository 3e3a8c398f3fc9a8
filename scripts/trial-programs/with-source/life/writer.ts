import {
  errorReceived,
  ServerWriting,
  SqliteWriter,
  type WriterCalls,
} from "../../../../src/store/sqlite/writer-calls.ts";
import type { Disk } from "./disk.ts";
import type { Process, World } from "./world.ts";

/** The writer of a server, in this thread: one request at a time, each after the time that the disk takes, and copied as between threads. */
export class SimulatedWriter extends SqliteWriter {
  readonly #of: { readonly world: World; readonly process: Process; readonly disk: Disk };
  readonly #writing = new ServerWriting();
  #last: Promise<unknown> = Promise.resolve();

  constructor(of: { world: World; process: Process; disk: Disk }) {
    super();
    this.#of = of;
  }

  ask<Call extends keyof WriterCalls>(
    call: Call,
    ...given: Parameters<WriterCalls[Call]>
  ): Promise<ReturnType<WriterCalls[Call]>> {
    const { world, process, disk } = this.#of;
    const copied = structuredClone(given);
    const done = this.#last.then(async () => {
      if (disk.slow_ms > 0) await world.pause(disk.slow_ms);
      if (!process.alive) return never();
      const response = this.#writing.answer({ id: 0, call, given: copied });
      // Who asked is gone with the machine, and learns nothing.
      if (disk.ended || !process.alive) return never();
      if ("fault" in response) throw errorReceived(response.fault);
      return structuredClone(response.value) as ReturnType<WriterCalls[Call]>;
    });
    this.#last = done.catch(() => undefined);
    return done;
  }

  async close(): Promise<void> {
    this.#writing.answer({ id: 0, call: "close", given: [] });
  }
}

export function never(): Promise<never> {
  return new Promise(() => undefined);
}
