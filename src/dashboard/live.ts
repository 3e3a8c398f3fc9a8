import type { Clock } from "../clock.ts";
import { messageOf } from "../errors.ts";
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

  /** @param options.changes `Store.changes`; where it is undefined every look is a new one */
  constructor(options: { clock: Clock; changes: () => number | undefined }) {
    this.#clock = options.clock;
    this.#changes = options.changes;
  }

  /** A stream of the data of a page, which goes on until the browser leaves, or the data can no longer be had. `name` is the same for the same data. */
  stream(request: Request, { name, show }: { name: string; show: Find }): Response {
    if (this.#readers() >= streams_max)
      throw new HttpError("too_busy", { retry_s: 15 }, { "Retry-After": "15" });
    const channel = this.#channels.get(name) ?? new Channel(show);
    this.#channels.set(name, channel);
    const stream = new ReadableStream<Uint8Array>({
      start: (reader) => {
        const leave = () => {
          channel.readers.delete(reader);
          if (channel.readers.size === 0) this.#channels.delete(name);
          try {
            reader.close();
          } catch {
            // The browser was the first to close it.
          }
        };
        channel.readers.set(reader, leave);
        request.signal.addEventListener("abort", leave, { once: true });
        reader.enqueue(comment);
        this.#look();
      },
      cancel: () => {
        for (const [reader, leave] of channel.readers) if (reader.desiredSize === null) leave();
      },
    });
    return new Response(stream, { headers: streamHeaders });
  }

  #readers(): number {
    return this.#channels.values().reduce((sum, { readers }) => sum + readers.size, 0);
  }

  /** Looks again and again while there is somebody to tell. */
  #look(): void {
    if (this.#cancel !== undefined || this.#channels.size === 0) return;
    const every_ms = this.#changes() === undefined ? unknown_look_ms : look_ms;
    this.#cancel = this.#clock.after(every_ms, async () => {
      await Promise.all(
        this.#channels
          .values()
          .map((channel) => channel.tell(this.#changes(), this.#clock.now().monotonic_ms)),
      );
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

  async tell(changes: number | undefined, now_ms: number): Promise<void> {
    const changed = changes === undefined || changes !== this.#changes;
    // What was silent for long becomes overdue without any change of the store.
    if (!changed && now_ms - this.#found_ms < again_ms) {
      if (now_ms - this.#sent_ms >= quiet_ms) this.#send(comment, now_ms);
      return;
    }
    [this.#changes, this.#found_ms] = [changes, now_ms];
    try {
      const found = await this.#find();
      const lasting = JSON.stringify({ ...found, now_ms: 0 });
      if (lasting === this.#last) return;
      this.#last = lasting;
      this.#send(encoder.encode(`data: ${JSON.stringify(found)}\n\n`), now_ms);
    } catch (thrown) {
      // The token has ended, or the store: the page says so, and asks again by itself.
      this.#send(encoder.encode(`event: ended\ndata: ${JSON.stringify(messageOf(thrown))}\n\n`), now_ms);
      for (const leave of [...this.readers.values()]) leave();
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

const encoder = new TextEncoder();
/** Keeps the connection, and means nothing. */
const comment = encoder.encode(": \n\n");

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
