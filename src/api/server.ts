import type { Server } from "bun";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { Store } from "../store/store.ts";
import { type App, buildApp } from "./app.ts";
import { Attempts } from "./attempts.ts";
import { Authorization } from "./authorization.ts";
import { endpoints } from "./endpoints.ts";
import { ApiError } from "./errors.ts";
import { type Exchange, splitUrl } from "./exchange.ts";
import { listen, reachableHost, readTls } from "./listening.ts";
import { refuse } from "./responses.ts";
import { TokenUses } from "./token-uses.ts";
import { versionsOf } from "./versions/history.ts";
import { newestVersion } from "./versions.ts";

/** The interface, listening. */
export interface Api {
  /** Where it is reached: `http://127.0.0.1:8080/v0.9`, with 127.0.0.1 for an address that means all of them. */
  readonly url: string;
  readonly port: number;
  /** Takes no more requests, lets those under way finish within `stop_ms`, and keeps when tokens were used. */
  stop(): Promise<void>;
}

/** What a server holds a client to. */
export interface ApiBounds {
  /** Characters of a URL; a longer one is refused. All headers together are bound to 16 KiB by Bun. */
  readonly url_length_max: number;
  /** Bytes of a request's body, which nothing here reads. */
  readonly body_bytes_max: number;
  /** Requests being answered at once; more are refused. */
  readonly requests_max: number;
  /** Seconds after which a connection is closed on which nothing happens. */
  readonly idle_s: number;
  /** Wrong tokens from one address in a minute. */
  readonly attempts_max: number;
  /** Addresses whose wrong tokens are counted at once. */
  readonly addresses_max: number;
  /** Bytes of encoded pages kept in memory for those who ask for the same; 0 keeps none. */
  readonly cache_bytes_max: number;
  /** How long a stop waits for requests under way, milliseconds. */
  readonly stop_ms: number;
}

export const defaultBounds: ApiBounds = {
  url_length_max: 4096,
  body_bytes_max: 65_536,
  requests_max: 256,
  idle_s: 30,
  attempts_max: 120,
  addresses_max: 4096,
  cache_bytes_max: 2 * 1024 * 1024,
  stop_ms: 5000,
};

/**
 * Serves the interface of `store`.
 *
 * @param options.listen port 0 takes a free one
 * @param options.realm named in the challenge of a 401
 * @param options.tls paths of PEM files; absent: plain HTTP
 * @throws OperatorError when the address cannot be had or the TLS files cannot be used; nothing is left running
 */
export async function startApi(
  options: {
    store: Store;
    clock: Clock;
    log: Log;
    listen: { hostname: string; port: number };
    realm: string;
    tls?: { certificate: string; key: string };
  } & Partial<ApiBounds>,
): Promise<Api> {
  const { store, clock, listen: address, realm, tls: files, ...given } = options;
  const log = options.log.named("api");
  const bounds = { ...defaultBounds, ...given };
  const uses = new TokenUses({ store, clock, log });
  const attempts = new Attempts({ ...bounds, clock });
  const authorization = new Authorization({ store, clock, realm, attempts, uses });
  const app = buildApp({ ...bounds, versions: versionsOf(endpoints), store, authorization, log });
  const tls = files === undefined ? {} : { tls: await readTls(files, { clock, log }) };
  const server = listen({ ...bounds, ...address, ...tls, fetch: admission({ app, bounds, clock, log }) });
  const scheme = files === undefined ? "http" : "https";
  const port = server.port ?? address.port;
  let stopped: Promise<void> | undefined;
  return {
    url: `${scheme}://${reachableHost(address.hostname)}:${port}/v${newestVersion}`,
    port,
    stop: () => {
      stopped ??= stop({ server, clock, uses, stop_ms: bounds.stop_ms });
      return stopped;
    },
  };
}

/** Gives requests to the interface, within the bounds. */
function admission(options: { app: App; bounds: ApiBounds; clock: Clock; log: Log }) {
  const { app, bounds, clock, log } = options;
  let underWay = 0;
  return async (request: Request, server: Server<undefined>): Promise<Response> => {
    const { method, url, headers } = request;
    const parts = splitUrl(url);
    const exchange: Exchange = {
      method,
      url,
      path: parts?.path ?? url,
      query: parts?.query ?? "",
      authorization: headers.get("authorization"),
      accept: headers.get("accept"),
      acceptEncoding: headers.get("accept-encoding"),
      ifNoneMatch: headers.get("if-none-match"),
      get address() {
        return server.requestIP(request)?.address ?? "an unknown address";
      },
      now_ms: clock.now().unix_ms,
    };
    const { requests_max, url_length_max: length_max } = bounds;
    if (underWay >= requests_max) return refuse(tooBusy(), exchange, log);
    if (parts === undefined) return refuse(new ApiError("host_malformed", {}), exchange, log);
    if (url.length > length_max) return refuse(new ApiError("url_too_long", { length_max }), exchange, log);
    underWay += 1;
    try {
      return await app(exchange);
    } finally {
      underWay -= 1;
    }
  };
}

function tooBusy(): ApiError {
  return new ApiError("too_busy", { retry_s: 1 }, { "Retry-After": "1" });
}

async function stop(options: {
  server: Server<undefined>;
  clock: Clock;
  uses: TokenUses;
  stop_ms: number;
}): Promise<void> {
  const cancel = options.clock.after(options.stop_ms, () => void options.server.stop(true));
  await options.server.stop();
  cancel();
  await options.uses.flush();
}
