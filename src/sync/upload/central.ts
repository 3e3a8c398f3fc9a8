import type { Static, TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { batch_readings_max } from "../../batch.ts";
import type { Clock } from "../../clock.ts";
import { messageOf, OperatorError } from "../../errors.ts";
import { jittered_ms, retryAfter_ms, retryDelay_ms } from "../../retry.ts";
import { BatchRefusalBody, syncPath } from "../protocol.ts";
import { type LineRequest, requestOnce } from "./line.ts";
import { type Answered, type Failed, TryAgainLater } from "./outcome.ts";
import { Pace, pause } from "./pace.ts";

/** What is asked of central, below `/sync/v1`. */
export interface CentralRequest {
  readonly method: LineRequest["method"];
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Body;
  /** Statuses that are an answer too, besides those from 200 to 299. */
  readonly accept?: readonly number[];
}

/** Sent as it is; `coding` says how it is compressed beyond what its type says. */
export interface Body {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly coding?: "zstd";
}

export interface CentralOptions {
  /** The address of central, with nothing of the interface behind it: `https://central.example`. */
  readonly url: string;
  /** A sync token. */
  readonly token: string;
  /** The certificate of a central that no authority vouches for, in PEM. */
  readonly certificate?: string;
  readonly bytes_per_s: number;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Ends what is under way; calls reject with the signal's reason. */
  readonly stop: AbortSignal;
  readonly onRetry: (reason: string, delay_ms: number) => void;
}

/**
 * Central as a gateway asks it: with its token, at a pace, and again, a bounded number of times, where the line or central fails. Whatever is
 * asked may be said twice, so a lost answer means asking again.
 */
export class Central {
  readonly url: URL;
  readonly #options: CentralOptions;
  readonly #pace: Pace;
  readonly #deadline_ms: number;
  readonly #checks = new Map<TSchema, TypeCheck<TSchema>>();

  constructor(options: CentralOptions) {
    this.url = centralUrl(options.url);
    this.#options = options;
    this.#pace = new Pace(options);
    this.#deadline_ms = options.clock.now().monotonic_ms + run_ms_max;
  }

  /**
   * Asks until there is an answer. `request` is made anew for each attempt, and told how many have failed, so that what does not get through
   * can be cut smaller.
   *
   * @throws TryAgainLater where there is none in the end; OperatorError where asking again cannot help
   */
  async ask(request: CentralRequest | ((failures: number) => Promise<CentralRequest>)): Promise<Answered> {
    let failures = 0;
    for (let attempt = 1; ; attempt += 1) {
      this.#options.stop.throwIfAborted();
      const made = typeof request === "function" ? await request(failures) : request;
      const outcome = await this.#once(made);
      if ("status" in outcome) return outcome;
      if (outcome.answered !== 429) failures += 1;
      const delay_ms = jittered_ms(
        outcome.retry_ms ?? retryDelay_ms(Math.max(1, failures)),
        this.#options.random(),
        outcome.retry_ms !== undefined,
      );
      this.#giveUp(outcome, { failures, attempt, delay_ms });
      this.#options.onRetry(`${this.url.host}: ${outcome.failure}`, delay_ms);
      await pause(delay_ms, this.#options.clock, this.#options.stop);
    }
  }

  /** Asks for, or with, JSON; the answer is checked against the schema. */
  async askJson<Schema extends TSchema>(
    request: Omit<CentralRequest, "body">,
    schema: Schema,
    body?: unknown,
  ): Promise<Static<Schema>> {
    const answer = await this.ask({ ...request, ...(body === undefined ? {} : { body: jsonBody(body) }) });
    return this.read(answer, schema);
  }

  /** The body of an answer, checked. @throws OperatorError */
  read<Schema extends TSchema>(answer: Answered, schema: Schema): Static<Schema> {
    const check = this.#checks.get(schema) ?? TypeCompiler.Compile(schema);
    this.#checks.set(schema, check);
    let body: unknown;
    try {
      body = JSON.parse(new TextDecoder().decode(answer.body));
    } catch (thrown) {
      throw this.#strange(messageOf(thrown));
    }
    if (check.Check(body)) return body as Static<Schema>;
    const first = check.Errors(body).First();
    throw this.#strange(`${first?.path ?? ""} ${first?.message ?? ""}`.trim());
  }

  async #once(request: CentralRequest): Promise<Answered | Failed> {
    const { clock, stop, token, certificate } = this.#options;
    const url = new URL(`${this.url.pathname.replace(/\/+$/, "")}${syncPath}${request.path}`, this.url);
    for (const [name, value] of Object.entries(request.query ?? {}))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const outcome = await requestOnce(
      {
        method: request.method,
        url,
        headers: {
          authorization: `bearer ${token}`,
          accept: "application/json",
          ...(request.body === undefined ? {} : { "content-type": request.body.type }),
          ...(request.body?.coding === undefined ? {} : { "content-encoding": request.body.coding }),
          ...request.headers,
        },
        ...(request.body === undefined ? {} : { body: request.body.bytes }),
      },
      { clock, pace: this.#pace, stop, ...(certificate === undefined ? {} : { certificate }) },
    );
    if (!("status" in outcome)) return outcome;
    const { status, headers } = outcome;
    if (status === 409) this.#refuseConflict(outcome, request);
    if ((status >= 200 && status < 300) || request.accept?.includes(status)) return outcome;
    // A request that was cut short on the way is answered 400 or 408.
    if (status === 400 || status === 408 || status === 429 || status >= 500) {
      const retry_ms = retryAfter_ms(headers.get("retry-after"), clock.now().unix_ms);
      const failure = `it answers ${status}${said(outcome)}`;
      return { failure, answered: status, ...(retry_ms === undefined ? {} : { retry_ms }) };
    }
    throw this.#refusal(outcome, url);
  }

  #giveUp(outcome: Failed, tried: { failures: number; attempt: number; delay_ms: number }): void {
    const { clock } = this.#options;
    const late = clock.now().monotonic_ms + tried.delay_ms > this.#deadline_ms;
    if (!late && tried.failures < failures_max && tried.attempt < attempts_max) return;
    throw new TryAgainLater(
      `central at ${this.url.host} ${outcome.answered === undefined ? "cannot be reached" : "cannot take this now"} (${outcome.failure}; ${late ? `for ${run_ms_max / 3_600_000} h` : `${tried.attempt} attempts`})`,
      "nothing is lost, and the next upload goes on from here; if it stays so, check the network and [upload] url",
    );
  }

  /** Readings that go to central at once: what a slow line carries in a minute. */
  get readings_max(): number {
    const { bytes_per_s } = this.#options;
    return Math.max(
      1,
      Math.min(batch_readings_max, Math.floor((bytes_per_s * batch_s_max) / reading_bytes_max)),
    );
  }

  /** @throws TryAgainLater once a run has taken as long as one may */
  checkTime(): void {
    if (this.#options.clock.now().monotonic_ms <= this.#deadline_ms) return;
    throw new TryAgainLater(
      `this upload has taken ${run_ms_max / 3_600_000} h`,
      "nothing is lost, and the next one goes on from here; [upload] bytes_per_s makes it faster",
    );
  }

  /** The numbers of this box are taken by another; or readings that were held are not any more, where that is no answer. */
  #refuseConflict(answer: Answered, { accept }: CentralRequest): void {
    const { reason, message } = this.read(answer, BatchRefusalBody);
    const { host } = this.url;
    if (reason !== "gap")
      throw new OperatorError(
        `central at ${host} ${conflicts[reason].what} (${messageOf(message)})`,
        conflicts[reason].remedy,
      );
    if (accept?.includes(answer.status)) return;
    throw new TryAgainLater(
      `central at ${host} holds less than it did a moment ago (${messageOf(message)})`,
      "was it restored from a backup? The next upload sends again what it lacks",
    );
  }

  #refusal(answer: Answered, url: URL): OperatorError {
    const { status, headers } = answer;
    const { host } = this.url;
    if (status === 401 || status === 403)
      return new OperatorError(
        `central at ${host} refuses the token${said(answer)}`,
        "make one at central with lintel token create NAME --scope sync --home ID, and write it into the token file",
      );
    if (status >= 300 && status < 400)
      return new OperatorError(
        `central at ${host} sends this gateway elsewhere (${status}, ${headers.get("location") ?? "nowhere"})`,
        "write the address that answers itself into [upload] url",
      );
    if (status === 404 || status === 405)
      return new OperatorError(
        `${url.origin}${url.pathname} is answered ${status}: no Lintel central server is there`,
        "check [upload] url: it is the address without a version, such as https://central.example",
      );
    return new OperatorError(
      `central at ${host} does not take what this gateway sends (${status}${said(answer)})`,
      "run the same version of Lintel on both; if it is, this is a fault of the program",
    );
  }

  #strange(what: string): OperatorError {
    return new OperatorError(
      `the answer of ${this.url.host} is not what a Lintel central server answers (${what})`,
      "check [upload] url, and what stands between this machine and central",
    );
  }
}

