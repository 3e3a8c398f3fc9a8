import type { Clock } from "../../base/clock.ts";
import { type EventReader, eventStream, Lookout, partOf } from "../server/event-stream.ts";
import type { StreamPart } from "../server/gzip-stream.ts";
import { HttpError } from "../server/http-errors.ts";
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
  readonly #lookout: Lookout;

  /** @param options.changes `Store.changes`; where it is undefined every look is a new one */
  constructor(options: { clock: Clock; changes: () => number | undefined }) {
    const { clock, changes } = options;
    this.#clock = clock;
    this.#changes = changes;
    const wait_ms = () => (changes() === undefined ? unknown_look_ms : look_ms);
    this.#lookout = new Lookout({
      clock,
      wait_ms: () => (this.#channels.size === 0 ? undefined : wait_ms()),
      look: () => this.#tellAll(),
    });
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
    if (this.#lookout.isStopped) throw new HttpError("too_busy", { retry_s: 15 });
    const channel = this.#channels.get(name) ?? new Channel(find);
    const response = eventStream(request, {
      clock: this.#clock,
      joined: (reader) => {
        this.#channels.set(name, channel);
        channel.join(reader, { first, now_ms: this.#clock.now().monotonic_ms });
      },
      left: (reader) => {
        channel.versions.delete(reader);
        if (channel.versions.size === 0) this.#channels.delete(name);
      },
    });
    this.#lookout.begin();
    return response;
  }

  /** Ends all streams, and begins no other. */
  stop(): void {
    this.#lookout.stop();
    for (const channel of [...this.#channels.values()]) channel.end();
  }

  /** How many streams there are. */
  get readers(): number {
    return this.#channels.values().reduce((sum, { versions }) => sum + versions.size, 0);
  }

  async *#tellAll(): AsyncGenerator<void> {
    for (const channel of [...this.#channels.values()]) {
      await channel.tell(this.#changes, this.#clock.now().monotonic_ms);
      yield;
    }
  }
}

/** One page as one token sees it, and its readers. */
class Channel {
  /** Its readers, each with the version of the data that it has; 0: of none that others have. */
  readonly versions = new Map<EventReader, number>();
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
  join(reader: EventReader, { first, now_ms }: { first: Found; now_ms: number }): void {
    const text = timeless(first);
    const digest = Bun.hash.xxHash64(text);
    if (this.#digest === undefined) this.#keep(text, digest);
    this.versions.set(reader, digest === this.#digest ? this.#version : 0);
    reader.send(messageOf(first), now_ms);
  }

  end(): void {
    for (const reader of [...this.versions.keys()]) reader.end();
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
          const hadLast = this.versions.get(reader) === this.#version - 1;
          all ??= hadLast && change !== undefined ? undefined : messageOf(found);
          const part = hadLast ? (change ?? all) : all;
          if (part === undefined) continue;
          this.versions.set(reader, this.#version);
          reader.send(part, now_ms);
        }
      }
      for (const reader of [...this.versions.keys()]) reader.keepOpen(now_ms);
    } catch (thrown) {
      // The token has ended, or what the page is about: it is loaded again, and then says so. In any other case the browser comes back, and is told then.
      if (thrown instanceof HttpError && thrown.status < 500)
        for (const reader of this.versions.keys()) reader.send(ended, now_ms);
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
  #behind(): EventReader[] {
    return [...this.versions]
      .filter(([{ isReady }, version]) => version !== this.#version && isReady)
      .map(([reader]) => reader);
  }
}

/** Data as text, apart from its time. */
function timeless(found: Found): string {
  return JSON.stringify({ ...found, now_ms: 0 });
}

function messageOf(data: object): StreamPart {
  return partOf(`data: ${JSON.stringify(data)}\n\n`);
}

const decoder = new TextDecoder();
const ended = partOf("event: ended\ndata: \n\n");

const look_ms = 300;
/** Where the store cannot tell whether anything has changed. */
const unknown_look_ms = 5_000;
const again_ms = 60_000;
