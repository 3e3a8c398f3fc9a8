import type { Static, TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import type { Clock } from "../../base/clock.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import { type DecodingBounds, DecodingFault, decodeJson, decodingBounds } from "../../base/json-decoder.ts";
import { hour_ms } from "../../base/time.ts";
import { isServerAddress } from "../../config/server-access.ts";
import {
  type Answered,
  type Failed,
  type Fetch,
  type HttpRequest,
  type Outcome,
  pause,
  RateLimiter,
  requestOnce,
  TryAgainLater,
  UntrustedCertificate,
  type Wording,
} from "./http-request.ts";

/** A request to a server, below the path of its interface. */
export interface ClientRequest {
  readonly method: HttpRequest["method"];
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: Body;
  /** Statuses that are an answer too, besides those from 200 to 299. */
  readonly accept?: readonly number[];
  /** Bounds of the answer, where it is a success. */
  readonly answer: DecodingBounds;
}

/** An answer with the bounds that hold for what is read of it. */
export type BoundedAnswer = Answered & { readonly bounds: DecodingBounds };

/** Sent as it is. `coding`: its Content-Encoding. */
export interface Body {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly coding?: "zstd";
}

export interface ClientBounds {
  /** For a whole run: after this, nothing more is asked; absent: a run ends by itself. */
  readonly run_ms_max?: number;
  /** In a row, for one request. */
  readonly failures_max: number;
  /** From the end of a request to the first word of its answer. */
  readonly answer_ms_max: number;
}

export interface ClientOptions {
  /** The address, with nothing of the interface behind it: `https://central.example`. */
  readonly url: string;
  /** The path of the interface that is asked, put behind the address: `/sync/v1`. */
  readonly interface: string;
  /** A token that the server has made. */
  readonly token: string;
  /** The server's own certificate, if no authority certifies it, in PEM. */
  readonly certificate?: string | undefined;
  /** The one that it will have after that, also in PEM; `onNextCertificate` is told once it has shown it, and from then on only that one is taken. */
  readonly nextCertificate?: string | undefined;
  readonly onNextCertificate?: (() => void) | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** How fast bodies leave; absent: as fast as they can. */
  readonly bytes_per_s?: number;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Ends requests under way; calls reject with the signal's reason. */
  readonly stop: AbortSignal;
  /** Told before each wait; `left_ms` is for about how long, with this wait, it is asked again before it is given up. */
  readonly onRetry: (reason: string, delay_ms: number, left_ms: number) => void;
  readonly wording: Wording;
  readonly bounds: ClientBounds;
  /** The network; absent: Bun's. */
  readonly fetch?: Fetch;
}

/**
 * A client of one server, with a token. It repeats a request, a bounded number of times, where the network or the server
 * fails. Every request may be repeated without harm, so a lost answer means asking again.
 */
export class HttpClient {
  readonly url: URL;
  readonly #options: ClientOptions;
  readonly #limiter: RateLimiter | undefined;
  readonly #deadline_ms: number;
  #certificate: string | undefined;
  #nextCertificate: string | undefined;

  /** @throws OperatorError where `url` is not the address of a server */
  constructor(options: ClientOptions) {
    this.url = addressOf(options);
    this.#options = options;
    this.#certificate = options.certificate;
    this.#nextCertificate = options.nextCertificate;
    const { bytes_per_s, clock, bounds } = options;
    this.#limiter = bytes_per_s === undefined ? undefined : new RateLimiter({ bytes_per_s, clock });
    this.#deadline_ms = clock.now().monotonic_ms + (bounds.run_ms_max ?? Number.POSITIVE_INFINITY);
  }

  /** Name and host of the server at the start of a sentence: `central at central.example`. */
  get title(): string {
    return `${this.#options.wording.name} at ${this.url.host}`;
  }

  /**
   * Asks until there is an answer. Where `request` is a function, it makes the request of each attempt, and gets the number of failures so
   * far: it can make a request that does not get through smaller.
   *
   * @throws TryAgainLater where all attempts failed; OperatorError where asking again cannot help
   */
  async ask(request: ClientRequest | ((failures: number) => Promise<ClientRequest>)): Promise<BoundedAnswer> {
    let failures = 0;
    for (let attempt = 1; ; attempt += 1) {
      this.#options.stop.throwIfAborted();
      const made = typeof request === "function" ? await request(failures) : request;
      const outcome = await this.#once(made);
      if ("status" in outcome) return outcome;
      if (!isPutOff(outcome)) failures += 1;
      const delay_ms = jittered_ms(
        outcome.retry_ms ?? retryDelay_ms(Math.max(1, failures)),
        this.#options.random(),
        outcome.retry_ms !== undefined,
      );
      this.#giveUp(outcome, { failures, attempt, delay_ms, sends: made.body !== undefined });
      this.#options.onRetry(
        `${this.url.host}: ${outcome.failure}`,
        delay_ms,
        delay_ms + this.#later_ms(failures),
      );
      await pause(delay_ms, this.#options.clock, this.#options.stop);
    }
  }

  /** Asks for, or with, JSON; the answer is checked against the schema. */
  async askJson<Schema extends TSchema>(
    request: Omit<ClientRequest, "body">,
    schema: Schema,
    body?: unknown,
  ): Promise<Static<Schema>> {
    const answer = await this.ask({ ...request, body: body === undefined ? undefined : jsonBody(body) });
    return this.read(answer, schema);
  }

  /** The body of an answer, checked. @throws OperatorError */
  read<Schema extends TSchema>(answer: BoundedAnswer, schema: Schema): Static<Schema> {
    const check = checks.get(schema) ?? TypeCompiler.Compile(schema);
    checks.set(schema, check);
    let body: unknown;
    try {
      body = decodeJson(answer.body, answer.bounds);
    } catch (thrown) {
      const malformed = !(thrown instanceof DecodingFault) || thrown.kind === "malformed";
      throw this.unexpected(malformed ? messageOf(thrown) : `it ${thrown.message}`);
    }
    if (check.Check(body)) return body as Static<Schema>;
    const first = check.Errors(body).First();
    throw this.unexpected(`${first?.path ?? ""} ${first?.message ?? ""}`.trim());
  }

  /** The error of an answer that such a server does not give. */
  unexpected(what: string): OperatorError {
    const { wording } = this.#options;
    return new OperatorError(
      `the answer of ${this.url.host} is not what ${wording.kind} answers (${what})`,
      `check ${wording.url_setting}, and what stands between this machine and ${wording.name}`,
    );
  }

  /** @throws TryAgainLater once a run has taken as long as one may */
  checkTime(): void {
    const { clock, wording, bounds } = this.#options;
    if (clock.now().monotonic_ms <= this.#deadline_ms) return;
    throw new TryAgainLater(
      `this ${wording.run} has taken ${(bounds.run_ms_max ?? 0) / hour_ms} h`,
      `nothing is lost, and the next one goes on from here; ${wording.hastening ?? "start it again"}`,
    );
  }

  /** Throws for an answer of status 409 with which a run cannot go on; otherwise it is one that `accept` names, or is refused. */
  protected judgeConflict(_answer: BoundedAnswer, _request: ClientRequest): void {}

  async #once(request: ClientRequest): Promise<BoundedAnswer | Failed> {
    const { clock, token, bounds } = this.#options;
    const url = new URL(
      `${this.url.pathname.replace(/\/+$/, "")}${this.#options.interface}${request.path}`,
      this.url,
    );
    for (const [name, value] of Object.entries(request.query ?? {}))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const { method, body } = request;
    const headers = {
      authorization: `bearer ${token}`,
      accept: "application/json",
      "content-type": body?.type,
      "content-encoding": body?.coding,
      ...this.#options.headers,
      ...request.headers,
    };
    const outcome = await this.#trusting((certificate) =>
      requestOnce(
        { method, url, headers, body: body?.bytes },
        {
          ...this.#options,
          certificate,
          limiter: this.#limiter,
          answer_ms_max: bounds.answer_ms_max,
          answer_bytes_max: request.answer.bytes_max,
        },
      ),
    );
    if (!("status" in outcome)) return outcome;
    const { status } = outcome;
    const success = status >= 200 && status < 300;
    const answer = { ...outcome, bounds: success ? request.answer : refusalBounds };
    if (status === 409) this.judgeConflict(answer, request);
    if (success || request.accept?.includes(status)) return answer;
    // A request that was cut short on the way is answered 400 or 408.
    if (status === 400 || status === 408 || status === 429 || status >= 500) {
      const retry_ms = retryAfter_ms(outcome.headers.get("retry-after"), clock.now().unix_ms);
      const failure = `it answers ${status}${toldIn(outcome).message}`;
      return { failure, answered: status, retry_ms };
    }
    throw this.#refusal(outcome);
  }

  /** Asks by the certificate in use, and by the next one where the server no longer shows that. */
  async #trusting(ask: (certificate: string | undefined) => Promise<Outcome>): Promise<Outcome> {
    const next = this.#nextCertificate;
    try {
      return await ask(this.#certificate);
    } catch (thrown) {
      if (!(thrown instanceof UntrustedCertificate) || next === undefined) throw thrown;
    }
    const outcome = await ask(next);
    if (!("status" in outcome)) return outcome;
    this.#certificate = next;
    this.#nextCertificate = undefined;
    this.#options.onNextCertificate?.();
    return outcome;
  }

  /** The waits that may still follow the one after so many failures. */
  #later_ms(failures: number): number {
    const more = Math.max(0, this.#options.bounds.failures_max - 1 - failures);
    return Array.from({ length: more }, (_, at) => retryDelay_ms(failures + 1 + at)).reduce(
      (sum, ms) => sum + ms,
      0,
    );
  }

  #giveUp(
    outcome: Failed,
    tried: { failures: number; attempt: number; delay_ms: number; sends: boolean },
  ): void {
    const { clock, wording, bounds } = this.#options;
    const late = clock.now().monotonic_ms + tried.delay_ms > this.#deadline_ms;
    if (!late && tried.failures < bounds.failures_max && tried.attempt < attempts_max) return;
    const spent = late ? `for ${(bounds.run_ms_max ?? 0) / hour_ms} h` : `${tried.attempt} attempts`;
    const refused = tried.sends ? "cannot take this now" : "cannot answer now";
    throw new TryAgainLater(
      `${this.title} ${outcome.answered === undefined ? "cannot be reached" : refused} (${outcome.failure}; ${spent})`,
      `nothing is lost, and the next ${wording.run} goes on from here; if it stays so, check the network, and scheme, host and port of ${wording.url_setting}`,
    );
  }

  #refusal(answer: Answered): OperatorError {
    const { status, headers } = answer;
    const { wording } = this.#options;
    const { message, remedy } = toldIn(answer);
    // A server that gives a reason of its own knows the token.
    if (status === 403 && message !== "")
      return new OperatorError(
        `${this.title} refuses this${message}`,
        remedy ?? `ask whoever keeps ${wording.name}`,
      );
    if (status === 401 || status === 403)
      return new OperatorError(`${this.title} refuses the token${message}`, wording.token_remedy);
    if (status >= 300 && status < 400)
      return new OperatorError(
        `${this.title} sends ${wording.asker} elsewhere (${status}, ${headers.get("location") ?? "nowhere"})`,
        `write the address that answers itself into ${wording.url_setting}`,
      );
    if (status === 404 || status === 405)
      return new OperatorError(
        `${this.title} is not ${wording.kind} (it answers ${status})`,
        `check ${wording.url_setting}: it is the address without a version, such as ${wording.url_example}`,
      );
    return new OperatorError(
      `${this.title} does not take what ${wording.asker} sends (${status}${message})`,
      remedy ?? "run the same version of Lintel on both; if it is, this is a fault of the program",
    );
  }
}

