import type { Clock } from "../../base/clock.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import {
  codingOf,
  codings,
  DecodingFault,
  decodingBounds,
  expand,
  readAtMost,
} from "../../base/json-decoder.ts";

/** A run failed for now; a later one may succeed without any action. */
export class TryAgainLater extends OperatorError {}

/** A server has a certificate that no authority vouches for. One who knows it to be the server's can name it, and it is trusted. */
export class UntrustedCertificate extends OperatorError {}

/** The outcome of one request: an answer, or a failure that may pass without action. Other failures are thrown. */
export type Outcome = Answered | Failed;

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

export interface Failed {
  readonly failure: string;
  /** For how long the server asked to wait, milliseconds. */
  readonly retry_ms?: number;
  /** The status that it answered, where it did: 429 is a queue, and waiting in it no failure; nor is 503 that says when to come back. */
  readonly answered?: number;
}

/** Names of a server, and of the settings of this side, in messages for operators. */
export interface Wording {
  /** The server: `central`. */
  readonly name: string;
  /** The program that answers there, if the address is right: `a Lintel central server`. */
  readonly kind: string;
  /** The client: `this gateway`. */
  readonly asker: string;
  /** The run that asks: `upload`. */
  readonly run: string;
  /** A way to make a run shorter, where a run is bounded. */
  readonly hastening?: string;
  /** The setting of the address: `[upload] url`. */
  readonly url_setting: string;
  /** How its certificate is named: `in [upload] certificate = "…"`. */
  readonly certificate_setting: string;
  /** An address as it should be: `https://central.example`. */
  readonly url_example: string;
  /** The remedy for a token that is refused. */
  readonly token_remedy: string;
}

/**
 * Limits how fast bytes leave: on average never more than the rate, in any stretch never more than a piece beyond
 * it, so that other users of the connection hardly notice.
 */
export class RateLimiter {
  readonly #bytes_per_s: number;
  readonly #clock: Clock;
  /** When all that was let go has had its time on the way, monotonic. */
  #busy_until_ms = 0;

  constructor(options: { bytes_per_s: number; clock: Clock }) {
    this.#bytes_per_s = options.bytes_per_s;
    this.#clock = options.clock;
  }

  /** Lets a piece go: resolves once those before it have had their time; a stop resolves it at once. */
  async take(bytes: number, stop: AbortSignal): Promise<void> {
    const now_ms = this.#clock.now().monotonic_ms;
    const start_ms = Math.max(now_ms, this.#busy_until_ms);
    this.#busy_until_ms = start_ms + (bytes * 1000) / this.#bytes_per_s;
    if (start_ms > now_ms) await pause(start_ms - now_ms, this.#clock, stop);
  }
}

/** Resolves after a time, or when `stop` is aborted: the caller looks which. */
export function pause(delay_ms: number, clock: Clock, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      stop.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(delay_ms, end);
    if (stop.aborted) end();
    else stop.addEventListener("abort", end, { once: true });
  });
}

/** One request. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT";
  readonly url: URL;
  /** Those that are undefined are not sent. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: Uint8Array<ArrayBuffer>;
}

/** Sends a request and answers once the head of the response is there. */
export type Fetch = (url: URL, init: BunFetchRequestInit) => Promise<Response>;

interface RequestOptions {
  readonly clock: Clock;
  /** Absent: bodies leave as fast as they can. */
  readonly limiter?: RateLimiter;
  /** Ends the request; the call rejects with the signal's reason. */
  readonly stop: AbortSignal;
  /** The server's own certificate, if no authority certifies it, in PEM. */
  readonly certificate?: string | undefined;
  /** From the end of a request to the first word of the answer, milliseconds. */
  readonly answer_ms_max: number;
  /** Bytes of an answer, on the wire and expanded. One that is no success has fewer. */
  readonly answer_bytes_max: number;
  readonly wording: Wording;
  /** The network; absent: Bun's. */
  readonly fetch?: Fetch;
}

/**
 * Makes one request, once. The body leaves no faster than `limiter` allows. Each wait is bounded, so that a dead connection
 * is noticed. A failure that may pass without action is an outcome, not an error.
 *
 * @throws OperatorError for other failures: a certificate that is not trusted, an answer that is too large
 */