const conflicts = {
  foreign: {
    what: "holds the readings of this box as another home's",
    remedy:
      "check that the token file holds the token of the home that this box is in; a box that comes from another home starts with a data directory of its own",
  },
  diverged: {
    what: "holds other readings under the numbers of this box: two boxes run on copies of one card",
    remedy:
      "keep one of them as it is; on the other stop lintel, set its data directory aside and run lintel restore, which gives it numbers of its own",
  },
} as const;

/** A value as JSON; compressed where that is worth it. */
export function jsonBody(value: unknown): Body {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  const type = "application/json";
  if (bytes.length < compress_bytes_min) return { bytes, type };
  return { bytes: new Uint8Array(Bun.zstdCompressSync(bytes)), type, coding: "zstd" };
}

/** @throws OperatorError for what is no address of a server */
function centralUrl(text: string): URL {
  const url = URL.parse(text);
  if (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.search === "" &&
    url.username === "" &&
    url.hash === ""
  )
    return url;
  throw new OperatorError(
    `${text} is not the address of a server`,
    "give one such as https://central.example",
  );
}

/** What the body of an error says, as an addition to a sentence. */
function said({ body }: Answered): string {
  try {
    const { message } = JSON.parse(new TextDecoder().decode(body));
    return typeof message === "string" ? `: ${messageOf(message)}` : "";
  } catch {
    return "";
  }
}

const batch_s_max = 60;
/** Compressed: several times what a usual one has. */
const reading_bytes_max = 16;
const compress_bytes_min = 1_024;
/** In a row, for one request: two minutes with the delays between them. */
const failures_max = 8;
/** With those at which central said when to come back. */
const attempts_max = 100;
/** A run that began at two in the morning is over when the house wakes up. */
const run_ms_max = 6 * 3_600_000;