/** A value as JSON; compressed where that is worth it. */
export function jsonBody(value: unknown): Body {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  const type = "application/json";
  if (bytes.length < compress_bytes_min) return { bytes, type };
  return { bytes: new Uint8Array(Bun.zstdCompressSync(bytes)), type, coding: "zstd" };
}

/** A server that is there, and says when to come back: it has a queue, or the database behind it is away. */
function isPutOff({ answered, retry_ms }: Failed): boolean {
  return answered === 429 || (answered === 503 && retry_ms !== undefined);
}

function addressOf({ url, wording }: ClientOptions): URL {
  if (isServerAddress(url)) return new URL(url);
  throw new OperatorError(`${url} is not the address of a server`, `give one such as ${wording.url_example}`);
}

/** The message in the body of an error, to append to a sentence, and the remedy, where its server knows one. */
function toldIn({ body }: Answered): { readonly message: string; readonly remedy?: string | undefined } {
  try {
    const told = decodeJson(body, refusalBounds) as Readonly<Record<string, unknown>>;
    const { message, code, remedy } = told;
    const number = typeof code === "number" ? ` (code ${code})` : "";
    return {
      message: typeof message === "string" ? `: ${messageOf(message)}${number}` : "",
      remedy: typeof remedy === "string" ? messageOf(remedy) : undefined,
    };
  } catch {
    return { message: "" };
  }
}

