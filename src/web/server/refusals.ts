import type { Clock } from "../../base/clock.ts";
import { messageOf, type OutageReason, StoreOutage, type StorePart } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { shortLine } from "../../base/text.ts";
import type { RefusedRequest } from "./elysia-app.ts";
import { errorTable, HttpError } from "./http-errors.ts";

/**
 * The response to a request that is refused, and its one line in the log. What went wrong inside is said only
 * there: the client learns the error's number and message.
 */
export function refusalOf(
  thrown: unknown,
  { method, path, address }: RefusedRequest,
  { log, outages, crowding }: { log: Log; outages: StoreOutages; crowding: Crowding },
): Response {
  if (thrown instanceof StoreOutage) return responseTo(outages.met(thrown, method));
  const error = thrown instanceof HttpError ? thrown : new HttpError("unknown", {});
  if (isBusy(error.body.code)) {
    crowding.met(error, { path, address }, log);
    return responseTo(error);
  }
  const { code, message } = error.body;
  const cause = error === thrown ? "" : ` (${messageOf(thrown)})`;
  const line = `${method} ${pathForLog(path)} from ${address}: ${error.status}, code ${code}, ${message}${cause}`;
  if (error.status >= 500) log.warn(line);
  else log.info(line);
  return responseTo(error);
}

/** Whether a refusal with this code is about how much is under way: the same request will do in a while. */
export function isBusy(code: number): boolean {
  return code === errorTable.budget_spent.code || code === errorTable.too_busy.code;
}

/** Requests that were refused because too much was under way. Who is refused may ask a thousand times a second: all are counted, and one line a minute says so. */
export class Crowding {
  readonly #clock: Clock;
  #refused = 0;
  #said = { refused: 0, ms: Number.NEGATIVE_INFINITY };

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock;
  }

  /** How many were refused since the start. */
  get refused(): number {
    return this.#refused;
  }

  met({ body }: HttpError, { path, address }: Pick<RefusedRequest, "path" | "address">, log: Log): void {
    this.#refused += 1;
    const { monotonic_ms } = this.#clock.now();
    if (monotonic_ms - this.#said.ms < said_ms) return;
    const refused = this.#refused - this.#said.refused;
    log.warn(
      `refused ${refused} ${refused === 1 ? "request" : "requests"} because too much was under way, the last one from ${address} for ${pathForLog(path)}: code ${body.code}, ${body.message}`,
    );
    this.#said = { refused: this.#refused, ms: monotonic_ms };
  }
}

/** One line in the log in this time. */
const said_ms = 60_000;

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
 * are refused meanwhile. A full disk still answers readers, so an outage of the whole store is over when a request of the same method goes well. One of
 * a part is over when the part says so: what goes well meanwhile may be on another.
 */
export class StoreOutages {
  readonly #clock: Clock;
  readonly #log: Log;
  /** By the method of the request that met it, or by the part. */
  readonly #current = new Map<string | StorePart, { readonly since_ms: number; refused: number }>();

  constructor(options: { clock: Clock; log: Log }) {
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Notes what a request met, and answers what it is refused with. */
  met(fault: StoreOutage, method: string): HttpError {
    const of = fault.part ?? method;
    const known = this.#current.get(of);
    if (known === undefined) {
      const refused = fault.part === undefined ? ` (${method} requests are refused until then)` : "";
      this.#log.error(fault.message + refused);
      this.#current.set(of, { since_ms: this.#now_ms(), refused: 1 });
      void fault.part?.back.then((at_ms) => this.#over(of, fault.part?.name ?? "", at_ms));
    } else known.refused += 1;
    const { error, ...answer } = answers[fault.reason];
    const retry_s =
      fault.part !== undefined && fault.reason === "unreachable" ? part_retry_s : answer.retry_s;
    return new HttpError(error, { retry_s });
  }

  /** Notes that a request with a token went well. */
  passed(method: string): void {
    if (this.#current.has(method)) this.#over(method, "the store", this.#now_ms());
  }

  #over(of: string | StorePart, name: string, at_ms: number): void {
    const over = this.#current.get(of);
    if (over === undefined) return;
    this.#current.delete(of);
    const seconds = Math.max(0, Math.round((at_ms - over.since_ms) / 1000));
    const requests = over.refused === 1 ? "1 request was" : `${over.refused} requests were`;
    this.#log.info(`${name} works again after ${seconds} s, in which ${requests} refused`);
  }

  #now_ms(): number {
    return this.#clock.now().monotonic_ms;
  }
}

const answers = {
  unreachable: { error: "store_unreachable", retry_s: 15 },
  disk_full: { error: "disk_full", retry_s: 120 },
  disk_read_only: { error: "disk_read_only", retry_s: 120 },
  disk_failing: { error: "disk_failing", retry_s: 30 },
} as const satisfies Record<OutageReason, { error: string; retry_s: number }>;
/** To be refused because of a part costs the store next to nothing, and readings wait at its homes. */
const part_retry_s = 4;
