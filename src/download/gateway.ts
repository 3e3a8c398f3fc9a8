import type { TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import type { Clock } from "../clock.ts";
import { messageOf, OperatorError } from "../errors.ts";
import { retryAfter_ms, retryDelay_ms } from "../retry.ts";

/** An answer of the interface, with the query of the page that follows it. */
export interface Answer<Body> {
  readonly body: Body;
  /** With its `?`; undefined on the last page. */
  readonly next: string | undefined;
}

/**
 * The interface of a gateway or a central server, asked as a client with a token. Asks again, a bounded number of
 * times, when the network or the server fails; what asking again cannot mend is an OperatorError.
 */
export class Gateway {
  /** With the version, without a slash at the end. */
  readonly url: string;
  readonly #token: string;
  readonly #certificate: string | undefined;
  readonly #clock: Clock;
  readonly #stop: AbortSignal;
  readonly #onRetry: (reason: string, delay_ms: number) => void;
  readonly #checks = new Map<TSchema, TypeCheck<TSchema>>();

  constructor(options: {
    url: string;
    token: string;
    /** The certificate of a server that no authority vouches for, in PEM. */
    certificate?: string;
    clock: Clock;
    /** Ends what is under way; the call rejects with the signal's reason. */
    stop: AbortSignal;
    onRetry: (reason: string, delay_ms: number) => void;
  }) {
    this.url = versionedUrl(options.url);
    this.#token = options.token;
    this.#certificate = options.certificate;
    this.#clock = options.clock;
    this.#stop = options.stop;
    this.#onRetry = options.onRetry;
  }

  /**
   * @param path below the version, percent-encoded
   * @param query with its `?`, or empty
   * @param schema what the body must be
   * @returns undefined where there is no such path or record
   */
  async get<Body>(path: string, query: string, schema: TSchema): Promise<Answer<Body> | undefined> {
    const url = `${this.url}${path}${query}`;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#attempt(url);
      if ("response" in outcome) {
        const { response, text } = outcome;
        if (response.status === 404) return undefined;
        if (response.status === 410) throw new Gone(`${url} is gone${messageIn(text)}`, "begin again");
        if (!response.ok) throw this.#refusal(response, text);
        const body = this.#checked(url, text, schema);
        return { body: body as Body, next: nextQuery(response.headers.get("link"), url) };
      }
      if (attempt >= attempts_max)
        throw new OperatorError(
          `${new URL(this.url).host} does not answer (${outcome.reason}; ${attempts_max} attempts)`,
          "check the address and the network; the same command goes on where this one ended",
        );
      const delay_ms = outcome.retry_ms ?? retryDelay_ms(attempt);
      this.#onRetry(outcome.reason, delay_ms);
      await this.#wait(delay_ms);
    }
  }

  /** One request: an answer that is final, or why it makes sense to ask again. */
  async #attempt(
    url: string,
  ): Promise<{ response: Response; text: string } | { reason: string; retry_ms?: number }> {
    const timeout = new AbortController();
    const cancel = this.#clock.after(request_ms, () =>
      timeout.abort(new Error(`no answer within ${request_ms / 1000} s`)),
    );
    try {
      const response = await fetch(url, {
        headers: { Authorization: `bearer ${this.#token}`, Accept: "application/json" },
        // The token is for this address and no other.
        redirect: "manual",
        signal: AbortSignal.any([this.#stop, timeout.signal]),
        ...(this.#certificate === undefined ? {} : { tls: { ca: this.#certificate } }),
      });
      const text = await bodyOf(response, url);
      if (response.status !== 429 && response.status < 500) return { response, text };
      const retry_ms = retryAfter_ms(response.headers.get("retry-after"), this.#clock.now().unix_ms);
      const reason = `it answers ${response.status}${messageIn(text)}`;
      return retry_ms === undefined ? { reason } : { reason, retry_ms };
    } catch (thrown) {
      if (this.#stop.aborted) throw this.#stop.reason;
      if (thrown instanceof OperatorError) throw thrown;
      if (certificateFault.test(messageOf(thrown)) || certificateFault.test(codeOf(thrown)))
        throw new OperatorError(
          `the certificate of ${new URL(url).host} is not one that this machine trusts (${messageOf(thrown)})`,
          wrongName.test(messageOf(thrown)) || wrongName.test(codeOf(thrown))
            ? "give --url a name that the certificate is for"
            : "name the server's own certificate with --certificate FILE, if it has one; `lintel status` there says which",
        );
      return { reason: messageOf(thrown) };
    } finally {
      cancel();
    }
  }

  #refusal(response: Response, text: string): OperatorError {
    const said = messageIn(text);
    if (response.status === 401)
      return new OperatorError(
        `${new URL(this.url).host} refuses the token${said}`,
        "ask whoever keeps that server for a read token: `lintel token create NAME` makes it",
      );
    return new OperatorError(
      `${response.url} is answered ${response.status}${said}`,
      "check that --url is the address of a Lintel gateway or central server, with its /v0.9",
    );
  }

  #checked(url: string, text: string, schema: TSchema): unknown {
    const check = this.#checks.get(schema) ?? TypeCompiler.Compile(schema);
    this.#checks.set(schema, check);
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch (thrown) {
      throw unexpected(url, messageOf(thrown));
    }
    if (!check.Check(body)) {
      const first = check.Errors(body).First();
      throw unexpected(url, `${first?.path ?? ""} ${first?.message ?? ""}`.trim());
    }
    return body;
  }

  #wait(delay_ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const stopped = () => {
        cancel();
        reject(this.#stop.reason);
      };
      const cancel = this.#clock.after(delay_ms, () => {
        this.#stop.removeEventListener("abort", stopped);
        resolve();
      });
      if (this.#stop.aborted) stopped();
      else this.#stop.addEventListener("abort", stopped, { once: true });
    });
  }
}