/** Compiling takes milliseconds, and a central that reads a thousand gateways asks each by a client of its own. */
const checks = new WeakMap<TSchema, TypeCheck<TSchema>>();

const refusalBounds = decodingBounds.refusal;
const compress_bytes_min = 1_024;
/** For one request, with those after which the server said when to come back. */
const attempts_max = 100;

/** How long to wait after the attempt of this number, from 1: doubling from half a second up to half a minute. */
export function retryDelay_ms(attempt: number): number {
  return Math.min(delay_ms_max, 500 * 2 ** (attempt - 1));
}

/**
 * How long a Retry-After header asks to wait: whole seconds or an HTTP date (RFC 9110 §10.2.3), at most
 * `retryAfter_ms_max`. Undefined where it is missing or neither.
 */
export function retryAfter_ms(header: string | null, now_ms: number): number | undefined {
  if (header === null) return undefined;
  const wait_ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now_ms;
  return Number.isFinite(wait_ms) ? Math.min(retryAfter_ms_max, Math.max(0, wait_ms)) : undefined;
}

const delay_ms_max = 30_000;
/** A server that asks for more has its reasons, but is asked again all the same. */
export const retryAfter_ms_max = 300_000;

/**
 * A random delay, so that clients that failed at the same time do not return at the same time: from half of `delay_ms` to
 * half as much again; where the server `named` it, never less than that.
 *
 * @param random from 0 up to 1
 */
export function jittered_ms(delay_ms: number, random: number, named: boolean): number {
  return Math.round(delay_ms * (named ? 1 + random / 2 : 0.5 + random));
}
