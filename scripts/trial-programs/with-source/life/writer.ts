import type { Clock } from "../../../../src/base/clock.ts";
import type { Log } from "../../../../src/base/log.ts";
import type { GatewayStore } from "../../../../src/store/gateway/gateway-store.ts";
import { openGatewayStore } from "../../../../src/store/sqlite/open-store.ts";
import {
  errorReceived,
  ServerWriting,
  SqliteWriter,
  type WriterCalls,
} from "../../../../src/store/sqlite/writer-calls.ts";
import { below } from "../../../../testbed/sample.ts";
import type { Disk } from "./disk.ts";
import type { Process, World } from "./world.ts";

/** Opens the store of a gateway on a simulated disk, for one process of its machine. */
export function openStoreOf(of: {
  world: World;
  process: Process;
  disk: Disk;
  clock: Clock;
  log: Log;
  home: number;
  random: () => number;
}): Promise<GatewayStore> {
  const { world, process, disk, clock, log, home, random } = of;
  const writer = new SimulatedWriter({ world, process, disk });
  const named = () => Uint8Array.from({ length: 16 }, () => below(random, 256));
  return openGatewayStore({ directory: disk.directory, clock, log, home, writer, random: named });
}

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
