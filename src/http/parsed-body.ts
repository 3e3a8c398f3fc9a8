import { messageOf } from "../errors.ts";
import { type BodyCoding, codingOf } from "./body.ts";
import { HttpError } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import { expanders } from "./expansion.ts";

/** A body parsed as JSON, after decompression by its Content-Encoding to at most `text_bytes_max`. */
export function parseBody(
  exchange: Exchange,
  bytes: Uint8Array<ArrayBuffer>,
  text_bytes_max: number,
): unknown {
  const expand = expanders[codingOf(exchange) as BodyCoding];
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(expand(bytes, text_bytes_max)));
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ERR_BUFFER_TOO_LARGE")
      throw new HttpError("body_expands", { bytes_max: text_bytes_max });
    throw new HttpError("body_malformed", { fault: messageOf(thrown) });
  }
}
