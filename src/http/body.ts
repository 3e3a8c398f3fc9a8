import type { Static, TSchema } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { Clock } from "../clock.ts";
import { messageOf } from "../errors.ts";
import { plainWords } from "../plain-text.ts";
import { HttpError } from "./errors.ts";
import { expanders } from "./expansion.ts";
import { hasTooManyValues } from "./json-values.ts";

/** How the body of a route comes, and what it is read as. Elysia would read it before the token is known, and without these bounds. */
export interface BodyForm<Body> {
  /** Its Content-Type. */
  readonly type: string;
  /** Every Content-Encoding that it may have. */
  readonly codings: readonly string[];
  /** Bytes as they come over the wire. */
  readonly bytes_max: number;
  /** @throws HttpError where it is another thing */
  read(bytes: Uint8Array<ArrayBuffer>, request: Request): Body;
}

/**
 * JSON of a schema, compressed or not, decompressed to at most `text_bytes_max`, its texts as plain lines. Refused are with 400 what is no JSON, with 413 what expands
 * to more, and with 422, which names the first field that is wrong, JSON of another shape.
 */
export function jsonForm<Schema extends TSchema>(
  schema: Schema,
  { bytes_max, text_bytes_max }: { bytes_max: number; text_bytes_max: number },
): BodyForm<Static<Schema>> {
  const check = TypeCompiler.Compile(schema);
  return {
    type: "application/json",
    codings: Object.keys(expanders),
    bytes_max,
    read: (bytes, request) => {
      const value = parsed(bytes, codingOf(request), text_bytes_max);
      if (check.Check(value)) return plainWords(value as Static<Schema>);
      const first = check.Errors(value).First();
      const fault = first === undefined ? "it has another shape" : `${first.path || "/"}: ${first.message}`;
      throw new HttpError("body_unsuitable", { fault });
    },
  };
}

/** Refuses, before any of the body is read, one of another type, of a coding that is not taken, or too large by its own word. */
export function requireForm(request: Request, form: BodyForm<unknown>): void {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== form.type) throw new HttpError("content_type_unsuitable", { expected: form.type });
  if (!form.codings.includes(codingOf(request)))
    throw new HttpError("content_coding_unsuitable", { expected: form.codings.join(" or ") });
  if (statedBytes(request) > form.bytes_max) throw tooLarge(form.bytes_max);
}

/** Bytes of the body by its Content-Length; 0 where there is none. */
export function statedBytes({ headers }: Request): number {
  return Number(headers.get("content-length") ?? 0);
}

/**
 * Reads the body as it came over the wire.
 *
 * @param bounds.limit_ms for all of it: a body that trickles must not hold anything for ever
 * @throws HttpError where it is larger, slower or shorter than it may be
 */
export async function readBody(
  { body }: Request,
  { bytes_max, limit_ms, clock }: { bytes_max: number; limit_ms: number; clock: Clock },
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body?.getReader();
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

/** The Content-Encoding of a body, in small letters; "identity" where it has none. */
function codingOf({ headers }: Request): string {
  return headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
}

function parsed(bytes: Uint8Array<ArrayBuffer>, coding: string, text_bytes_max: number): unknown {
  const expand = expanders[coding as keyof typeof expanders];
  try {
    const text = expand(bytes, text_bytes_max);
    if (hasTooManyValues(text, values_max))
      throw new HttpError("body_unsuitable", { fault: `it has more than ${values_max} values` });
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text));
  } catch (thrown) {
    if (thrown instanceof HttpError) throw thrown;
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ERR_BUFFER_TOO_LARGE")
      throw new HttpError("body_expands", { bytes_max: text_bytes_max });
    throw new HttpError("body_malformed", { fault: messageOf(thrown) });
  }
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

/** Values in a body: a report with all the devices and interruptions that one may have has 340,000. */
const values_max = 500_000;

/** Closes the connection: a client that sends without end is not read any longer. */
const closing = { Connection: "close" } as const;
