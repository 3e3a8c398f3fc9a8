import type { Server } from "bun";
import type { AnyElysia } from "elysia";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { RecentlyUsed } from "../../base/recently-used.ts";
import { reachableHost } from "../../config/server-access.ts";
import type { Store } from "../../store/store.ts";
import { Attempts, Authorization, networkOf, TokenUses } from "./authorization.ts";
import { Budget } from "./caller-budget.ts";
import { boundsWithin, ClientConnections } from "./client-connections.ts";
import {
  addressOf,
  appAt,
  appOf,
  type MakeRefusalPage,
  makeRoutable,
  pathIn,
  peerOf,
  type RefusalPage,
  type Refuse,
} from "./elysia-app.ts";
import { type ErrorRecord, errorTable, HttpError } from "./http-errors.ts";
import { configuredSettings, listen, readTls, type SettingNames } from "./listening.ts";
import { Crowding, isBusy, refusalOf, StoreOutages } from "./refusals.ts";
import type { MachineScale } from "./request-costs.ts";
import { protect } from "./responses.ts";

/** Everything that this program serves, listening on one port. */
export interface HttpServer {
  /** Where it is reached: `http://127.0.0.1:8080`, with 127.0.0.1 for an address that means all of them. */
  readonly origin: string;
  readonly port: number;
  /**
   * Served for TLS: path of a PEM file, and its SHA-256 fingerprint as 32 pairs of hex digits with colons; absent:
   * plain HTTP.
   */
  readonly certificate?: { readonly certificate: string; readonly fingerprint: string };
  /** Connections that were closed since the start because there were too many at once. */
  connectionsClosed(): number;
  /** Requests that were refused since the start because too much was under way. */
  requestsRefused(): number;
  /** Accepts no more requests, lets running ones finish within `stop_ms`, and stores when tokens were used. */
  stop(): Promise<void>;
}

/** Bounds of a client's requests. */
export interface ServerBounds {
  /** Characters of a URL; a longer one is refused. All headers together are bound to 16 KiB by Bun. */
  readonly url_length_max: number;
  /** Bytes of a request's body for paths that read none, unless another app reads larger ones. */
  readonly body_bytes_max: number;
  /** Requests being answered at once; more are refused. No more than there may be connections. */
  readonly requests_max: number;
  /** Connections at once, or a quarter of the files that the process may have open, whichever is less. */
  readonly connections_max: number;
  /** Seconds after which a connection is closed on which nothing happens. */
  readonly idle_s: number;
  /** Wrong tokens from one address in a minute. */
  readonly attempts_max: number;
  /** Addresses whose wrong tokens are counted at once. */
  readonly addresses_max: number;
  /** How long a stop waits for requests under way, milliseconds. */
  readonly stop_ms: number;
}

export const defaultBounds: ServerBounds = {
  url_length_max: 4096,
  body_bytes_max: 65_536,
  requests_max: 256,
  connections_max: 512,
  idle_s: 30,
  attempts_max: 120,
  addresses_max: 4096,
  stop_ms: 5000,
};

/**
 * Serves `apps` on one port to holders of tokens of `store`.
 *
 * @param options.listen port 0 takes a free one
 * @param options.realm named in the challenge of a 401
 * @param options.tls paths of PEM files; absent: plain HTTP
 * @throws OperatorError when the address cannot be had or the TLS files cannot be used; nothing is left running
 */
export async function startServer(
  options: {
    store: Pick<Store, "token" | "noteTokenUse" | "noteInJournal">;
    clock: Clock;
    log: Log;
    listen: { hostname: string; port: number };
    realm: string;
    tls?: { certificate: string; key: string };
    apps: readonly AnyElysia[];
    /** The size of the machine, which the budget of each caller is made for. */
    scale?: MachineScale;
    /** Names of the settings; absent: as in a gateway's configuration. */
    settings?: SettingNames;
  } & Partial<ServerBounds>,
): Promise<HttpServer> {
  const {
    store,
    clock,
    listen: address,
    realm,
    tls: files,
    apps,
    settings = configuredSettings,
    scale = "gateway",
    ...given
  } = options;
  const log = options.log.named("http");
  const bounds = { ...defaultBounds, ...given };
  const uses = new TokenUses({ store, clock, log });
  const attempts = new Attempts({ ...bounds, clock });
  const authorization = new Authorization({ store, clock, realm, attempts, uses });
  const outages = new StoreOutages({ clock, log });
  const crowding = new Crowding({ clock });
  const refusalPages = new RecentlyUsed<RefusalPage>({ weight_max: refusal_pages_bytes_max });
  const logOf = new Map(apps.map(({ config: { name = "" } }) => [name, options.log.named(name)]));
  const refuse: Refuse = async (thrown, request) => {
    const app = appAt(apps, request.path);
    // A client that repeats refused requests at once would keep the server busy with refusals.
    if (thrown instanceof HttpError && thrown.body.code === errorTable.budget_spent.code)
      await new Promise<void>((resolve) => clock.after(refusal_ms, resolve));
    const appLog = logOf.get(app?.config.name ?? "") ?? log;
    const refusal = refusalOf(thrown, request, { log: appLog, outages, crowding });
    const make: MakeRefusalPage | undefined = app?.decorator.refusalPage;
    if (make === undefined || !request.accept?.includes("text/html")) return refusal;
    return asPage(refusal, make, { known: refusalPages, form: request.method === "POST" }).catch((fault) => {
      log.warn(`the page of a refusal could not be made: ${messageOf(fault)}`);
      return refusal;
    });
  };
  const budget = new Budget({ clock, scale });
  const app = appOf(apps, { parts: { authorization, budget, clock }, refuse });
  const tls = files && (await readTls(files, { clock, log, settings }));
  const within = boundsWithin(bounds.connections_max);
  const requests_max = Math.min(bounds.requests_max, within.connections_max);
  const connections = new ClientConnections({ bounds: within, clock, log });
  const server = listen({
    ...bounds,
    ...address,
    tls,
    body_bytes_max: Math.max(
      bounds.body_bytes_max,
      ...apps.map(({ config }) => config.serve?.maxRequestBodySize ?? 0),
    ),
    settings,
    fetch: admission(app, { bounds: { ...bounds, requests_max }, connections, refuse, outages }),
  });
  app.server = server;
  const scheme = files === undefined ? "http" : "https";
  const port = server.port ?? address.port;
  connections.keep(port);
  let stopped: Promise<void> | undefined;
  return {
    origin: `${scheme}://${reachableHost(address.hostname)}:${port}`,
    port,
    certificate: files && tls && { certificate: files.certificate, fingerprint: tls.fingerprint },
    connectionsClosed: () => connections.closed,
    requestsRefused: () => crowding.refused,
    stop: () => {
      for (const { fn: end } of app.event.stop ?? []) end(app);
      stopped ??= stop({ server, connections, clock, uses, stop_ms: bounds.stop_ms });
      return stopped;
    },
  };
}

