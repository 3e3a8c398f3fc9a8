import type { Clock } from "../clock.ts";
import { messageOf, type OutageReason, StoreOutage } from "../errors.ts";
import type { Log } from "../log.ts";
import { shortLine } from "../plain-text.ts";
import type { RefusedRequest } from "./app.ts";
import { HttpError } from "./errors.ts";

/**
 * The response to a request that is refused, and its one line in the log. What went wrong inside is said only
 * there: the client learns the error's number and message.
 */
export function refusalOf(
  thrown: unknown,
  { method, path, address }: RefusedRequest,
  { log, outages }: { log: Log; outages: Outages },
): Response {
  if (thrown instanceof StoreOutage) return responseTo(outages.met(thrown, method));
  const error = thrown instanceof HttpError ? thrown : new HttpError("unknown", {});
  const { code, message } = error.body;
  const cause = error === thrown ? "" : ` (${messageOf(thrown)})`;
  const line = `${method} ${pathForLog(path)} from ${address}: ${error.status}, code ${code}, ${message}${cause}`;
  if (error.status >= 500) log.warn(line);
  else log.info(line);
  return responseTo(error);
}

/** To HEAD, Bun sends the same without the body. */
function responseTo({ body, status, headers }: HttpError): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });
}

const pathLogged_max = 200;

function pathForLog(path: string): string {
  return shortLine(path, pathLogged_max);
}

/**
 * Whether the store takes and answers: said once in the log when it no longer does, and once when it does again, however many
 * are refused meanwhile. A full disk still answers readers, so an outage is over when a request of the same method goes well.
 */
export class Outages {
  readonly #clock: Clock;
  readonly #log: Log;
  /** By the method of the request that met it. */
  readonly #current = new Map<string, { readonly since_ms: number; refused: number }>();

  constructor(options: { clock: Clock; log: Log }) {
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Notes what a request met, and answers what it is refused with. */
  met(fault: StoreOutage, method: string): HttpError {
    const known = this.#current.get(method);
    if (known === undefined) {
      this.#log.error(`${fault.message} (${method} requests are refused until then)`);
      this.#current.set(method, { since_ms: this.#clock.now().monotonic_ms, refused: 1 });
    } else known.refused += 1;
    const { error, retry_s } = answers[fault.reason];
    return new HttpError(error, { retry_s }, { "Retry-After": String(retry_s) });
  }

  /** Notes that a request with a token went well. */
  passed(method: string): void {
    if (this.#current.size === 0) return;
    const over = this.#current.get(method);
    if (over === undefined) return;
    this.#current.delete(method);
    const seconds = Math.round((this.#clock.now().monotonic_ms - over.since_ms) / 1000);
    const requests = over.refused === 1 ? "1 request was" : `${over.refused} requests were`;
    this.#log.info(`the store works again after ${seconds} s, in which ${requests} refused`);
  }
}

const answers = {
  unreachable: { error: "store_unreachable", retry_s: 15 },
  disk_full: { error: "disk_full", retry_s: 120 },
  disk_read_only: { error: "disk_read_only", retry_s: 120 },
} as const satisfies Record<OutageReason, { error: string; retry_s: number }>;