export async function requestOnce(request: HttpRequest, options: RequestOptions): Promise<Outcome> {
  const timeouts = new Timeouts(options.clock);
  const { method, url, headers, body } = request;
  const signal = AbortSignal.any([options.stop, timeouts.signal]);
  try {
    timeouts.expect(body === undefined ? options.answer_ms_max : stall_ms_max);
    const response = await (options.fetch ?? fetch)(url, {
      method,
      headers: Object.entries({
        ...headers,
        "accept-encoding": codings.join(", "),
        "content-length": body?.length.toString(),
      }).filter((header): header is [string, string] => header[1] !== undefined),
      body: body && paced(body, timeouts, { ...options, stop: signal }),
      // The token is for this address and no other.
      redirect: "manual",
      // Bun would expand 1 GiB out of 32 KiB at once.
      decompress: false,
      signal,
      tls: { ca: options.certificate },
    });
    const { status } = response;
    const read = response.ok ? bodyOf : refusalOf;
    return { status, headers: response.headers, body: await read(response, timeouts, options) };
  } catch (thrown) {
    if (options.stop.aborted) throw options.stop.reason;
    if (thrown instanceof OperatorError) throw thrown;
    const code = codeOf(thrown);
    if (code === "ResponseHeadersTooLarge") throw headersTooLarge(url, options.wording);
    throwCertificateFault(code, messageOf(thrown), url, options);
    return { failure: timeouts.exhausted ?? plainWords[code] ?? withoutAddress(messageOf(thrown), url) };
  } finally {
    timeouts.end();
  }
}

/** How long each step of a request may take, and the whole. */
class Timeouts {
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  readonly #cancelWhole: () => void;
  #cancelStep = () => {};
  /** The step that took too long, as text for a message. */
  exhausted: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#cancelWhole = clock.after(request_ms_max, () => this.#end("the request takes", request_ms_max));
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Something has moved: the next thing must within this time. */
  expect(step_ms: number): void {
    this.#cancelStep();
    this.#cancelStep = this.#clock.after(step_ms, () => this.#end("nothing has moved for", step_ms));
  }

  end(): void {
    this.#cancelStep();
    this.#cancelWhole();
  }

  #end(what: string, limit_ms: number): void {
    this.exhausted = `${what} ${limit_ms / 1000} s`;
    this.#abort.abort(new Error(this.exhausted));
  }
}

function paced(
  body: Uint8Array<ArrayBuffer>,
  timeouts: Timeouts,
  { limiter, stop, answer_ms_max }: RequestOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        const piece = body.slice(at, at + piece_bytes);
        at += piece.length;
        if (piece.length > 0) await limiter?.take(piece.length, stop);
        if (stop.aborted) return;
        timeouts.expect(at < body.length ? stall_ms_max : answer_ms_max);
        if (piece.length > 0) controller.enqueue(piece);
        if (at >= body.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** The body of an answer, expanded; one that ends before it should is a failure of the connection. */
async function bodyOf(
  response: Response,
  timeouts: Timeouts,
  options: RequestOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const { answer_bytes_max, wording } = options;
  try {
    return await readWithin(response, timeouts, answer_bytes_max);
  } catch (thrown) {
    if (!(thrown instanceof DecodingFault) || thrown.kind === "malformed") throw thrown;
    if (thrown.kind !== "coding") throw tooLarge(response, options);
    throw new OperatorError(
      `the answer of ${new URL(response.url).host} ${thrown.message}`,
      `check proxies between this machine and ${wording.name}`,
    );
  }
}

/** The words of an answer that is no success; none where they are not to be read. */
async function refusalOf(response: Response, timeouts: Timeouts): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await readWithin(response, timeouts, decodingBounds.refusal.bytes_max);
  } catch (thrown) {
    if (thrown instanceof DecodingFault) return new Uint8Array();
    throw thrown;
  }
}

