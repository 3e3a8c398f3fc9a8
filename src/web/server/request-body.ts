import type { Static, TSchema } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import {
  codingOf,
  codings,
  type DecodingBounds,
  DecodingFault,
  decodeJson,
  expand,
  readAtMost,
} from "../../base/json-decoder.ts";
import { plainWords } from "../../base/text.ts";
import { HttpError } from "./http-errors.ts";

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
 * JSON of a schema, compressed to `sent_bytes_max` at most or as it is, its texts as plain lines. Refused are with 400 what is no JSON, with 413 what expands to more than the bounds allow, and
 * with 422, which names the first field that is wrong, JSON of another shape or of too many values.
 */
export function jsonForm<Schema extends TSchema>(
  schema: Schema,
  bounds: DecodingBounds & { readonly sent_bytes_max: number },
): BodyForm<Static<Schema>> {
  const check = TypeCompiler.Compile(schema);
  return {
    type: "application/json",
    codings,
    bytes_max: bounds.sent_bytes_max,
    read: (bytes, { headers }) => {
      const value = decoded(bytes, bounds, codingOf(headers));
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
  if (!form.codings.includes(codingOf(request.headers)))
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
  let late = false;
  const cancel = clock.after(limit_ms, () => {
    late = true;
    void reader.cancel();
  });
  try {
    return await readAtMost(reader, bytes_max, () => {
      if (late) throw new HttpError("body_stalled", { limit_s: Math.ceil(limit_ms / 1000) }, closing);
    });
  } catch (thrown) {
    if (thrown instanceof HttpError) throw thrown;
    if (thrown instanceof DecodingFault) throw tooLarge(bytes_max);
    throw new HttpError("body_malformed", { fault: messageOf(thrown) }, closing);
  } finally {
    cancel();
    // A reader that is let go of leaves what still comes to the server, which throws it away.
    reader.releaseLock();
  }
}

function decoded(bytes: Uint8Array, bounds: DecodingBounds, coding: string): unknown {
  try {
    return decodeJson(expand(bytes, coding, bounds.bytes_max), bounds);
  } catch (thrown) {
    if (!(thrown instanceof DecodingFault)) throw thrown;
    if (thrown.kind === "expanded bytes" || thrown.kind === "bytes")
      throw new HttpError("body_expands", { bytes_max: bounds.bytes_max });
    if (thrown.kind === "values") throw new HttpError("body_unsuitable", { fault: `it ${thrown.message}` });
    throw new HttpError("body_malformed", { fault: thrown.message });
  }
}

function tooLarge(bytes_max: number): HttpError {
  return new HttpError("body_too_large", { bytes_max }, closing);
}

/** Closes the connection: a client that sends without end is not read any longer. */
const closing = { Connection: "close" } as const;
