import type { Clock } from "../../base/clock.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import {
  errorReceived,
  SqliteWriter,
  type WriterCalls,
  type WriterRequest,
  type WriterResponse,
} from "./writer-calls.ts";

/**
 * The other end of writer.ts: asks, and answers by promise. When the thread ends by itself, every waiting
 * call and every later one rejects, and `onFailure` is told once: what it was doing is then unknown, so a
 * program should end and be started again rather than try the same batch twice.
 */
export class WriterThread extends SqliteWriter {
  readonly #clock: Clock;
  readonly #onFailure: (fault: OperatorError) => void;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, WaitingCall>();
  #asked = 0;
  #failure: OperatorError | undefined;
  #closing = false;

  constructor(options: { clock: Clock; onFailure: (fault: OperatorError) => void; entry?: URL }) {
    super();
    this.#clock = options.clock;
    this.#onFailure = options.onFailure;
    // Without its ending: .ts here, .js beside the bundle that scripts/setup.sh makes of this.
    this.#worker = new Worker(options.entry ?? new URL("./writer", import.meta.url));
    this.#worker.addEventListener("message", ({ data }: MessageEvent<WriterResponse>) => this.#settle(data));
    this.#worker.addEventListener("error", ({ message }) => this.#fail(errorLine(message)));
    this.#worker.addEventListener("close", () => this.#fail("it ended by itself"));
  }

  /** Rejects with an OperatorError; never waits behind more than `waiting_max` others. */
  ask<Call extends keyof WriterCalls>(
    call: Call,
    ...given: Parameters<WriterCalls[Call]>
  ): Promise<ReturnType<WriterCalls[Call]>> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#closing) return Promise.reject(new OperatorError("the store is closed", "open it again"));
    if (this.#waiting.size >= waiting_max) return Promise.reject(tooMany);
    this.#asked += 1;
    const request: WriterRequest = { id: this.#asked, call, given };
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, { resolve: resolve as (value: unknown) => void, reject });
      this.#worker.postMessage(request);
    });
  }

  /** Lets the calls under way finish, closes the database and ends the thread; waits at most `close_max_ms`. */
  async close(): Promise<void> {
    if (this.#closing) return;
    const asked = this.ask("close");
    this.#closing = true;
    let cancel = () => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#clock.after(close_max_ms, resolve);
    });
    try {
      if (this.#failure === undefined) await Promise.race([asked, late]);
      else await asked.catch(() => undefined);
    } finally {
      cancel();
      this.#worker.terminate();
    }
  }

  #settle(response: WriterResponse): void {
    const waiting = this.#waiting.get(response.id);
    this.#waiting.delete(response.id);
    if ("fault" in response) waiting?.reject(errorReceived(response.fault));
    else waiting?.resolve(response.value);
  }

  #fail(why: string): void {
    if (this.#failure !== undefined || (this.#closing && this.#waiting.size === 0)) return;
    this.#failure = new OperatorError(
      `the thread that writes the database has stopped (${messageOf(why)})`,
      "start Lintel again; what it had acknowledged is on disk",
    );
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
    this.#worker.terminate();
    this.#onFailure(this.#failure);
  }
}

/** Bun's message of an uncaught error shows the source around it; one line of it says what went wrong. */
function errorLine(message: string): string {
  return /^\s*\w*error: (.*)$/im.exec(message)?.[1] ?? message;
}

interface WaitingCall {
  resolve(value: unknown): void;
  reject(fault: OperatorError): void;
}

const waiting_max = 256;
const close_max_ms = 10_000;
const tooMany = new OperatorError(
  `${waiting_max} changes wait for the disk already`,
  "check the disk or SD card; this change was not made",
);
