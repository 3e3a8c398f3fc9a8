import type { Clock } from "../clock.ts";
import { messageOf } from "../errors.ts";
import { HttpError } from "./errors.ts";
import type { Exchange } from "./exchange.ts";

export interface BodyBounds {
  /** Bytes as they come over the wire. */
  readonly bytes_max: number;
  /** Milliseconds for all of it: a body that trickles must not hold anything for ever. */
  readonly limit_ms: number;
}

/** Refuses, before any of the body is read, one of another type, of a coding that is not taken, or too large by its own word. */
export function requireBody(
  exchange: Exchange,
  expected: { type: string; codings: readonly BodyCoding[]; bytes_max: number },
): void {
  const type = exchange.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== expected.type) throw new HttpError("content_type_unsuitable", { expected: expected.type });
  if (!expected.codings.includes(codingOf(exchange) as BodyCoding))
    throw new HttpError("content_coding_unsuitable", { expected: expected.codings.join(" or ") });
  if (statedBytes(exchange) > expected.bytes_max) throw tooLarge(expected.bytes_max);
}

/** Bytes of the body by its Content-Length; 0 where there is none. */
export function statedBytes(exchange: Exchange): number {
  return Number(exchange.header("content-length") ?? 0);
}

/** Reads the body as it came over the wire. @throws HttpError where it is larger, slower or shorter than it may be */
export async function readBody(
  exchange: Exchange,
  { bytes_max, limit_ms, clock }: BodyBounds & { clock: Clock },
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = exchange.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  let late = false;
  const cancel = clock.after(limit_ms, () => {
    late = true;
    void reader.cancel();
  });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (late) throw new HttpError("body_stalled", { limit_s: Math.ceil(limit_ms / 1000) }, closing);
      if (done) return joined(parts, bytes);
      bytes += value.length;
      if (bytes > bytes_max) throw tooLarge(bytes_max);
      parts.push(value);
    }
  } catch (thrown) {
    throw thrown instanceof HttpError
      ? thrown
      : new HttpError("body_malformed", { fault: messageOf(thrown) }, closing);
  } finally {
    cancel();
    // A reader that is let go of leaves what still comes to the server, which throws it away.
    reader.releaseLock();
  }
}

/** How a body may be compressed, as its Content-Encoding says. */
export const bodyCodings = ["zstd", "gzip", "identity"] as const;
export type BodyCoding = (typeof bodyCodings)[number];

/** The Content-Encoding of a body, in small letters; "identity" where it has none. */
export function codingOf(exchange: Exchange): string {
  return exchange.header("content-encoding")?.trim().toLowerCase() ?? "identity";
}

function joined(parts: readonly Uint8Array[], bytes: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function tooLarge(bytes_max: number): HttpError {
  return new HttpError("body_too_large", { bytes_max }, closing);
}

/** Closes the connection: a client that sends without end is not read any longer. */
const closing = { Connection: "close" } as const;
