import type { TimeSpan } from "../../../src/base/time.ts";
import type { WalkingLine } from "../../../src/domain/derived/walking-passes.ts";
import type { GatewayStore } from "../../../src/store/gateway/gateway-store.ts";
import type { Trouble } from "../../../src/web/pages/site.ts";
import type { TestBrowser, Visit } from "../../../testbed/browser.ts";
import { servePages } from "./pages-server.ts";

/** A gateway's pages and its interface on one port, over a real store. */
export interface PagesServing extends AsyncDisposable {
  readonly origin: string;
  readonly store: GatewayStore;
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

export async function serveHome(options: {
  now_ms: number;
  home: number;
  zone: string;
  /** When the clock of the home was in doubt, and what is amiss with its box. */
  doubts?: readonly TimeSpan[];
  troubles?: readonly Trouble[];
  walking?: readonly WalkingLine[];
}): Promise<PagesServing> {
  const { now_ms, home, zone, doubts = [], troubles = [], walking = [] } = options;
  const site = {
    ...{ home, walkingOf: async () => walking, zoneOf: async () => zone },
    ...{ doubtsOf: async () => doubts, troublesOf: async () => troubles },
  };
  const server = await servePages({ now_ms, site });
  const { origin, store } = server;
  const { read } = server.tokens;
  const foreign = await server.mint("read", undefined, { homes: [home + 1], projects: [], studies: [] });
  return {
    origin,
    store,
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
    ask: (path, token = read) => server.page(path, token),
    signIn: async (browser, { token = read, ...of } = {}) => {
      const visit = await browser.visit(of);
      await visit.page.goto(`${origin}/sign-in#token=${token}`);
      await visit.page.waitForURL(`${origin}/`);
      return visit;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
