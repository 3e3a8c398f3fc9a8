import { messageOf, StoreOutage } from "../errors.ts";
import type { Log } from "../log.ts";
import { HttpError } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import type { Outages } from "./outages.ts";

/** A JSON response. To HEAD, Bun sends the same without the body. */
function jsonResponse(
  body: unknown,
  options: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
): Response {
  return new Response(JSON.stringify(body), {
    status: options.status,
    headers: { "Content-Type": "application/json", ...options.headers },
  });
}

/**
 * The response to a request that is refused, and its one line in the log. What went wrong inside is said only
 * there: the client learns the error's number and message.
 */
export function refuse(
  thrown: unknown,
  exchange: Exchange,
  { log, outages }: { log: Log; outages: Outages },
): Response {
  if (thrown instanceof StoreOutage) {
    const error = outages.met(thrown, exchange.method);
    return jsonResponse(error.body, error);
  }
  const error = thrown instanceof HttpError ? thrown : new HttpError("unknown", {});
  const { code, message } = error.body;
  const cause = error === thrown ? "" : ` (${messageOf(thrown)})`;
  const line = `${exchange.method} ${pathForLog(exchange.path)} from ${exchange.address}: ${error.status}, code ${code}, ${message}${cause}`;
  if (error.status >= 500) log.warn(line);
  else log.info(line);
  return jsonResponse(error.body, error);
}

const pathLogged_max = 200;

function pathForLog(path: string): string {
  return path.length > pathLogged_max ? `${path.slice(0, pathLogged_max)}…` : path;
}
