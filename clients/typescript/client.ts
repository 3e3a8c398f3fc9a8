import { type Coverage, type Device, type ErrorRecord, type ItemType, remedies } from "./answers.ts";
import { type Records, recordPaths } from "./records.ts";
import { type Kind, type Series, seriesPaths } from "./series.ts";

/**
 * A client of Lintel's interface, version 0.9. It has no dependencies and runs wherever `fetch` does: Bun, Node
 * from 22.18 on, browsers.
 *
 *     const lintel = new Lintel({ url: "https://gateway.local:8080", token });
 *     for await (const { stamp, event } of lintel.series("wirelesssensor_events", "hall-wall")) …
 *
 * Every call rejects with a `LintelError` when the server refuses, and with what `fetch` throws when it is not
 * reached.
 */
export class Lintel {
  readonly #url: string;
  readonly #token: string;
  readonly #fetch: (url: string, init: RequestInit) => Promise<Response>;

  /** @param options.fetch what to ask with; absent: the global `fetch` */
  constructor(options: {
    /** The server's address, `https://gateway.local:8080`; with or without the version, `/v0.9`. */
    url: string;
    token: string;
    fetch?: (url: string, init: RequestInit) => Promise<Response>;
  }) {
    const url = new URL(options.url);
    this.#url = `${url.origin}${url.pathname.replace(/\/+$/, "") || "/v0.9"}`;
    this.#token = options.token;
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
  }

  /** The types of item, with how many there are of each. */
  itemTypes(options: Asking = {}): Promise<ItemType[]> {
    return this.#get<ItemType[]>("/items", options);
  }

  /** The items of a type, in order of itemid. */
  items(kind: Kind, options: Asking = {}): AsyncGenerator<Records["items"], void, undefined> {
    return this.#walk(`/inventory/${encodeURIComponent(kind)}`, options);
  }

  /** One item, by its name or its itemid. */
  item(kind: Kind, itemname: string, options: Asking = {}): Promise<Records["items"]> {
    return this.#get(`/inventory/${encodeURIComponent(kind)}/${encodeURIComponent(itemname)}`, options);
  }

  /** The device of an item, and how its readings are made; the kind is one that records something. */
  device(kind: Kind, itemname: string, options: Asking = {}): Promise<Device> {
    return this.#get(`/items/${encodeURIComponent(kind)}/${encodeURIComponent(itemname)}/device`, options);
  }

  /**
   * The readings of a series of an item, newest first, from as many pages as there are: each once that was there
   * when the first was asked for, whatever arrives meanwhile.
   */
  async *series<Name extends keyof Series>(
    name: Name,
    itemname: string,
    options: SeriesOptions = {},
  ): AsyncGenerator<Series[Name], void, undefined> {
    for await (const page of this.seriesPages(name, itemname, options)) yield* page;
  }

  /** The same, a page at a time: arrays of at most `limit` readings. */
  seriesPages<Name extends keyof Series>(
    name: Name,
    itemname: string,
    options: SeriesOptions = {},
  ): AsyncGenerator<Series[Name][], void, undefined> {
    const { kind, path } = seriesPaths[name];
    return this.#pages(`/items/${kind}/${encodeURIComponent(itemname)}/${path}${windowOf(options)}`, options);
  }

  /** A series of many items, item after item, each newest first: rows of one table. Without names it has all items of its kind. */
  async *seriesOfItems<Name extends keyof Series>(
    name: Name,
    itemnames?: Iterable<string>,
    options: SeriesOptions = {},
  ): AsyncGenerator<{ itemname: string } & Series[Name], void, undefined> {
    const names = [...(itemnames ?? [])];
    if (itemnames === undefined)
      for await (const { itemname } of this.items(seriesPaths[name].kind, options)) names.push(itemname);
    for (const itemname of names)
      for await (const reading of this.series(name, itemname, options)) yield { itemname, ...reading };
  }

  /**
   * When an item was listened to and alive, newest first: where it was not `covered`, no event does not mean that
   * nothing happened. Of what lies in no stretch nobody knows anything.
   */
  coverage(
    kind: Kind,
    itemname: string,
    options: Omit<SeriesOptions, "precision"> = {},
  ): AsyncGenerator<Coverage, void, undefined> {
    return this.#walk(`/items/${kind}/${encodeURIComponent(itemname)}/coverage${windowOf(options)}`, options);
  }

  /**
   * The readings of a series of an item in the order in which they arrived, a page at a time, up to what is newest now. Each page comes with
   * the cursor behind it: kept, and handed back as `since`, it leads to what has arrived from then on, late readings too. A cursor that the
   * server does not know any more is a `LintelError` with code 41001: begin again without one.
   */
  async *arrivals<Name extends keyof Series>(
    name: Name,
    itemname: string,
    options: ArrivalOptions = {},
  ): AsyncGenerator<Arrived<Name>, void, undefined> {
    const { url, query } = this.#arrivalsAt(name, itemname, options);
    for (;;) {
      const response = await this.#ask(`${url}?${query}`, options);
      const readings = (await response.json()) as Series[Name][];
      const next = nextPage(response.headers.get("link"), url);
      if (next === undefined) return;
      const since = new URL(next).searchParams.get("since") ?? "";
      query.set("since", since);
      yield { readings, since };
    }
  }

