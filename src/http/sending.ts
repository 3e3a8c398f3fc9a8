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
