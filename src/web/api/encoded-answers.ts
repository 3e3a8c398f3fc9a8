import { HttpError } from "../server/http-errors.ts";
import { decodeQuery, queryIn } from "../server/parameters.ts";
import {
  type Acceptance,
  type Coding,
  encoders,
  large_bytes,
  namesTag,
  readAcceptEncoding,
  sent,
  streamed,
} from "../server/responses.ts";
import { type EndpointAnswer, JsonList } from "./endpoint.ts";

/** An answer as it is sent: its text in bytes, and compressed once that has been asked for. */
export class EncodedAnswer {
  readonly next: EndpointAnswer["next"];
  readonly #plain: Uint8Array<ArrayBuffer>;
  readonly #coded = new Map<Coding, Uint8Array<ArrayBuffer>>();
  /** An entity tag of 128 bits. Weak, because one tag stands for every coding of it (RFC 9110 §8.8.1). */
  readonly etag: string;

  /** @param mark a text that is the same only while the answer is; absent where nobody asks for it again */
  constructor({ body, next }: EndpointAnswer, mark = "") {
    this.#plain = body instanceof JsonList ? body.bytes : new TextEncoder().encode(JSON.stringify(body));
    this.next = next;
    this.etag = `W/"${hex(Bun.hash.xxHash3(mark))}${hex(Bun.hash.wyhash(mark))}"`;
  }

