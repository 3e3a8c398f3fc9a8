import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { ApiError } from "./errors.ts";
import type { Exchange } from "./exchange.ts";

/** A JSON response; to HEAD the same without the body. */
export function jsonResponse(
  body: unknown,
  options: { method: string; status: number; headers: Readonly<Record<string, string>> },
): Response {
  const text = JSON.stringify(body);
  const headers = { "Content-Type": "application/json", ...options.headers };
  if (options.method !== "HEAD") return new Response(text, { status: options.status, headers });
  return new Response(null, {
    status: options.status,
    headers: { ...headers, "Content-Length": String(Buffer.byteLength(text)) },
  });
}

/**
 * The response to a request that is refused, and its one line in the log. What went wrong inside is said only
 * there: the client learns the error's number and message.
 */
export function refuse(thrown: unknown, exchange: Exchange, log: Log): Response {
  const error = thrown instanceof ApiError ? thrown : new ApiError("unknown", {});
  const { code, message } = error.body;
  const cause = error === thrown ? "" : ` (${messageOf(thrown)})`;
  const line = `${exchange.method} ${pathForLog(exchange.path)} from ${exchange.address}: ${error.status}, code ${code}, ${message}${cause}`;
  if (error.status >= 500) log.warn(line);
  else log.info(line);
  return jsonResponse(error.body, { method: exchange.method, status: error.status, headers: error.headers });
}

const pathLogged_max = 200;

function pathForLog(path: string): string {
  return path.length > pathLogged_max ? `${path.slice(0, pathLogged_max)}…` : path;
}
