import type { Clock } from "../clock.ts";
import { HttpError } from "../http/errors.ts";

/** Finds the data of a page as it is now: what else changes than the time is news. */
type Find = () => Promise<{ readonly now_ms: number }>;

/**
 * Sends pages their data anew when something has changed, as server-sent events (HTML Standard §9.2). Whoever looks at the same page with the same token shares one
 * look at the store, and what is the same as before is not sent.
 */
export class Live {
  readonly #clock: Clock;
  readonly #changes: () => number | undefined;
  readonly #channels = new Map<string, Channel>();
  #cancel: (() => void) | undefined;
  #stopped = false;

  /** @param options.changes `Store.changes`; where it is undefined every look is a new one */
  constructor(options: { clock: Clock; changes: () => number | undefined }) {
    this.#clock = options.clock;
    this.#changes = options.changes;
  }

  /**
   * A stream of the data of a page, at once and then with each change, until the browser leaves or the data can no longer be had. `name` is the same for the
   * same data.
   *
   * @throws HttpError 503 where too many follow pages; what `find` throws
   */
  async stream(request: Request, { name, find }: { name: string; find: Find }): Promise<Response> {
    // Nobody reads the body of an answer to HEAD: its stream would never end.
    if (request.method === "HEAD") return new Response(null, { headers: streamHeaders });
    this.#requireRoom();
    const first = messageOf(await find());
    this.#requireRoom();
    const channel = this.#channels.get(name) ?? new Channel(find);
    let leave = () => {};
    const stream = new ReadableStream<Uint8Array>({
      start: (reader) => {
        leave = () => {
          if (!channel.readers.delete(reader)) return;
          if (channel.readers.size === 0) this.#channels.delete(name);
          try {
            reader.close();
          } catch {
            // The browser was the first to close it.
          }
        };
        this.#channels.set(name, channel);
        channel.join(reader, leave);
        reader.enqueue(first);
      },
      cancel: () => leave(),
    });
    if (request.signal.aborted) leave();
    request.signal.addEventListener("abort", () => leave(), { once: true });
    this.#look();
    return new Response(stream, { headers: streamHeaders });
  }

  /** Ends all streams, and begins no other. */
  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
    for (const channel of [...this.#channels.values()]) channel.end();
  }

  #requireRoom(): void {
    const count = this.#channels.values().reduce((sum, { readers }) => sum + readers.size, 0);
    if (this.#stopped || count >= streams_max)
      throw new HttpError("too_busy", { retry_s: 15 }, { "Retry-After": "15" });
  }

  /** Looks again and again while there is somebody to tell. */
  #look(): void {
    if (this.#cancel !== undefined || this.#stopped || this.#channels.size === 0) return;
    const every_ms = this.#changes() === undefined ? unknown_look_ms : look_ms;
    this.#cancel = this.#clock.after(every_ms, async () => {
      // One after the other: who looks at pages never keeps the store from others with more than one of them.
      for (const channel of [...this.#channels.values()])
        await channel.tell(this.#changes, this.#clock.now().monotonic_ms);
      this.#cancel = undefined;
      this.#look();
    });
  }
}

/** One page as one token sees it, and who looks at it. */
class Channel {
  readonly readers = new Map<ReadableStreamDefaultController<Uint8Array>, () => void>();
  readonly #find: Find;
  #changes: number | undefined;
  #found_ms = Number.NEGATIVE_INFINITY;
  #sent_ms = Number.NEGATIVE_INFINITY;
  #last = "";

  constructor(find: Find) {
    this.#find = find;
  }

  join(reader: ReadableStreamDefaultController<Uint8Array>, leave: () => void): void {
    this.readers.set(reader, leave);
    // It was just sent what may be newer than what the others were.
    this.#last = "";
  }

  end(): void {
    for (const leave of [...this.readers.values()]) leave();
  }

  async tell(changesOf: () => number | undefined, now_ms: number): Promise<void> {
    try {
      const changes = changesOf();
      const changed = changes === undefined || changes !== this.#changes;
      // What was silent for long becomes overdue without any change of the store.
      if (changed || now_ms - this.#found_ms >= again_ms) {
        [this.#changes, this.#found_ms] = [changes, now_ms];
        const found = await this.#find();
        const lasting = JSON.stringify({ ...found, now_ms: 0 });
        if (lasting !== this.#last) this.#send(messageOf(found), now_ms);
        this.#last = lasting;
      }
      if (now_ms - this.#sent_ms >= quiet_ms) this.#send(comment, now_ms);
    } catch (thrown) {
      // The token has ended, or what the page is about: it is loaded again, and then says so. In any other case the browser comes back, and is told then.
      if (thrown instanceof HttpError && thrown.status < 500) this.#send(ended, now_ms);
      this.end();
    }
  }

  #send(bytes: Uint8Array, now_ms: number): void {
    this.#sent_ms = now_ms;
    for (const [reader, leave] of [...this.readers]) {
      // Who does not take what is sent gets the next page by coming back.
      if (reader.desiredSize === null || reader.desiredSize < -waiting_max) leave();
      else reader.enqueue(bytes);
    }
  }
}

function messageOf(data: object): Uint8Array {
  return encoder.encode(`data: ${JSON.stringify(data)}\n\n`);
}

const encoder = new TextEncoder();
/** Keeps the connection, and means nothing. */
const comment = encoder.encode(": \n\n");
const ended = encoder.encode("event: ended\ndata: \n\n");

const streamHeaders = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no",
};

const look_ms = 300;
/** Where the store cannot tell whether anything has changed. */
const unknown_look_ms = 5_000;
const again_ms = 60_000;
/** Below the time after which an idle connection is closed. */
const quiet_ms = 15_000;
/** Streams at once, of all readers together. */
const streams_max = 100;
/** Messages that may wait for one reader. */
const waiting_max = 8;
