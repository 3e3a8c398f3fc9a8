import { codings, readAcceptEncoding } from "../http/content-coding.ts";
import type { Exchange } from "../http/exchange.ts";
import { batchType } from "./protocol.ts";

/** A JSON answer, compressed where it is large and the other side takes that. */
export function jsonAnswer(
  exchange: Exchange,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return textAnswer(exchange, JSON.stringify(body), headers);
}

/** The same with the JSON made already. */
export function textAnswer(
  exchange: Exchange,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const { coding } = readAcceptEncoding(exchange.acceptEncoding);
  const bytes = new TextEncoder().encode(text);
  const plain = coding === undefined || bytes.length < compress_bytes_min;
  return new Response(plain ? bytes : codings[coding](bytes), {
    headers: {
      "Content-Type": "application/json",
      ...(plain ? {} : { "Content-Encoding": coding }),
      Vary: "Accept-Encoding",
      "Cache-Control": "no-store",
      ...headers,
    },
  });
}

/** A batch as it is encoded. */
export function batchAnswer(
  bytes: Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(bytes, {
    headers: { "Content-Type": batchType, "Cache-Control": "no-store", ...headers },
  });
}

/** There is nothing, or nothing more. */
export function emptyAnswer(): Response {
  return new Response(null, { status: 204 });
}

/** Less than this fits a single packet either way. */
const compress_bytes_min = 1_300;