/** Gives requests to `app`, within the bounds. */
function admission(
  app: AnyElysia,
  {
    bounds,
    connections,
    refuse,
    outages,
  }: { bounds: ServerBounds; connections: ClientConnections; refuse: Refuse; outages: StoreOutages },
) {
  const { requests_max, url_length_max: length_max } = bounds;
  /** One address has a quarter, as it has of the connections: its requests wait, and others come in meanwhile. */
  const of_address_max = Math.max(1, Math.floor(requests_max / 4));
  let underWay = 0;
  const underWayOf = new Map<string, number>();
  return async (request: Request, server: Server<undefined>): Promise<Response> => {
    const { method, url } = request;
    const refused = async (error: HttpError) => {
      const accept = request.headers.get("accept");
      const address = addressOf(request, server);
      return protect(await refuse(error, { method, path: pathIn(url), address, accept }));
    };
    if (underWay >= requests_max) return refused(new HttpError("too_busy", { retry_s: 1 }));
    if (!makeRoutable(request)) return refused(new HttpError("host_malformed", {}));
    if (url.length > length_max) return refused(new HttpError("url_too_long", { length_max }));
    const network = networkOf(addressOf(request, server));
    const own = underWayOf.get(network) ?? 0;
    if (own >= of_address_max) return refused(new HttpError("budget_spent", { retry_s: 1 }));
    underWayOf.set(network, own + 1);
    underWay += 1;
    const over = connections.begin(peerOf(request, server)?.port);
    try {
      const response = protect(await app.fetch(request));
      if (response.ok) outages.passed(method);
      return response;
    } finally {
      underWay -= 1;
      const left = (underWayOf.get(network) ?? 0) - 1;
      if (left > 0) underWayOf.set(network, left);
      else underWayOf.delete(network);
      over();
    }
  };
}

/** A refusal as a browser shows it. */
async function asPage(
  refusal: Response,
  make: MakeRefusalPage,
  { known, form }: { known: RecentlyUsed<RefusalPage>; form: boolean },
): Promise<Response> {
  const { message, code } = (await refusal.clone().json()) as ErrorRecord;
  const { status } = refusal;
  const after = refusal.headers.get("Retry-After");
  const busy = isBusy(code);
  const name = `${code} ${form} ${after} ${message}`;
  let page = known.get(name);
  if (page === undefined) {
    page = await make({
      status,
      code,
      message,
      busy,
      form,
      ...(after === null ? {} : { retry_s: Number(after) }),
    });
    known.set(name, page, page.text.length + name.length);
  }
  const headers = new Headers(refusal.headers);
  for (const [name, value] of Object.entries(page.headers)) headers.set(name, value);
  // The browser tries again by itself.
  if (busy && after !== null) headers.set("Refresh", after);
  return new Response(page.text, { status, headers });
}

/** A refusal beyond the budget of a caller is answered after this time; it says to come back later still. */
const refusal_ms = 1_000;
/** Refusal pages that were already made, so that a thousand refused requests a second do not make a thousand pages. */
const refusal_pages_bytes_max = 200_000;

async function stop(options: {
  server: Server<undefined>;
  connections: ClientConnections;
  clock: Clock;
  uses: TokenUses;
  stop_ms: number;
}): Promise<void> {
  options.connections.stop();
  const cancel = options.clock.after(options.stop_ms, () => void options.server.stop(true));
  await options.server.stop();
  cancel();
  await options.uses.flush();
}
