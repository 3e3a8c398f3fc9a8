import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apiApp, apiUrl } from "../../src/api/app.ts";
import { SystemClock } from "../../src/clock.ts";
import type { WalkingLine } from "../../src/config/walking-line.ts";
import { dashboardApp } from "../../src/dashboard/app.ts";
import type { Trouble } from "../../src/dashboard/page.ts";
import { startServer } from "../../src/http/server.ts";
import { lineLog } from "../../src/log.ts";
import type { Span } from "../../src/meaning/span.ts";
import { openGatewayStore } from "../../src/store/sqlite/open.ts";
import type { GatewayStore } from "../../src/store/store.ts";
import { type Binding, mintToken } from "../../src/token.ts";
import { SettableClock } from "../api/settable-clock.ts";
import type { TestBrowser, Visit } from "./browser.ts";

/** A gateway's pages and its interface on one port, over a real store. */
export interface PagesServing extends AsyncDisposable {
  readonly origin: string;
  readonly store: GatewayStore;
  readonly lines: readonly string[];
  /** Tokens of who sees everything, and of who sees another home alone. */
  readonly tokens: { readonly read: string; readonly foreign: string };
  /** Everything that the interface answers along its links. */
  records(path: string): Promise<Readonly<Record<string, number>>[]>;
  /** Asks for a page or a file with the session of a token. */
  ask(path: string, token?: string): Promise<Response>;
  /** A window in which somebody has signed in, unless said otherwise who sees everything. */
  signIn(
    browser: TestBrowser,
    options?: Parameters<TestBrowser["visit"]>[0] & { token?: string },
  ): Promise<Visit>;
}

export async function servePages(options: {
  now_ms: number;
  home: number;
  zone: string;
  /** When the clock of the home was in doubt, and what is amiss with its box. */
  doubts?: readonly Span[];
  troubles?: readonly Trouble[];
  walking?: readonly WalkingLine[];
}): Promise<PagesServing> {
  const { now_ms, home, zone, doubts = [], troubles = [], walking = [] } = options;
  const directory = await mkdtemp(join(tmpdir(), "lintel-pages-"));
  const clock = new SettableClock(now_ms);
  const lines: string[] = [];
  const log = lineLog({ write: (line) => void lines.push(line), clock });
  const store = await openGatewayStore({ directory, clock: new SystemClock(), log, home });
  const server = await startServer({
    apps: [
      apiApp({ store }),
      dashboardApp({
        role: "gateway",
        store,
        version: "0",
        home,
        api: apiUrl({ origin: "" }),
        zoneOf: async () => zone,
        walking,
        doubtsOf: async () => doubts,
        troublesOf: async () => troubles,
      }),
    ],
    store,
    clock,
    log,
    listen: { hostname: "127.0.0.1", port: 0 },
    realm: "lintel",
  });
  const mint = async (binding?: Binding) => {
    const { token, text } = mintToken({ name: "reader", scope: "read", clock, ...(binding && { binding }) });
    await store.addToken(token);
    return text;
  };
  const read = await mint();
  const foreign = await mint({ homes: [home + 1], projects: [], studies: [] });
  const { origin } = server;
  const port = new URL(origin).port;
  return {
    origin,
    store,
    lines,
    tokens: { read, foreign },
    records: async (path) => {
      const all: Record<string, number>[] = [];
      let next: string | undefined = path;
      while (next !== undefined) {
        const headers = { Authorization: `Bearer ${read}`, Accept: "application/json" };
        const response: Response = await fetch(new URL(next, origin), { headers });
        if (!response.ok) throw new Error(`${next}: ${await response.text()}`);
        all.push(...((await response.json()) as typeof all));
        next = /<([^>]+)>; rel="next"/.exec(response.headers.get("Link") ?? "")?.[1];
      }
      return all;
    },
    ask: (path, token = read) =>
      fetch(`${origin}${path}`, { headers: { cookie: `lintel-${port}=${token}` }, redirect: "manual" }),
    signIn: async (browser, { token = read, ...of } = {}) => {
      const visit = await browser.visit(of);
      await visit.page.goto(`${origin}/sign-in#token=${token}`);
      await visit.page.waitForURL(`${origin}/`);
      return visit;
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      await store.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
