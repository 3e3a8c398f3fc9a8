import { Answer } from "./connection.ts";

/** How a server answered. */
export interface Load {
  readonly requests: number;
  readonly requests_per_s: number;
  readonly bytes_per_request: number;
  /** Milliseconds until each request was answered to its end. */
  readonly took_ms: readonly number[];
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
  const took_ms: number[] = [];
  const connection = () =>
    new Promise<void>((resolve, reject) => {
      const answer = new Answer();
      let asked_ms = 0;
      const next = () => {
        asked_ms = performance.now();
        return requests[asked++ % requests.length] ?? new Uint8Array();
      };
      void Bun.connect({
        hostname: "127.0.0.1",
        port,
        socket: {
          open: (socket) => void socket.write(next()),
          data: (socket, chunk) => {
            bytes += chunk.length;
            const fault = answer.take(chunk);
            if (fault !== undefined) throw new Error(`unexpected answer: ${fault}`);
            if (!answer.whole) return;
            answer.begin();
            answered += 1;
            took_ms.push(performance.now() - asked_ms);
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
  return {
    requests: answered,
    requests_per_s: answered / elapsed_s,
    bytes_per_request: bytes / answered,
    took_ms,
  };
}
