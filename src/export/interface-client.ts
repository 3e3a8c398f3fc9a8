import type { TSchema } from "@sinclair/typebox";
import { OperatorError } from "../base/errors.ts";
import { decodingBounds } from "../base/json-decoder.ts";
import { isServerAddress } from "../config/server-access.ts";
import { type Use, usesHeader } from "../domain/uses.ts";
import { type ClientBounds, type ClientOptions, HttpClient } from "../web/client/http-client.ts";
import type { Wording } from "../web/client/http-request.ts";
import type { InterfacePage, InterfaceReader } from "./answers.ts";

/** `url` with the version or without it. */
export interface InterfaceOptions
  extends Pick<ClientOptions, "url" | "token" | "certificate" | "clock" | "random" | "stop" | "onRetry"> {
  /** Uses that homes must have consented to; absent: none, and every home is there. */
  readonly uses?: readonly Use[] | undefined;
}

/** The interface of a gateway or a central server, as a researcher's program asks it. */
export class InterfaceClient implements InterfaceReader {
  /** With the version, without a slash at the end. */
  readonly url: string;
  readonly #client: HttpClient;

  /** @throws OperatorError for what is no address of a server */
  constructor(options: InterfaceOptions) {
    const url = withoutVersion(options.url);
    const { uses = [] } = options;
    const headers = uses.length === 0 ? {} : { [usesHeader]: uses.join() };
    this.#client = new HttpClient({
      ...options,
      ...{ url, headers, interface: version, bounds: clientBounds, wording },
    });
    this.url = `${url}${version}`;
  }

  async get<Body>(
    path: string,
    query: string,
    schema: TSchema,
  ): Promise<InterfacePage<Body> | "gone" | undefined> {
    const accept = [400, 404, 410];
    const answer = await this.#client.ask({
      method: "GET",
      path: `${path}${query}`,
      accept,
      answer: decodingBounds.page,
    });
    // Requests without a body are not cut short: this is another server.
    if (answer.status === 400) throw this.#client.unexpected("400");
    if (answer.status === 404) return undefined;
    if (answer.status === 410) return "gone";
    const body = this.#client.read(answer, schema) as Body;
    return { body, next: nextQuery(answer.headers.get("link"), `${this.url}${path}${query}`) };
  }
}

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
      "check proxies between this machine and the gateway (a proxy must keep the Host header)",
    );
  return to.search;
}

/** `http://pi:8080` and `http://pi:8080/v0.9/` are both `http://pi:8080`. @throws OperatorError for no URL, and for another version */
function withoutVersion(text: string): string {
  if (!isServerAddress(text))
    throw new OperatorError(`--url ${text} is no address`, `give one such as ${wording.url_example}`);
  const url = new URL(text);
  const path = url.pathname.replace(/\/+$/, "");
  const named = /\/v\d+\.\d+$/.exec(path)?.[0];
  if (named !== undefined && named !== version)
    throw new OperatorError(
      `--url ${text} names version ${named.slice(2)} of the interface`,
      `give the address with ${version}, which serves what is new`,
    );
  return `${url.origin}${path.slice(0, path.length - (named?.length ?? 0))}`;
}

/** The version that this program asks: older ones have neither stamps in milliseconds nor `since`. */
const version = "/v0.9";

const wording: Wording = {
  name: "the server",
  kind: "a Lintel gateway or central server",
  asker: "this program",
  run: "lintel fetch",
  url_setting: "--url",
  certificate_setting: "with --certificate FILE (`lintel status` there says which it is)",
  url_example: "http://gateway.local:8080/v0.9",
  token_remedy: "ask whoever keeps that server for a read token: `lintel token create NAME` makes it",
};

const clientBounds: ClientBounds = {
  // Together with the delays between them about two minutes: a gateway restarts in less.
  failures_max: 10,
  answer_ms_max: 60_000,
};
