import type { AnyElysia } from "elysia";
import { SystemClock } from "../../src/base/clock.ts";
import { receiverOf } from "../../src/central/receiver/receiver.ts";
import { sourceApp } from "../../src/gateway/pulled-routes.ts";
import { apiApp } from "../../src/web/api/api-routes.ts";
import { docsApp } from "../../src/web/docs/docs-app.ts";
import { metricsApp } from "../../src/web/metrics/program-metrics.ts";
import { dashboardApp } from "../../src/web/pages/page-routes.ts";
import type { Site } from "../../src/web/pages/site.ts";

/** Every route of a gateway and of a central, as their routers have them, and who may ask for each. */

export type Caller =
  | "nobody"
  | "revoked"
  | "read"
  | "read of another home"
  | "admin"
  | "sync"
  | "sync of another home";
export type Family = "open" | "interface" | "pages" | "setting up" | "metrics" | "sync" | "fleet";

/** Callers that each family of routes answers; to every other caller it tells nothing of the home. */
export const allowed: Readonly<Record<Family, readonly Caller[]>> = {
  open: [],
  interface: ["read", "admin"],
  pages: ["read", "admin"],
  "setting up": ["admin"],
  metrics: ["read", "admin"],
  sync: ["sync"],
  fleet: ["admin"],
};
/** A gateway's sync is read-only and its administrators read it too; central's takes what a home sends. */
export const syncReaders = { gateway: ["sync", "admin"], central: ["sync"] } as const;

export const callers: readonly Caller[] = [
  "nobody",
  "revoked",
  "read",
  "read of another home",
  "admin",
  "sync",
  "sync of another home",
];

export interface Route {
  readonly method: string;
  /** As Elysia has it: `/homes/:home`. */
  readonly pattern: string;
}

/** Routes that anybody may ask for, with the statuses that they answer then. */
export const open: readonly [route: RegExp, statuses: readonly number[]][] = [
  [/^GET \/v0\.\d$/, [303]],
  [/^GET \/v0\.\d\/(docs|openapi\.json)$/, [200]],
  [/^GET \/assets\/:build\/:file$/, [404]],
  // The tests start a copy of the program that has no documents beside it.
  [/^GET \/docs(\/.*)?$/, [200, 404]],
  [/^GET \/sign-in$/, [200]],
  [/^GET \/session$/, [200]],
  [/^POST \/sign-in$/, [303, 403, 429]],
  [/^POST \/sign-out$/, [303]],
];

/** The only routes of a gateway by which anything changes. SECURITY.md names them. */
export const changingGateway = [
  "POST /notes",
  "POST /recorded/pause",
  "POST /walk/conflict",
  "POST /walk/finish",
  "POST /walk/joining",
  "POST /walk/line",
  "POST /walk/name",
  "POST /walk/replace",
  "POST /walk/try",
];
/** And of a central. */
export const changingCentral = [
  "POST /alerts/acknowledge",
  "POST /alerts/test",
  "POST /notes",
  "POST /sync/v1/batches",
  "POST /sync/v1/report",
  "POST /sync/v1/remote",
  "POST /sync/v1/verify",
  "PUT /sync/v1/backups",
  "PUT /sync/v1/days",
];
/** They give or take a cookie and change nothing that the server has. */
export const session = ["POST /sign-in", "POST /sign-out"];

function routesOf(apps: readonly AnyElysia[]): Route[] {
  return apps.flatMap((app) => app.routes).map(({ method, path }) => ({ method, pattern: path }));
}

const store = {} as never;
const clock = new SystemClock();
/** The apps for programs; browsers use the pages. */
export const interfaces: Readonly<Record<"gateway" | "central", readonly AnyElysia[]>> = {
  gateway: [
    apiApp({ store }),
    sourceApp({ store, describe: store, homeFiles: store, home: 12 }),
    metricsApp(async () => []),
  ],
  central: [apiApp({ store }), receiverOf({ store, clock, version: "1" }).app, metricsApp(async () => [])],
};
export const gatewayRoutes = routesOf([
  ...interfaces.gateway,
  dashboardApp({ role: "gateway", store, walk: {}, household: {} } as unknown as Site),
  docsApp("/v0.9/docs"),
]);
export const centralRoutes = routesOf([
  ...interfaces.central,
  dashboardApp({ role: "central", store, alerts: {} } as unknown as Site),
  docsApp("/v0.9/docs"),
]);

export function familyOf({ method, pattern }: Route): Family {
  if (open.some(([route]) => route.test(`${method} ${pattern}`))) return "open";
  if (/^\/v\d/.test(pattern)) return "interface";
  if (pattern.startsWith("/sync/")) return pattern.endsWith("/fleet") ? "fleet" : "sync";
  if (pattern === "/metrics") return "metrics";
  return /^(\/live)?\/walk\b/.test(pattern) ? "setting up" : "pages";
}
