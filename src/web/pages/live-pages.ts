import type { Clock } from "../../base/clock.ts";
import { GzipStream, StreamPart } from "../server/gzip-stream.ts";
import { HttpError } from "../server/http-errors.ts";
import { readAcceptEncoding, streamed } from "../server/responses.ts";
import { differenceOf } from "./live-difference.ts";

/** Finds the data of a page as it is now: what else changes than the time is news. */
type Find = () => Promise<Found>;
type Found = { readonly now_ms: number };

/**
 * Sends pages what has changed of their data, as server-sent events (HTML Standard §9.2): all of it to who comes, then differences (`live-difference.ts`). Whoever looks at
 * the same page with the same token shares one look at the store.
 */
export class Live {
  readonly #clock: Clock;
  readonly #changes: () => number | undefined;
  readonly #channels = new Map<string, Channel>();
  #cancel: (() => void) | undefined;
  /** How long the last look at all pages took. */
  #took_ms = 0;
  #stopped = false;

  /** @param options.changes `Store.changes`; where it is undefined every look is a new one */
  constructor(options: { clock: Clock; changes: () => number | undefined }) {
    this.#clock = options.clock;
    this.#changes = options.changes;
  }

  /**
   * A stream of the data of a page, at once, and then of each change, until the browser leaves or the data can no longer be had. `name` is the same for the
   * same data as the same token sees it. How many streams there may be is the budget's to say (`src/web/server/request-costs.ts`).
   *
   * @param options.first finds the data for this reader
   * @throws HttpError 503 once this is stopped; what `first` throws
   */
  async stream(request: Request, options: { name: string; first: Find; find: Find }): Promise<Response> {
    const { name, find } = options;
    const first = await options.first();
    // Nobody reads the body of an answer to HEAD: its stream would never end. It is refused as GET is.
    const headers = streamHeaders(request);
    if (request.method === "HEAD") return new Response(null, { headers });
    if (this.#stopped) throw new HttpError("too_busy", { retry_s: 15 });
    const channel = this.#channels.get(name) ?? new Channel(find);
    let leave = () => {};
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const reader = new Reader(controller, "Content-Encoding" in headers ? new GzipStream() : undefined);
        leave = () => {
          if (!channel.readers.delete(reader)) return;
          if (channel.readers.size === 0) this.#channels.delete(name);
          reader.close();
        };
        this.#channels.set(name, channel);
        channel.join(reader, { leave, first, now_ms: this.#clock.now().monotonic_ms });
      },
      cancel: () => leave(),
    });
    if (request.signal.aborted) leave();
    request.signal.addEventListener("abort", () => leave(), { once: true });
    this.#look();
    return streamed(stream, { headers });
  }