  /** Bytes held in memory. */
  get bytes(): number {
    let bytes = this.#plain.length;
    for (const coded of this.#coded.values()) bytes += coded.length;
    return bytes;
  }

  /** Whether compressing makes it worth a packet less. */
  get isLarge(): boolean {
    return this.#plain.length >= large_bytes;
  }

  as(coding: Coding | undefined): Uint8Array<ArrayBuffer> {
    if (coding === undefined) return this.#plain;
    let coded = this.#coded.get(coding);
    if (coded === undefined) {
      coded = encoders[coding](this.#plain);
      this.#coded.set(coding, coded);
    }
    return coded;
  }
}

/** A successful response but for its bytes. */
export interface Success {
  readonly coding: Coding | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Present where a client that holds the same need not get it again. */
  readonly unchanged?: { readonly etag: string; readonly headers: Readonly<Record<string, string>> };
}

/**
 * @param options.url the request's, absolute
 * @param options.repeatable whether the same is likely to be asked for again: then it gets an entity tag
 */
export function successWith(
  content: EncodedAnswer,
  { accepted, url, repeatable }: { accepted: Acceptance; url: string; repeatable: boolean },
): Success {
  const coding = content.isLarge || !accepted.identity ? accepted.coding : undefined;
  const unchanged: Record<string, string> = { Vary: "Accept-Encoding" };
  if (content.next !== undefined) unchanged["Link"] = nextLink(url, content.next);
  if (repeatable) {
    unchanged["ETag"] = content.etag;
    // It may be held, but never used without asking: whether it is still the same, only the store knows.
    unchanged["Cache-Control"] = "private, no-cache";
  }
  const headers: Record<string, string> = { ...unchanged, "Content-Type": "application/json" };
  if (coding !== undefined) headers["Content-Encoding"] = coding;
  return { coding, headers, unchanged: repeatable ? { etag: content.etag, headers: unchanged } : undefined };
}

/** The response itself; 304 where the client holds the same. To HEAD, Bun sends the same without the body. */
export function respond(
  { headers, unchanged }: Success,
  { bytes, request }: { bytes: () => Uint8Array<ArrayBuffer>; request: Request },
): Response {
  if (unchanged !== undefined && namesTag(request.headers.get("if-none-match"), unchanged.etag))
    return new Response(null, { status: 304, headers: unchanged.headers });
  return sent(bytes(), { headers });
}

/**
 * The value of a Link header that names the following page: the request's own address with the parameters of
 * `next` in place of its own, everything else in the query kept.
 *
 * @param url the request's, absolute
 */
export function nextLink(url: string, next: NonNullable<EndpointAnswer["next"]>): string {
  const { origin, pathname } = new URL(url);
  return `<${origin}${pathname}?${nextQuery(queryIn(url), next)}>; rel="next"`;
}

/** The query of the following page, without its `?`, from that of a page and the parameters of `next`. */
export function nextQuery(query: string, next: NonNullable<EndpointAnswer["next"]>): string {
  const kept = decodeQuery(query).filter(([name]) => !Object.hasOwn(next, name));
  return [...kept, ...Object.entries(next)]
    .flatMap(([name, value]) =>
      value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
    )
    .join("&");
}

function hex(hash: bigint): string {
  return hash.toString(16).padStart(16, "0");
}

/** Records of a list from which on it is sent in pieces, and of each piece: some hundred kilobytes. */
export const piece_records = 1_000;

/** Whether a body is a list that is long enough to be sent in pieces. */
export function isLong(body: unknown): body is readonly unknown[] {
  return Array.isArray(body) && body.length > piece_records;
}

/**
 * A response with a long list, made piece by piece as it is read: of a list of 100 MB some hundred kilobytes are in memory as text, and not the
 * text, its bytes and their compressed form for as long as the slowest reader takes. Put together it is what `JSON.stringify` gives.
 */
export function inPieces(list: readonly unknown[], { coding }: Acceptance): Response {
  const headers = { "Content-Type": "application/json", Vary: "Accept-Encoding" };
  const pieces = piecesOf(list);
  if (coding === undefined) return streamed(pieces, { headers });
  const coded = pieces.pipeThrough(new CompressionStream(coding as CompressionFormat));
  return streamed(coded, { headers: { ...headers, "Content-Encoding": coding } });
}

function piecesOf(list: readonly unknown[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  let at = 0;
  return new ReadableStream({
    pull: (controller) => {
      const piece = list.slice(at, at + piece_records);
      const text = JSON.stringify(piece).slice(1, -1);
      const first = at === 0 ? "[" : ",";
      at += piece.length;
      const ended = at >= list.length;
      controller.enqueue(encoder.encode(`${first}${text}${ended ? "]" : ""}`));
      if (ended) controller.close();
    },
  });
}

/**
 * Refuses a request whose Accept header does not name `application/json` with a quality above 0. Other types
 * beside it are allowed, as are parameters; a wildcard does not name it.
 */
export function requireJsonAccepted(accept: string | undefined): void {
  if (accept === undefined || accept.trim() === "") throw new HttpError("accept_missing", {});
  if (!isNamed("application/json", accept)) throw new HttpError("accept_unsuitable", {});
}

/** Whether an Accept header also names server-sent events. */
export function takesEvents(accept: string | undefined): boolean {
  return accept !== undefined && isNamed("text/event-stream", accept);
}

/** The content codings that a client accepts. Throws where it accepts none of ours, nor a body without coding. */
export function requireCodingAccepted(acceptEncoding: string | undefined): Acceptance {
  const accepted = readAcceptEncoding(acceptEncoding);
  if (!accepted.identity && accepted.coding === undefined) throw new HttpError("coding_unsuitable", {});
  return accepted;
}

function isNamed(type: string, accept: string): boolean {
  return (accept.match(elementForm) ?? []).some((range) => {
    const [named, ...parameters] = (range.match(partForm) ?? []).map((part) => part.trim().toLowerCase());
    return named === type && parameters.every(allowsParameter);
  });
}

/** A weight as RFC 9110 §12.4.2 writes it that is not zero, or any other parameter of the form name=value. */
function allowsParameter(parameter: string): boolean {
  if (parameter === "") return true;
  const weight = /^q\s*=(.*)$/.exec(parameter)?.[1];
  if (weight !== undefined) return qvalue.test(weight.trim()) && Number(weight) > 0;
  return /^[\w!#$%&'*+.^`|~-]+=.*$/.test(parameter);
}

const qvalue = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** The elements of a list, and the parts of an element: a separator within a quoted string is none. */
const elementForm = /(?:[^,"]|"(?:\\.|[^"\\])*"?)+/g;
const partForm = /(?:[^;"]|"(?:\\.|[^"\\])*"?)*/g;