async function readWithin(
  response: Response,
  timeouts: Timeouts,
  bytes_max: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  try {
    timeouts.expect(stall_ms_max);
    const sent = await readAtMost(reader, bytes_max, () => timeouts.expect(stall_ms_max));
    return sent.length === 0 ? sent : expand(sent, codingOf(response.headers), bytes_max);
  } finally {
    // Of an answer that is not read to its end nothing more is taken from the network.
    reader.cancel().catch(() => undefined);
  }
}

function tooLarge({ url }: Response, { answer_bytes_max, wording }: RequestOptions): OperatorError {
  return new OperatorError(
    `the answer of ${new URL(url).host} has more than ${answer_bytes_max} bytes`,
    `check that ${wording.url_setting} is the address of ${wording.kind}`,
  );
}

/** Bun reads at most 16 KiB of them. */
function headersTooLarge({ host }: URL, { kind, url_setting }: Wording): OperatorError {
  return new OperatorError(
    `the answer of ${host} has more headers than are read`,
    `check that ${url_setting} is the address of ${kind}`,
  );
}

function throwCertificateFault(
  code: string,
  message: string,
  { host }: URL,
  { wording, certificate }: RequestOptions,
): void {
  const fault = certificateFaults.find(({ codes }) => codes.test(code) || codes.test(message));
  if (fault === undefined) return;
  const { Fault = OperatorError, what, remedy } = fault;
  // Its own certificate is named already: what the server shows is another.
  if (Fault === UntrustedCertificate && certificate !== undefined)
    throw new Fault(
      `${host} shows another certificate than the one ${wording.certificate_setting} (${code || message})`,
      `if ${wording.name} was given another, ask whoever runs it for that file and put it there; if not, somebody else answers: send nothing`,
    );
  throw new Fault(`${host} ${what} (${code || message})`, remedy(wording));
}

/** A reason for people: paths of the interface say nothing to them. */
function withoutAddress(message: string, url: URL): string {
  return message.replaceAll(url.href, url.host);
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
}

/** TLS errors, as text for the person who has to correct them. */
const certificateFaults: readonly {
  codes: RegExp;
  what: string;
  remedy: (wording: Wording) => string;
  Fault?: typeof OperatorError;
}[] = [
  {
    codes: /CERT_HAS_EXPIRED/,
    what: "has a certificate that has expired",
    remedy: ({ name }) => `renew it at ${name}; if it has not, set this machine's clock`,
  },
  {
    codes: /CERT_NOT_YET_VALID/,
    what: "has a certificate that is not valid yet",
    remedy: () => "set this machine's clock: timedatectl says whether it is synchronised",
  },
  {
    codes: /ALTNAME_INVALID|HOSTNAME_MISMATCH/,
    what: "has a certificate for another name",
    remedy: ({ url_setting }) => `give ${url_setting} the name that the certificate is for`,
  },
  {
    codes: /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_|certificate/i,
    what: "has a certificate that no authority vouches for",
    remedy: ({ name, certificate_setting }) =>
      `name the certificate of ${name} ${certificate_setting}, or give ${name} one of an authority`,
    Fault: UntrustedCertificate,
  },
  {
    codes: /ERR_SSL|ERR_TLS|EPROTO|WRONG_VERSION_NUMBER/,
    what: "does not speak TLS as this machine does",
    remedy: ({ url_setting }) => `check that ${url_setting} has the right scheme (http or https) and port`,
  },
];

/** Codes of the system and of Bun. */
const plainWords: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nobody listens there",
  ConnectionRefused: "nobody listens there",
  ECONNRESET: "the connection was cut",
  ConnectionClosed: "the connection was closed",
  ENOTFOUND: "its name is not known here: is the network up?",
  EAI_AGAIN: "its name cannot be looked up now: is the network up?",
  ENETUNREACH: "there is no way there: is the network up?",
  EHOSTUNREACH: "there is no way there: is the network up?",
  ETIMEDOUT: "it does not answer",
  Timeout: "it does not answer",
};

/** A piece of a body on its way: a sixteenth of a second at the pace that is usual. */
const piece_bytes = 16 * 1024;
/** For a connection to open, and between two pieces of a body. */
const stall_ms_max = 60_000;
const request_ms_max = 900_000;