  /** Ends all streams, and begins no other. */
  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
    for (const channel of [...this.#channels.values()]) channel.end();
  }

  /** How many streams there are. */
  get readers(): number {
    return readersOf(this.#channels.values());
  }

  /** Looks again and again while there is somebody to tell. */
  #look(): void {
    if (this.#cancel !== undefined || this.#stopped || this.#channels.size === 0) return;
    const every_ms = this.#changes() === undefined ? unknown_look_ms : look_ms;
    // However many follow pages, at most half of the time goes to them.
    this.#cancel = this.#clock.after(Math.max(every_ms, this.#took_ms), async () => {
      const began_ms = this.#clock.now().monotonic_ms;
      // One after the other, and others are served in between.
      for (const channel of [...this.#channels.values()]) {
        await channel.tell(this.#changes, this.#clock.now().monotonic_ms);
        await new Promise((resolve) => setImmediate(resolve));
      }
      this.#took_ms = this.#clock.now().monotonic_ms - began_ms;
      this.#cancel = undefined;
      this.#look();
    });
  }
}

/** One page as one token sees it, and its readers. */
class Channel {
  /** With what to do when one leaves. */
  readonly readers = new Map<Reader, () => void>();
  readonly #find: Find;
  /** State of the store when it was last asked, and when that was. */
  #changes: number | undefined;
  #found_ms = Number.NEGATIVE_INFINITY;
  /** The data as it was then, compressed: it waits for however long nothing happens. */
  #found = new Uint8Array();
  #digest: bigint | undefined;
  /** Counts what the data was: a reader that has the one before the present is sent the difference. */
  #version = 1;

  constructor(find: Find) {
    this.#find = find;
  }

  /** @param options.first the data that was found for this reader, which may be newer than what the others were sent, or older */
  join(reader: Reader, options: { leave: () => void; first: Found; now_ms: number }): void {
    const { leave, first, now_ms } = options;
    this.readers.set(reader, leave);
    const text = timeless(first);
    const digest = Bun.hash.xxHash64(text);
    if (this.#digest === undefined) this.#keep(text, digest);
    reader.send(messageOf(first), now_ms, digest === this.#digest ? this.#version : 0);
  }

  end(): void {
    for (const leave of [...this.readers.values()]) leave();
  }

  /** Sends the present data to readers that do not have it. */
  async tell(changesOf: () => number | undefined, now_ms: number): Promise<void> {
    try {
      const changes = changesOf();
      const changed = changes === undefined || changes !== this.#changes;
      // What was silent for long becomes overdue without any change of the store.
      if (changed || now_ms - this.#found_ms >= again_ms || this.#behind().length > 0) {
        [this.#changes, this.#found_ms] = [changes, now_ms];
        const found = await this.#find();
        const change = this.#changeTo(found);
        let all: StreamPart | undefined;
        for (const reader of this.#behind()) {
          const hadLast = reader.version === this.#version - 1;
          all ??= hadLast && change !== undefined ? undefined : messageOf(found);
          const part = hadLast ? (change ?? all) : all;
          if (part !== undefined) reader.send(part, now_ms, this.#version);
        }
      }
      this.#keepOpen(now_ms);
    } catch (thrown) {
      // The token has ended, or what the page is about: it is loaded again, and then says so. In any other case the browser comes back, and is told then.
      if (thrown instanceof HttpError && thrown.status < 500)
        for (const reader of this.readers.keys()) reader.send(ended, now_ms);
      this.end();
    }
  }

  /** Takes in the data as it is now. @returns what tells readers that had it as it was before; undefined where it is the same */
  #changeTo(found: Found): StreamPart | undefined {
    const text = timeless(found);
    const digest = Bun.hash.xxHash64(text);
    if (digest === this.#digest) return undefined;
    const before = JSON.parse(decoder.decode(Bun.zstdDecompressSync(this.#found)));
    const change = differenceOf(before, { ...JSON.parse(text), now_ms: found.now_ms });
    this.#keep(text, digest);
    this.#version += 1;
    return partOf(`event: changed\ndata: ${JSON.stringify(change)}\n\n`);
  }

  #keep(text: string, digest: bigint): void {
    this.#found = Bun.zstdCompressSync(text, { level: 1 }) as Uint8Array<ArrayBuffer>;
    this.#digest = digest;
  }

  /** Readers that lack the newest data, and have accepted everything sent so far. */
  #behind(): Reader[] {
    return [...this.readers.keys()].filter(({ version, isReady }) => version !== this.#version && isReady);
  }

  /** Sends something to idle connections, so that they stay open. A browser that accepts nothing for long has gone, or reconnects. */
  #keepOpen(now_ms: number): void {
    for (const [reader, leave] of [...this.readers]) {
      const silent_ms = now_ms - reader.sent_ms;
      if (reader.isReady && silent_ms >= quiet_ms) reader.send(comment, now_ms);
      else if (!reader.isReady && silent_ms >= stalled_ms) leave();
    }
  }
}

/** One browser. At most one message waits for it: a slow browser gets the data of the moment when it can accept them, and nothing in between. */
class Reader {
  readonly #controller: ReadableStreamDefaultController<Uint8Array>;
  readonly #gzip: GzipStream | undefined;
  /** Of the data that it has; 0: of none that others have. */
  version = 0;
  /** When it was last sent something, monotonic. */
  sent_ms = 0;

  constructor(controller: ReadableStreamDefaultController<Uint8Array>, gzip: GzipStream | undefined) {
    this.#controller = controller;
    this.#gzip = gzip;
  }

  /** It has taken all that was sent. */
  get isReady(): boolean {
    return (this.#controller.desiredSize ?? 0) > 0;
  }

  send(part: StreamPart, now_ms: number, version = this.version): void {
    try {
      this.#controller.enqueue(this.#gzip?.next(part) ?? part.bytes);
      [this.version, this.sent_ms] = [version, now_ms];
    } catch {
      // It has gone just now, and leaves by itself.
    }
  }

  close(): void {
    try {
      if (this.#gzip !== undefined) this.#controller.enqueue(this.#gzip.end());
      this.#controller.close();
    } catch {
      // The browser was the first to close it.
    }
  }
}

/** Data as text, apart from its time. */
function timeless(found: Found): string {
  return JSON.stringify({ ...found, now_ms: 0 });
}

function messageOf(data: object): StreamPart {
  return partOf(`data: ${JSON.stringify(data)}\n\n`);
}

function partOf(text: string): StreamPart {
  return new StreamPart(encoder.encode(text));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** Keeps the connection, and means nothing. */
const comment = partOf(": \n\n");
const ended = partOf("event: ended\ndata: \n\n");

function streamHeaders({ headers }: Request): Record<string, string> {
  const { coding } = readAcceptEncoding(headers.get("accept-encoding") ?? undefined, ["gzip"]);
  return {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    Vary: "Accept-Encoding",
    "X-Accel-Buffering": "no",
    ...(coding && { "Content-Encoding": coding }),
  };
}

const look_ms = 300;
/** Where the store cannot tell whether anything has changed. */
const unknown_look_ms = 5_000;
const again_ms = 60_000;
/** Below the time after which an idle connection is closed. */
const quiet_ms = 15_000;
function readersOf(channels: IteratorObject<Channel>): number {
  return channels.reduce((sum, { readers }) => sum + readers.size, 0);
}
/** A reader that has not taken a message for so long is let go. */
const stalled_ms = 60_000;