  /**
   * The same, and then what arrives from now on, within a second, without an end: leave the loop, or abort `signal`. A stream that breaks goes
   * on where it was, once the server answers; where it does not, this throws, and the last `since` leads on.
   */
  async *follow<Name extends keyof Series>(
    name: Name,
    itemname: string,
    options: ArrivalOptions = {},
  ): AsyncGenerator<Arrived<Name>, void, undefined> {
    const { url, query } = this.#arrivalsAt(name, itemname, options);
    for (;;) {
      const response = await this.#ask(`${url}?${query}`, options, `${json}, text/event-stream`);
      for await (const { id, data } of messagesOf(response, options.signal)) {
        query.set("since", id);
        yield { readings: JSON.parse(data) as Series[Name][], since: id };
      }
      await pause(again_ms, options.signal);
    }
  }

  #arrivalsAt(name: keyof Series, itemname: string, options: ArrivalOptions) {
    const { kind, path } = seriesPaths[name];
    const url = `${this.#url}/items/${kind}/${encodeURIComponent(itemname)}/${path}`;
    const query = new URLSearchParams({ since: options.since ?? "" });
    for (const parameter of ["limit", "precision"] as const)
      if (options[parameter] !== undefined) query.set(parameter, String(options[parameter]));
    return { url, query };
  }

  /**
   * The records of a derived measure, such as `doses` or `nights`: of a home, or of several, home after home, newest first. Null is unknown, and
   * never zero. Take weights from `weight_daily`: a scale does not know who stands on it.
   */
  async *derived(
    home: number | Iterable<number>,
    name: string,
    options: Omit<SeriesOptions, "precision"> = {},
  ): AsyncGenerator<DerivedRecord, void, undefined> {
    for (const homeid of typeof home === "number" ? [home] : home) {
      const path = `/homes/${homeid}/derived/${encodeURIComponent(name)}${windowOf(options)}`;
      for await (const record of this.#walk<DerivedRecord>(path, options)) yield { ...record, homeid };
    }
  }

  /** Where the items of a home are: rooms, roles, and places in lines of curtain sensors. */
  places(home: number, options: Asking = {}): Promise<Place[]> {
    return this.#get(`/homes/${home}/places`, options);
  }

  /** The records of a list: subjects, homes, projects, studies, issues or consents. */
  records<Name extends Lists>(
    name: Name,
    options: Asking = {},
  ): AsyncGenerator<Records[Name], void, undefined> {
    return this.#walk(recordPaths[name], options);
  }

  /** The records of a list below the subject or home with this id. */
  recordsOf<Name extends OwnedLists>(
    name: Name,
    id: number,
    options: Asking = {},
  ): AsyncGenerator<Records[Name], void, undefined> {
    return this.#walk(recordPaths[name].replace("{id}", String(id)), options);
  }

  async *#walk<Element>(path: string, options: Asking): AsyncGenerator<Element, void, undefined> {
    for await (const page of this.#pages<Element>(path, options)) yield* page;
  }

  async *#pages<Element>(path: string, options: Asking): AsyncGenerator<Element[], void, undefined> {
    for (let url: string | undefined = `${this.#url}${path}`; url !== undefined; ) {
      const response = await this.#ask(url, options);
      yield (await response.json()) as Element[];
      url = nextPage(response.headers.get("link"), url);
    }
  }

  async #get<Body>(path: string, options: Asking): Promise<Body> {
    const response = await this.#ask(`${this.#url}${path}`, options);
    return (await response.json()) as Body;
  }

  async #ask(url: string, { signal }: Asking, accept = json): Promise<Response> {
    const headers = { Authorization: `bearer ${this.#token}`, Accept: accept };
    for (let tries = 1; ; tries += 1) {
      const response = await this.#fetch(url, { headers, ...(signal === undefined ? {} : { signal }) });
      if (response.ok) return response;
      const refused = await refusal(response);
      const wait_s = refused.status === 429 ? (refused.retryAfter_s ?? Infinity) : Infinity;
      if (wait_s > wait_s_max || tries === tries_max) throw refused;
      await pause(wait_s * 1000, signal);
    }
  }
}

export interface Asking {
  /** Ends the request that is under way, and with it the walk. */
  readonly signal?: AbortSignal;
}

/** Where an item of a home is. Null is not known. */
export interface Place {
  readonly homeid: number;
  readonly itemid: number;
  readonly itemname: string;
  readonly typename: string;
  readonly room: string | null;
  /** Role of the item: `front door`, `fridge`, `bed` … */
  readonly role: string | null;
  /** The line of curtain sensors that it is in, its order there from 1 on, and its metres along it. */
  readonly line: string | null;
  readonly order: number | null;
  readonly metres: number | null;
}

