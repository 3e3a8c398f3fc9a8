import type { Clock } from "../../clock.ts";
import { messageOf, OperatorError } from "../../errors.ts";
import type { Outcome } from "./outcome.ts";
import type { Pace } from "./pace.ts";

/** One request to central. */
export interface LineRequest {
  readonly method: "GET" | "POST" | "PUT";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
}

export interface LineOptions {
  readonly clock: Clock;
  readonly pace: Pace;
  /** Ends what is under way; the call rejects with the signal's reason. */
  readonly stop: AbortSignal;
  /** The certificate of a central that no authority vouches for, in PEM. */
  readonly certificate?: string;
}

/**
 * Makes one request, once. The body leaves at the given pace; each wait is bounded, so that a line that has gone dead without a word
 * is noticed. Resolves with what may go away by itself as a failure.
 *
 * @throws OperatorError for what does not: a certificate that is not trusted, an answer that is too large
 */
export async function requestOnce(request: LineRequest, options: LineOptions): Promise<Outcome> {
  const patience = new Patience(options.clock);
  const { method, url, headers, body } = request;
  const signal = AbortSignal.any([options.stop, patience.signal]);
  try {
    patience.expect(body === undefined ? answer_ms_max : stall_ms_max);
    const response = await fetch(url, {
      method,
      headers: body === undefined ? headers : { ...headers, "content-length": String(body.length) },
      ...(body === undefined ? {} : { body: paced(body, patience, { ...options, stop: signal }) }),
      // The token is for this address and no other.
      redirect: "manual",
      signal,
      ...(options.certificate === undefined ? {} : { tls: { ca: options.certificate } }),
    });
    return { status: response.status, headers: response.headers, body: await bodyOf(response, patience) };
  } catch (thrown) {
    if (options.stop.aborted) throw options.stop.reason;
    if (thrown instanceof OperatorError) throw thrown;
    const code = codeOf(thrown);
    throwCertificateFault(code, messageOf(thrown), url);
    return { failure: patience.exhausted ?? plainWords[code] ?? messageOf(thrown) };
  } finally {
    patience.end();
  }
}

/** How long each step of a request may take, and the whole. */
class Patience {
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  readonly #cancelWhole: () => void;
  #cancelStep = () => {};
  /** What took too long, in words. */
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
  patience: Patience,
  { pace, stop }: LineOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        const piece = body.slice(at, at + piece_bytes);
        at += piece.length;
        if (piece.length > 0) await pace.take(piece.length, stop);
        if (stop.aborted) return;
        patience.expect(at < body.length ? stall_ms_max : answer_ms_max);
        if (piece.length > 0) controller.enqueue(piece);
        if (at >= body.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

async function bodyOf(response: Response, patience: Patience): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  patience.expect(stall_ms_max);
  for await (const part of response.body ?? []) {
    patience.expect(stall_ms_max);
    bytes += part.length;
    if (bytes > answer_bytes_max)
      throw new OperatorError(
        `the answer to ${response.url} has more than ${answer_bytes_max} bytes`,
        "check that [upload] url is the address of a Lintel central server",
      );
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}

function throwCertificateFault(code: string, message: string, { host }: URL): void {
  const fault = certificateFaults.find(({ codes }) => codes.test(code) || codes.test(message));
  if (fault !== undefined)
    throw new OperatorError(`${host} ${fault.what} (${code || message})`, fault.remedy);
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
}

/** What TLS says, in words of who has to mend it. */
const certificateFaults: readonly { codes: RegExp; what: string; remedy: string }[] = [
  {
    codes: /CERT_HAS_EXPIRED/,
    what: "has a certificate that has expired",
    remedy: "renew it at central; if it has not, set this machine's clock",
  },
  {
    codes: /CERT_NOT_YET_VALID/,
    what: "has a certificate that is not valid yet",
    remedy: "set this machine's clock: lintel doctor says whether it is synchronised",
  },
  {
    codes: /ALTNAME_INVALID|HOSTNAME_MISMATCH/,
    what: "has a certificate for another name",
    remedy: "write the name that the certificate is for into [upload] url",
  },
  {
    codes: /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_|certificate/i,
    what: "has a certificate that no authority vouches for",
    remedy:
      'name central\'s own certificate in [upload] certificate = "…", or give central one of an authority',
  },
  {
    codes: /ERR_SSL|ERR_TLS|EPROTO|WRONG_VERSION_NUMBER/,
    what: "does not speak TLS as this machine does",
    remedy: "check that [upload] url has the right scheme (http or https) and port",
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
/** For a connection to come about, and between two pieces. */
const stall_ms_max = 60_000;
/** From the end of a body to the answer: central may be busy with other homes. */
const answer_ms_max = 120_000;
const request_ms_max = 900_000;
const answer_bytes_max = 64 * 1024 * 1024;
