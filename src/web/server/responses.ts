/**
 * How a body is compressed on its way (RFC 9110 §8.4.1, RFC 8878). Both compress at their fastest: a page of 1,000
 * events shrinks to an eighth in 0.05 ms, less than it takes to hand it to another thread.
 */
export const encoders = {
  zstd: (bytes) => Bun.zstdCompressSync(bytes, { level: 1 }) as Uint8Array<ArrayBuffer>,
  gzip: (bytes) => Bun.gzipSync(bytes, { level: 1, library: "libdeflate" }),
} as const satisfies Record<string, (bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>>;

export type Coding = keyof typeof encoders;

/** A response of a text, compressed where it is large and the client takes that. */
export function textResponse(
  text: string,
  acceptEncoding: string | undefined,
  headers: Readonly<Record<string, string>>,
  status = 200,
): Response {
  const { coding } = readAcceptEncoding(acceptEncoding);
  const bytes = new TextEncoder().encode(text);
  const plain = coding === undefined || bytes.length < large_bytes;
  const response = sent(plain ? bytes : encoders[coding](bytes), {
    headers: { Vary: "Accept-Encoding", ...headers },
    status,
  });
  if (!plain) response.headers.set("Content-Encoding", coding);
  return response;
}

/** Less than this fits a single packet, compressed or not. */
export const large_bytes = 1_300;

/** Codings that a client accepts, best first. */
export interface Acceptance {
  /** Absent where it takes none, or likes a body better as it is. */
  readonly coding?: Coding;
  /** Whether it also takes a body as it is. */
  readonly identity: boolean;
}

/**
 * Reads an Accept-Encoding header (RFC 9110 §12.5.3). Of codings that are liked the same, zstd goes before gzip
 * before none. A wildcard stands for gzip, never for zstd: programs wrote it before there was any. A part that
 * is malformed counts as not there.
 *
 * @param among the codings that there are for a body
 */
export function readAcceptEncoding(
  header: string | undefined,
  among: readonly Coding[] = ["zstd", "gzip"],
): Acceptance {
  if (header === undefined) return { identity: true };
  const weights = new Map(header.split(",").flatMap(weightOf));
  const others = weights.get("*");
  const has = (coding: Coding) => Number(among.includes(coding));
  const gzip = has("gzip") * (weights.get("gzip") ?? weights.get("x-gzip") ?? others ?? 0);
  const zstd = has("zstd") * (weights.get("zstd") ?? 0);
  const asItIs = weights.get("identity") ?? others;
  const identity = asItIs !== 0;
  const best = Math.max(gzip, zstd);
  if (best === 0 || best < (weights.get("identity") ?? 0)) return { identity };
  return { coding: zstd === best ? "zstd" : "gzip", identity };
}

function weightOf(part: string): [name: string, weight: number][] {
  const [, name, weight = "1"] = codingForm.exec(part) ?? [];
  return name === undefined ? [] : [[name.toLowerCase(), Number(weight)]];
}

const codingForm =
  /^[ \t]*([\w!#$%&'*+.^`|~-]+)[ \t]*(?:;[ \t]*[qQ]=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/;

/** A response whose body is made, or handed over, while it is sent. */
export function streamed(
  body: ReadableStream<Uint8Array>,
  init: { headers: HeadersInit; status?: number },
): Response {
  const response = new Response(body, init);
  streams.add(response);
  return response;
}

/**
 * A response of bytes. Large ones are handed over in pieces as the client takes them: what Bun is given whole stays in its memory until the slowest reader has it, and nobody
 * would know when that is.
 */
export function sent(
  bytes: Uint8Array<ArrayBuffer>,
  { headers, status = 200 }: { headers: HeadersInit; status?: number },
): Response {
  if (bytes.length <= whole_bytes_max) return new Response(bytes, { headers, status });
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (to) => {
      to.enqueue(bytes.subarray(at, at + whole_bytes_max));
      at += whole_bytes_max;
      if (at >= bytes.length) to.close();
    },
  });
  const all = new Headers(headers);
  all.set("Content-Length", String(bytes.length));
  return streamed(body, { headers: all, status });
}

/** Whether a response goes on being made, or kept in memory, after its handler has answered. */
export function isStream(response: Response): boolean {
  return streams.has(response);
}

/** The same response, which calls `done` once it is sent or its client has gone. */
export function onceSent(response: Response, { method, signal }: Request, done: () => void): Response {
  const { status, headers, body } = response;
  const reader = body?.getReader();
  const gone = () => {
    done();
    void reader?.cancel().catch(() => {});
  };
  // Nobody reads the body of an answer to HEAD.
  if (reader === undefined || method === "HEAD" || signal.aborted) {
    gone();
    return new Response(null, { status, headers });
  }
  signal.addEventListener("abort", gone, { once: true });
  const watched = new ReadableStream<Uint8Array>({
    pull: async (to) => {
      try {
        // A socket takes megabytes at once: without a pause nobody else would be served, and nothing stamped, until it has them.
        await new Promise((resolve) => setImmediate(resolve));
        const { value, done: ended } = await reader.read();
        if (!ended) return to.enqueue(value);
        to.close();
      } catch (thrown) {
        to.error(thrown);
      }
      done();
    },
    cancel: gone,
  });
  return new Response(watched, { status, headers });
}

const streams = new WeakSet<Response>();
/** Of so much a socket takes all at once. */
const whole_bytes_max = 64 * 1024;

/** Whether an If-None-Match header names the tag, or any at all (RFC 9110 §13.1.2). */
export function namesTag(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header.trim() === "*") return true;
  // Weak comparison: what is between the quotes counts. No tag of ours has a comma or quote in it.
  const opaque = etag.slice(etag.indexOf('"'));
  return header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === opaque);
}

/**
 * Gives a response what every response has, unless its route says otherwise: it is what its Content-Type says and nothing that a
 * browser guesses from its bytes, and nobody between server and client keeps it, because most of what is served is about people.
 */
export function protect(response: Response): Response {
  const { headers } = response;
  headers.set("X-Content-Type-Options", "nosniff");
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
  return response;
}
