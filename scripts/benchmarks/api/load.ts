/** How a server answered. */
export interface Load {
  readonly requests_per_s: number;
  readonly bytes_per_request: number;
}

/**
 * Asks for `requests` in turn over `connections` kept open, each one request at a time, and reads every answer to
 * its end. Answers must be 200 or 304. It parses nothing but lengths, so that the server is what is measured.
 */
export async function loadOf(options: {
  port: number;
  seconds: number;
  connections?: number;
  requests: readonly string[];
}): Promise<Load> {
  const { port, seconds, connections = 16 } = options;
  const requests = options.requests.map((text) => Buffer.from(text));
  const started = performance.now();
  const end = started + seconds * 1000;
  let asked = 0;
  let answered = 0;
  let bytes = 0;
  const connection = () =>
    new Promise<void>((resolve, reject) => {
      let missing = 0;
      const next = () => requests[asked++ % requests.length] ?? new Uint8Array();
      void Bun.connect({
        hostname: "127.0.0.1",
        port,
        socket: {
          open: (socket) => void socket.write(next()),
          data: (socket, chunk) => {
            bytes += chunk.length;
            missing = missing === 0 ? missingAfter(chunk) : missing - chunk.length;
            if (missing > 0) return;
            answered += 1;
            if (performance.now() < end) socket.write(next());
            else socket.end();
          },
          close: () => resolve(),
          error: (_, error) => reject(error),
        },
      }).catch(reject);
    });
  await Promise.all(Array.from({ length: connections }, connection));
  const elapsed_s = (performance.now() - started) / 1000;
  return { requests_per_s: answered / elapsed_s, bytes_per_request: bytes / answered };
}

/** Bytes of an answer that are yet to come after the chunk it begins with. */
function missingAfter(chunk: Uint8Array): number {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.length, head_bytes_max));
  const end = text.indexOf("\r\n\r\n");
  const head = text.toString("latin1", 0, end);
  const status = head.slice(9, 12);
  if (status === "304") return 0;
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  if (status !== "200" || length === undefined) throw new Error(`unexpected answer: ${head}`);
  return Number(length) - (chunk.length - end - 4);
}

const head_bytes_max = 2_048;
