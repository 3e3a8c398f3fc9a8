import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SystemClock } from "../../../src/base/clock.ts";
import { lineLog } from "../../../src/base/log.ts";
import { type Binding, mintToken, type Scope } from "../../../src/domain/token.ts";
import type { GatewayStore } from "../../../src/store/gateway/gateway-store.ts";
import { openGatewayStore } from "../../../src/store/sqlite/open-store.ts";
import { apiApp, apiUrl } from "../../../src/web/api/api-routes.ts";
import { dashboardApp } from "../../../src/web/pages/page-routes.ts";
import type { Site } from "../../../src/web/pages/site.ts";
import { type ServerBounds, startServer } from "../../../src/web/server/http-server.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";

/** API and pages of a gateway on a free port, over a real store in a directory of its own. */
export interface PagesServer extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  readonly store: GatewayStore;
  /** The clock of the server; the store has the machine's. */
  readonly clock: SettableClock;
  /** A token of each kind, by name, as its holder has it. */
  readonly tokens: Readonly<Record<Scope | "expired", string>>;
  /** The name of the cookie of a session here. */
  readonly cookieName: string;
  mint(scope: Scope, expires_ms?: number, binding?: Binding): Promise<string>;
  /** Asks for a page as a browser does, with the session of a token, and follows no redirect. */
  page(path: string, token?: string, options?: RequestInit): Promise<Response>;
  /** Sends a form as a page of this server does. */
  send(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Response>;
}

export const now_ms = Date.UTC(2026, 10, 20, 12, 0, 0) + 250;

/** A browser's word that a page of the same server makes a request. */
export const ownForm = { "Sec-Fetch-Site": "same-origin" };

export async function servePages({
  now_ms: begun_ms = now_ms,
  site: more = {},
  ...options
}: Partial<ServerBounds> & {
  tls?: { certificate: string; key: string };
  now_ms?: number;
  /** Facts that its pages know besides, or instead. */
  site?: Partial<Site>;
} = {}): Promise<PagesServer> {
  const directory = await mkdtemp(join(tmpdir(), "lintel-pages-"));
  const clock = new SettableClock(begun_ms);
  const log = lineLog({ write: () => {}, clock });
  const store = await openGatewayStore({
    directory,
    clock: new SystemClock(),
    log,
    home: more.home ?? 12,
    ...writerOfTests(),
  });
  const site: Site = {
    role: "gateway",
    api: apiUrl({ origin: "" }),
    store,
    version: "0",
    home: 12,
    zoneOf: async () => "Europe/Berlin",
    ...more,
  };
  const settingOf = async (home: number) => {
    const [timezone, walking = []] = [await site.zoneOf(home), await site.walkingOf?.(home)];
    return { id: site.home, timezone, walking };
  };
  const server = await startServer({
    store,
    clock,
    log,
    listen: { hostname: "127.0.0.1", port: 0 },
    realm: "lintel",
    apps: [apiApp({ store, settingOf }), dashboardApp(site)],
    ...options,
  });
  const { origin, port } = server;
  const mint = async (scope: Scope, expires_ms?: number, binding?: Binding) => {
    const { token, text } = mintToken({ name: scope, scope, clock, expires_ms, ...(binding && { binding }) });
    await store.addToken(token);
    return text;
  };
  const tokens = {
    read: await mint("read"),
    admin: await mint("admin"),
    sync: await mint("sync"),
    expired: await mint("read", begun_ms),
  };
  const cookieName = options.tls === undefined ? `lintel-${port}` : `__Host-lintel-${port}`;
  return {
    origin,
    port,
    store,
    clock,
    tokens,
    cookieName,
    mint,
    page: (path, token, request = {}) =>
      fetch(`${origin}${path}`, {
        redirect: "manual",
        ...request,
        headers: {
          Accept: "text/html",
          ...(token === undefined ? {} : { Cookie: `${cookieName}=${token}` }),
          ...(request.headers as Record<string, string>),
        },
        tls: { rejectUnauthorized: false },
      }),
    send: (path, fields, headers = ownForm) =>
      fetch(`${origin}${path}`, {
        method: "POST",
        redirect: "manual",
        headers: { Accept: "text/html", ...headers },
        body: new URLSearchParams(fields),
        tls: { rejectUnauthorized: false },
      }),
    async [Symbol.asyncDispose]() {
      await server.stop();
      await store.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
