import { Elysia } from "elysia";
import { sent, textResponse } from "../web/server/responses.ts";
import { batchType } from "./protocol.ts";

/** Answers with what a handler returns as JSON, unless it returns a whole response. */
export const jsonAnswers = new Elysia({ name: "json answers" }).mapResponse(
  { as: "scoped" },
  ({ responseValue, headers }) =>
    responseValue instanceof Response
      ? responseValue
      : jsonAnswer(JSON.stringify(responseValue), headers["accept-encoding"]),
);

/** A JSON answer, compressed where it is large and the other side takes that. */
export function jsonAnswer(
  text: string,
  acceptEncoding: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const type = { "Content-Type": "application/json", "Cache-Control": "no-store" };
  return textResponse(text, acceptEncoding, { ...type, ...headers });
}

/** A batch as it is encoded. */
export function batchAnswer(
  bytes: Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return sent(bytes, {
    headers: { "Content-Type": batchType, "Cache-Control": "no-store", ...headers },
  });
}

/** There is nothing, or nothing more. */
export function emptyAnswer(): Response {
  return new Response(null, { status: 204 });
}
