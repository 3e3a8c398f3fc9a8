import {
  errorReceived,
  ServerWriting,
  SqliteWriter,
  type WriterCalls,
} from "../../src/store/sqlite/writer-calls.ts";
import { nightly } from "../nightly.ts";

/**
 * The writer of a server in this thread. It does what the one in a thread of its own does, and copies what passes, as threads do. Opening a
 * store takes a tenth of the time.
 */
export class WriterHere extends SqliteWriter {
  readonly #writing = new ServerWriting();

  async ask<Call extends keyof WriterCalls>(
    call: Call,
    ...given: Parameters<WriterCalls[Call]>
  ): Promise<ReturnType<WriterCalls[Call]>> {
    const response = structuredClone(this.#writing.answer(structuredClone({ id: 0, call, given })));
    if ("fault" in response) throw errorReceived(response.fault);
    return response.value as ReturnType<WriterCalls[Call]>;
  }

  async close(): Promise<void> {
    this.#writing.answer({ id: 0, call: "close", given: [] });
  }
}

/**
 * With which writer tests in this process open a store: in their own thread. Tests of the writer itself and of the program have it in a thread
 * of its own, as the program has; at night all have it so.
 */
export function writerOfTests(): { writer?: SqliteWriter } {
  return nightly ? {} : { writer: new WriterHere() };
}