/** What a query goes on from is not known any more. */
export class Gone extends OperatorError {}

/**
 * The query of the page that a Link header names as the next; undefined where it names none. It must be another
 * page of the same list: a token is never sent, nor a walk led, elsewhere.
 */
export function nextQuery(link: string | null, url: string): string | undefined {
  const target = /<([^>]*)>\s*;(?:[^,<]*;)?\s*rel="?next"?/i.exec(link ?? "")?.[1];
  if (target === undefined) return undefined;
  const [from, to] = [new URL(url), URL.parse(target, url)];
  if (to === null || to.origin !== from.origin || to.pathname !== from.pathname || to.search === from.search)
    throw new OperatorError(
      `${from.origin}${from.pathname} names ${target} as its next page, which is not one of its pages`,
      "check what stands between this machine and the gateway (a proxy must keep the Host header)",
    );
  return to.search;
}

/** `http://pi:8080` and `http://pi:8080/v0.9/` are both `http://pi:8080/v0.9`. @throws OperatorError for no URL */
function versionedUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.username !== "")
    throw new OperatorError(`--url ${text} is no address`, "give one such as http://gateway.local:8080/v0.9");
  const path = url.pathname.replace(/\/+$/, "");
  const version = /\/v(\d+\.\d+)$/.exec(path)?.[1];
  if (version !== undefined && version !== interfaceVersion)
    throw new OperatorError(
      `--url ${text} names version ${version} of the interface`,
      `give the address with /v${interfaceVersion}, which has stamps in milliseconds`,
    );
  return `${url.origin}${version === undefined ? `${path}/v${interfaceVersion}` : path}`;
}

async function bodyOf(response: Response, url: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > body_bytes_max) throw unexpected(url, `more than ${body_bytes_max} bytes`);
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}

/** What an error's body says, as an addition to a sentence. */
function messageIn(text: string): string {
  try {
    const { message, code } = JSON.parse(text);
    return typeof message === "string" ? ` (${messageOf(message)}, code ${Number(code)})` : "";
  } catch {
    return "";
  }
}

function unexpected(url: string, what: string): OperatorError {
  return new OperatorError(
    `the answer to ${url} is not what version ${interfaceVersion} answers (${what})`,
    "check that --url is the address of a Lintel gateway or central server",
  );
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
}

const wrongName = /ALTNAME_INVALID|HOSTNAME_MISMATCH/;
const certificateFault = /certificate|CERT_|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/i;

/** The version that this program asks: older ones don't have stamps in milliseconds. */
const interfaceVersion = "0.9";
/** Together with the delays between them about two minutes: a gateway restarts in less. */
const attempts_max = 10;
const request_ms = 60_000;
const body_bytes_max = 32 * 1024 * 1024;
