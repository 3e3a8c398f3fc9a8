import type { Clock } from "../../base/clock.ts";
import { GzipStream, StreamPart } from "./gzip-stream.ts";
import { readAcceptEncoding, streamed } from "./responses.ts";

/** A reader of a stream of server-sent events (HTML Standard §9.2). At most one message waits for a reader: who takes it slowly is sent the next one later. */
export class EventReader {
  readonly #controller: ReadableStreamDefaultController<Uint8Array>;
  readonly #gzip: GzipStream | undefined;
  readonly #left: () => void;
  #ended = false;
  #sent_ms: number;

  /** @param options.left is called once, when the stream is over, whoever ended it */
  constructor(
    controller: ReadableStreamDefaultController<Uint8Array>,
    options: { gzip: GzipStream | undefined; now_ms: number; left: () => void },
  ) {
    this.#controller = controller;
    this.#gzip = options.gzip;
    this.#left = options.left;
    this.#sent_ms = options.now_ms;
  }

  /** It has taken all that was sent. */
  get isReady(): boolean {
    return (this.#controller.desiredSize ?? 0) > 0;
  }

  /** @param now_ms monotonic */
  send(part: StreamPart, now_ms: number): void {
    try {
      this.#controller.enqueue(this.#gzip?.next(part) ?? part.bytes);
      this.#sent_ms = now_ms;
    } catch {
      // It has gone just now, and leaves by itself.
    }
  }

  /** Sends what means nothing, so that the client learns that the stream is there. */
  greet(now_ms: number): void {
    this.send(comment, now_ms);
  }

  /** Sends something on an idle connection, so that it stays open. Who accepts nothing for long has gone, or reconnects. */
  keepOpen(now_ms: number): void {
    const silent_ms = now_ms - this.#sent_ms;
    if (this.isReady && silent_ms >= quiet_ms) this.greet(now_ms);
    else if (!this.isReady && silent_ms >= stalled_ms) this.end();
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#left();
    try {
      if (this.#gzip !== undefined) this.#controller.enqueue(this.#gzip.end());
      this.#controller.close();
    } catch {
      // The client was the first to close it.
    }
  }
}

/**
 * A response of server-sent events, compressed for who takes that.
 *
 * @param options.joined is given its reader once
 * @param options.left is called once, when the stream is over
 */
export function eventStream(
  request: Request,
  options: { clock: Clock; joined: (reader: EventReader) => void; left: (reader: EventReader) => void },
): Response {
  const headers = eventStreamHeaders(request);
  // Nobody reads the body of an answer to HEAD: its stream would never end.
  if (request.method === "HEAD") return new Response(null, { headers });
  let end = () => {};
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const gzip = "Content-Encoding" in headers ? new GzipStream() : undefined;
      const now_ms = options.clock.now().monotonic_ms;
      const left = () => options.left(reader);
      const reader = new EventReader(controller, { gzip, now_ms, left });
      end = () => reader.end();
      options.joined(reader);
    },
    cancel: () => end(),
  });
  if (request.signal.aborted) end();
  request.signal.addEventListener("abort", () => end(), { once: true });
  return streamed(stream, { headers });
}

/** Looks at a store again and again, as long as somebody is to be told what is new. */
export class Lookout {
  readonly #clock: Clock;
  readonly #look: () => AsyncIterable<void>;
  readonly #waitOf: () => number | undefined;
  #cancel: (() => void) | undefined;
  /** How long the last look took. */
  #took_ms = 0;
  #stopped = false;

  /**
   * @param options.wait_ms until the next look, milliseconds; undefined while there is nobody to tell
   * @param options.look tells them. Others are served between two of its steps
   */
  constructor(options: {
    clock: Clock;
    wait_ms: () => number | undefined;
    look: () => AsyncIterable<void>;
  }) {
    this.#clock = options.clock;
    this.#look = options.look;
    this.#waitOf = options.wait_ms;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** Begins to look, unless it does so already. */
  begin(): void {
    const wait_ms = this.#waitOf();
    if (this.#cancel !== undefined || this.#stopped || wait_ms === undefined) return;
    // However many follow, at most half of the time goes to them.
    this.#cancel = this.#clock.after(Math.max(wait_ms, this.#took_ms), async () => {
      const began_ms = this.#clock.now().monotonic_ms;
      for await (const _ of this.#look()) await new Promise((resolve) => setImmediate(resolve));
      this.#took_ms = this.#clock.now().monotonic_ms - began_ms;
      this.#cancel = undefined;
      this.begin();
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }
}

/** A part of a stream of this text. */
export function partOf(text: string): StreamPart {
  return new StreamPart(encoder.encode(text));
}

function eventStreamHeaders({ headers }: Request): Record<string, string> {
  const { coding } = readAcceptEncoding(headers.get("accept-encoding") ?? undefined, ["gzip"]);
  return {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    Vary: "Accept-Encoding",
    "X-Accel-Buffering": "no",
    ...(coding && { "Content-Encoding": coding }),
  };
}

const encoder = new TextEncoder();
/** Keeps the connection, and means nothing. */
const comment = partOf(": \n\n");
/** Below the time after which an idle connection is closed. */
const quiet_ms = 15_000;
/** A reader that has not taken a message for so long is let go. */
const stalled_ms = 60_000;
