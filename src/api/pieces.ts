import type { Acceptance } from "../http/content-coding.ts";
import { streamed } from "../http/sending.ts";

/** Records of a list from which on it is sent in pieces, and of each piece: some hundred kilobytes. */
export const piece_records = 1_000;

/** Whether a body is a list that is long enough to be sent in pieces. */
export function isLong(body: unknown): body is readonly unknown[] {
  return Array.isArray(body) && body.length > piece_records;
}

/**
 * A response with a long list, made piece by piece as it is read: of a list of 100 MB some hundred kilobytes are in memory as text, and not the
 * text, its bytes and their compressed form for as long as the slowest reader takes. Put together it is what `JSON.stringify` gives.
 */
export function inPieces(list: readonly unknown[], { coding }: Acceptance): Response {
  const headers = { "Content-Type": "application/json", Vary: "Accept-Encoding" };
  const pieces = piecesOf(list);
  if (coding === undefined) return streamed(pieces, { headers });
  const coded = pieces.pipeThrough(new CompressionStream(coding as CompressionFormat));
  return streamed(coded, { headers: { ...headers, "Content-Encoding": coding } });
}

function piecesOf(list: readonly unknown[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  let at = 0;
  return new ReadableStream({
    pull: (controller) => {
      const piece = list.slice(at, at + piece_records);
      const text = JSON.stringify(piece).slice(1, -1);
      const first = at === 0 ? "[" : ",";
      at += piece.length;
      const ended = at >= list.length;
      controller.enqueue(encoder.encode(`${first}${text}${ended ? "]" : ""}`));
      if (ended) controller.close();
    },
  });
}
