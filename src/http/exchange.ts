import type { Server } from "bun";

/** A request before any check: who asks for what. */
export interface Exchange {
  readonly method: string;
  /** The address of the request, absolute, as the client sent it. */
  readonly url: string;
  /** Percent-encoded, as sent. */
  readonly path: string;
  /** After `?`; empty where there is none. */
  readonly query: string;
  /** False where the Host header is missing or malformed; then the path is all of the URL. */
  readonly hostKnown: boolean;
  readonly authorization: string | null;
  readonly accept: string | null;
  readonly acceptEncoding: string | null;
  readonly ifNoneMatch: string | null;
  /** Any other header. */
  header(name: string): string | null;
  /** The body of the request as a stream; null where there is none. It may stay unread. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  /** Lets nothing happen on the connection for this many seconds, at most 255, while the answer is made. */
  patience(seconds: number): void;
  /** IP address of the client. */
  readonly address: string;
  /** When it came in, unix milliseconds. */
  readonly now_ms: number;
}

/** The exchange that a request begins. */
export function exchangeOf(
  request: Request,
  { server, now_ms }: { server: Server<undefined>; now_ms: number },
): Exchange {
  const { method, url, headers } = request;
  const parts = splitUrl(url);
  return {
    method,
    url,
    path: parts?.path ?? url,
    query: parts?.query ?? "",
    hostKnown: parts !== undefined,
    authorization: headers.get("authorization"),
    accept: headers.get("accept"),
    acceptEncoding: headers.get("accept-encoding"),
    ifNoneMatch: headers.get("if-none-match"),
    header: (name) => headers.get(name),
    get body() {
      return request.body;
    },
    patience: (seconds) => server.timeout(request, seconds),
    get address() {
      return server.requestIP(request)?.address ?? "an unknown address";
    },
    now_ms,
  };
}

/**
 * Path and query of a URL as Bun makes it from the request line and the Host header: without scheme and host
 * where that header is missing or malformed, and then this answers undefined.
 */
function splitUrl(url: string): { path: string; query: string } | undefined {
  const origin = originForm.exec(url)?.[0];
  if (origin === undefined) return undefined;
  const mark = url.indexOf("?", origin.length);
  return mark === -1
    ? { path: url.slice(origin.length), query: "" }
    : { path: url.slice(origin.length, mark), query: url.slice(mark + 1) };
}

const originForm = /^https?:\/\/(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?(?=\/)/;
