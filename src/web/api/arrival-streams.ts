import type { Clock } from "../../base/clock.ts";
import { type EventReader, eventStream, Lookout, partOf } from "../server/event-stream.ts";
import type { StreamPart } from "../server/gzip-stream.ts";
import { HttpError } from "../server/http-errors.ts";
import type { EndpointAnswer } from "./endpoint.ts";

/** The page after a cursor, as the endpoint of a series answers it to the token of a reader. @throws HttpError also where the token has ended */
type FindPage = (since: string) => Promise<EndpointAnswer>;

/**
 * Sends programs the pages of `since` as server-sent events, as readings arrive. A message has the records of one page as its data, and the cursor of that page's
 * link as its id, with which a reader continues after an interruption. So a stream leaves out and repeats nothing, as pages do, and needs no memory of its own.
 */
export class ArrivalStreams {
  readonly #clock: Clock;
  readonly #changes: () => number | undefined;
  readonly #places = new Map<EventReader, Place>();
  readonly #lookout: Lookout;

  /** @param options.changes `Store.changes`; where it is undefined every look is a new one */
  constructor(options: { clock: Clock; changes: () => number | undefined }) {
    this.#clock = options.clock;
    this.#changes = options.changes;
    this.#lookout = new Lookout({ ...options, wait_ms: () => this.#wait_ms(), look: () => this.#tellAll() });
  }

  /**
   * A stream from a cursor on, until the reader leaves or its token ends. How many there may be is the budget's to say.
   *
   * @param options.name the same for the same pages as the same token sees them: their readers share one look at the store
   * @param options.first finds the first page, within the budget of the reader
   * @throws HttpError 503 once this is stopped; what `first` throws
   */
  async stream(request: Request, options: StreamOptions): Promise<Response> {
    const { name, first, find } = options;
    const changes = this.#changes();
    const page = pageOf(await first(options.since));
    if (this.#lookout.isStopped) throw new HttpError("too_busy", { retry_s: 15 });
    const { monotonic_ms: looked_ms } = this.#clock.now();
    const response = eventStream(request, {
      clock: this.#clock,
      joined: (reader) => {
        this.#places.set(reader, { name, find, since: options.since, changes, looked_ms, hasMore: false });
        // Without a byte, the reader would not learn that the stream is open.
        if (page === undefined) reader.greet(looked_ms);
        else this.#send(reader, page, looked_ms);
      },
      left: (reader) => this.#places.delete(reader),
    });
    this.#lookout.begin();
    return response;
  }

  /** Ends all streams, and begins no other. */
  stop(): void {
    this.#lookout.stop();
    for (const reader of [...this.#places.keys()]) reader.end();
  }

  /** How many streams there are. */
  get readers(): number {
    return this.#places.size;
  }

  #wait_ms(): number | undefined {
    if (this.#places.size === 0) return undefined;
    const isBehind = this.#places.entries().some(([reader, { hasMore }]) => hasMore && reader.isReady);
    if (isBehind) return 0;
    return this.#changes() === undefined ? unknown_look_ms : look_ms;
  }

  async *#tellAll(): AsyncGenerator<void> {
    // Readers at the same place are sent the same page.
    const found = new Map<string, Promise<SentPage | undefined>>();
    for (const [reader, place] of [...this.#places]) {
      const now_ms = this.#clock.now().monotonic_ms;
      const changes = this.#changes();
      reader.keepOpen(now_ms);
      // Without a change too, because a token expires by time alone.
      const isDue =
        changes === undefined || changes !== place.changes || now_ms - place.looked_ms >= again_ms;
      if (!reader.isReady || !(isDue || place.hasMore) || !this.#places.has(reader)) continue;
      const key = `${place.name} ${place.since}`;
      const page = found.get(key) ?? place.find(place.since).then(pageOf);
      found.set(key, page);
      try {
        const sent = await page;
        Object.assign(place, { changes, looked_ms: now_ms, hasMore: false });
        if (sent !== undefined) this.#send(reader, sent, now_ms);
      } catch {
        // The reader comes again with its cursor, and then hears what is wrong.
        reader.end();
      }
      yield;
    }
  }

  #send(reader: EventReader, { part, since }: SentPage, now_ms: number): void {
    const place = this.#places.get(reader);
    if (place === undefined) return;
    // A page with fewer records than its limit may be followed by another too: one more look finds out.
    Object.assign(place, { since, hasMore: true });
    reader.send(part, now_ms);
  }
}

interface StreamOptions {
  readonly name: string;
  /** The cursor to begin behind, or what else `since` may be. */
  readonly since: string;
  readonly first: FindPage;
  readonly find: FindPage;
}

/** The pages that a reader follows, and how far it is. */
interface Place {
  readonly name: string;
  readonly find: FindPage;
  /** The cursor of the last page that it was sent. */
  since: string;
  /** State of the store before it was last asked, and when that was, monotonic. */
  changes: number | undefined;
  looked_ms: number;
  /** More may be there than it was sent. */
  hasMore: boolean;
}

/** A page as a message, and the cursor behind it. */
interface SentPage {
  readonly part: StreamPart;
  readonly since: string;
}

/** Undefined where nothing is newer. */
function pageOf({ body, next }: EndpointAnswer): SentPage | undefined {
  if (next === undefined) return undefined;
  const since = String(next["since"]);
  return { since, part: partOf(`id: ${since}\ndata: ${JSON.stringify(body)}\n\n`) };
}

/** Below a second with the time that a look takes: a reading is seen within a second. */
const look_ms = 300;
/** Where the store cannot tell whether anything has changed, and each look asks it. */
const unknown_look_ms = 800;
const again_ms = 60_000;
