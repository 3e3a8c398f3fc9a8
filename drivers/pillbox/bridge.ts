import type { Clock, Moment } from "../../src/base/clock.ts";
import { OperatorError } from "../../src/base/errors.ts";
import { encodeFrame, FrameReader } from "../wire/hdlc.ts";
import {
  decodeReply,
  encodeRequest,
  payload_max_bytes,
  type Reply,
  type Request,
  requestType,
} from "./protocol.ts";

/** A reply, and when it arrived. */
export interface Answer<Type extends Reply["type"] = Reply["type"]> {
  readonly reply: Extract<Reply, { type: Type }>;
  readonly moment: Moment;
}

export interface AskBounds {
  /** The bridge answers within 2 s. */
  readonly timeout_ms: number;
  readonly tries_max: number;
}

export const askBounds: AskBounds = { timeout_ms: 3_000, tries_max: 3 };

/** Nobody answered a request, however often it was asked. */
export class Unanswered extends OperatorError {}

/**
 * The gateway's side of the bridge: one request at a time, each try with a tag of its own, so that a late reply to
 * an earlier try is told apart and thrown away.
 */
export class Bridge {
  readonly #options: BridgeOptions;
  readonly #reader: FrameReader;
  #tag: number;
  #moment: Moment;
  #waiting: { request: Request; tag: number; answered: (answer: Answer) => void } | undefined;

  constructor(options: BridgeOptions) {
    this.#options = options;
    this.#moment = options.clock.now();
    // A bridge that is still busy with a request from before a restart must not be taken at its word.
    this.#tag = Math.floor(this.#moment.unix_ms) & 0xff;
    this.#reader = new FrameReader({
      payload_max: payload_max_bytes,
      onPayload: (payload) => this.#reply(payload),
      onDiscarded: (what, bytes) => options.dropped(`pill box bridge: ${what}`, bytes),
    });
  }

  receive(chunk: Uint8Array, moment: Moment): void {
    this.#moment = moment;
    this.#reader.push(chunk);
  }

  /** Rejects with Unanswered, or with the reason of `signal`. Must not be called while another call waits. */
  async ask<Type extends Reply["type"]>(
    type: Type,
    request: Request,
    signal: AbortSignal,
  ): Promise<Answer<Type>> {
    const { timeout_ms, tries_max } = this.#options.bounds;
    for (let attempt = 1; attempt <= tries_max; attempt += 1) {
      const answer = await this.#try(request, signal);
      if (answer?.reply.type === type) return answer as unknown as Answer<Type>;
    }
    const whom = "mac" in request ? `pill box ${request.mac}` : "the pill box bridge";
    throw new Unanswered(
      `${whom} did not answer ${tries_max} times within ${timeout_ms / 1000} s each`,
      "check its power and its distance",
    );
  }

  /** Undefined when no reply came in time. */
  async #try(request: Request, signal: AbortSignal): Promise<Answer | undefined> {
    const { clock, write, bounds } = this.#options;
    signal.throwIfAborted();
    this.#tag = (this.#tag + 1) & 0xff;
    const { promise, resolve, reject } = Promise.withResolvers<Answer | undefined>();
    const abort = () => reject(signal.reason);
    this.#waiting = { request, tag: this.#tag, answered: resolve };
    signal.addEventListener("abort", abort, { once: true });
    const cancel = clock.after(bounds.timeout_ms, () => resolve(undefined));
    try {
      write(encodeFrame(encodeRequest(request, this.#tag))).catch(reject);
      return await promise;
    } finally {
      cancel();
      signal.removeEventListener("abort", abort);
      this.#waiting = undefined;
    }
  }

  #reply(payload: Uint8Array): void {
    const decoded = decodeReply(payload);
    const waiting = this.#waiting;
    if (decoded === undefined) this.#options.dropped("pill box bridge: frames that are no reply", 1);
    else if (
      waiting === undefined ||
      decoded.tag !== waiting.tag ||
      !answers(decoded.reply, waiting.request)
    ) {
      this.#options.dropped("pill box bridge: replies that nobody waited for", 1);
    } else waiting.answered({ reply: decoded.reply, moment: this.#moment });
  }
}

export interface BridgeOptions {
  readonly clock: Clock;
  readonly write: (bytes: Uint8Array) => Promise<void>;
  readonly dropped: (what: string, count: number) => void;
  readonly bounds: AskBounds;
}

function answers(reply: Reply, request: Request): boolean {
  if (requestType[reply.type] !== request.type) return false;
  return !("mac" in reply) || !("mac" in request) || reply.mac === request.mac;
}