/** A record of a derived measure: its values by the names that docs/derived.md and the interface give them; times are unix seconds. */
export interface DerivedRecord {
  readonly homeid: number;
  readonly stamp: number;
  /** The day of the home's calendar: `2026-11-20`. */
  readonly day: string;
  /** The part of its time that was observed, 0 to 1. */
  readonly observed: number;
  /** Kinds of the notes on time that overlap its day, with spaces between. */
  readonly notes: string;
  /** Name and version of its definition: `doses/1`. */
  readonly definition: string;
  readonly [value: string]: string | number | null;
}

export interface SeriesOptions extends Asking {
  /** Readings a page, 1 to 1000. */
  readonly limit?: number;
  /** Only readings with a stamp below this, unix seconds. */
  readonly before?: number;
  /** Only readings with a stamp above this, unix seconds. */
  readonly after?: number;
  /** The unit of stamps: seconds unless said. */
  readonly precision?: "s" | "ms";
}

export interface ArrivalOptions extends Omit<SeriesOptions, "before" | "after"> {
  /** The cursor to go on from; absent: from the beginning. */
  readonly since?: string;
}

/** Readings in the order in which they arrived, and the cursor behind them. */
export interface Arrived<Name extends keyof Series> {
  readonly readings: Series[Name][];
  readonly since: string;
}

/** A refusal of the server. */
export class LintelError extends Error {
  override readonly name = "LintelError";

  /** The HTTP status. */
  readonly status: number;
  /** The number that tells errors apart: docs/errors.md lists them. Undefined where the body is not Lintel's. */
  readonly code: number | undefined;
  /** The remedy; undefined where the message says it. */
  readonly remedy: string | undefined;
  /** After how many seconds it makes sense to ask again, where the server says so. */
  readonly retryAfter_s: number | undefined;

  constructor(
    message: string,
    answer: { status: number; code: number | undefined; retryAfter_s: number | undefined },
  ) {
    const remedy = answer.code === undefined ? undefined : remedies[answer.code];
    super(remedy === undefined ? message : `${message}: ${remedy}`);
    this.status = answer.status;
    this.code = answer.code;
    this.remedy = remedy;
    this.retryAfter_s = answer.retryAfter_s;
  }
}

/** A server that has too much to do for this token says when to come back: it is asked so often, and no later than that. */
const tries_max = 6;
const wait_s_max = 60;

/** The messages of a stream with an id (HTML Standard §9.2), until it ends, breaks, or says nothing for too long. */
async function* messagesOf(
  { body }: Response,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ id: string; data: string }, void, undefined> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      // A connection that was lost without a word ends by this alone.
      const silent = setTimeout(() => reader.cancel().catch(() => {}), silent_ms_max);
      const read = await reader
        .read()
        .catch((thrown: unknown) => {
          if (signal?.aborted === true) throw thrown;
        })
        .finally(() => clearTimeout(silent));
      if (read === undefined || read.done) return;
      const parts = (text + read.value).split("\n\n");
      text = parts.pop() ?? "";
      for (const part of parts) {
        const [, id, data] = /^id: (.*)\ndata: (.*)$/.exec(part) ?? [];
        if (id !== undefined && data !== undefined) yield { id, data };
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

const json = "application/json";
/** Before a stream that has ended is asked for again. */
const again_ms = 1_000;
/** The server says something every 15 s. */
const silent_ms_max = 60_000;

function pause(pause_ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, pause_ms);
    if (signal?.aborted === true) end();
    else signal?.addEventListener("abort", end, { once: true });
  });
}

function windowOf(options: SeriesOptions): string {
  const query = new URLSearchParams();
  for (const parameter of ["limit", "before", "after", "precision"] as const)
    if (options[parameter] !== undefined) query.set(parameter, String(options[parameter]));
  return query.size === 0 ? "" : `?${query}`;
}

type OwnedLists = {
  [Name in keyof typeof recordPaths]: (typeof recordPaths)[Name] extends `${string}{id}${string}`
    ? Name
    : never;
}[keyof typeof recordPaths];

type Lists = Exclude<keyof typeof recordPaths, OwnedLists>;

async function refusal(response: Response): Promise<LintelError> {
  const text = await response.text();
  const seconds = Number.parseInt(response.headers.get("retry-after") ?? "", 10);
  const body = errorIn(text);
  return new LintelError(body?.message ?? `${response.status} ${response.statusText}`.trim(), {
    status: response.status,
    code: body?.code,
    retryAfter_s: Number.isNaN(seconds) ? undefined : seconds,
  });
}

function errorIn(text: string): ErrorRecord | undefined {
  try {
    const body = JSON.parse(text);
    return typeof body?.code === "number" && typeof body?.message === "string" ? body : undefined;
  } catch {
    return undefined;
  }
}

/** The page that a Link header names as the next. It must be on the same server: the token goes nowhere else. */
function nextPage(link: string | null, from: string): string | undefined {
  const target = /<([^>]*)>\s*;(?:[^,<]*;)?\s*rel="?next"?/i.exec(link ?? "")?.[1];
  if (target === undefined) return undefined;
  const url = new URL(target, from);
  if (url.origin !== new URL(from).origin) throw new Error(`the next page is on another server: ${target}`);
  return url.href;
}

export type { Coverage, Device, ErrorRecord, ItemType } from "./answers.ts";
export type { Records } from "./records.ts";
export type { Kind, Series } from "./series.ts";
