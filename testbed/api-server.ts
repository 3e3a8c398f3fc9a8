import type { Clock } from "../src/base/clock.ts";
import type { Log } from "../src/base/log.ts";
import type { SettingOf } from "../src/store/derived/home-readings.ts";
import type { Store } from "../src/store/store.ts";
import { apiApp, apiUrl } from "../src/web/api/api-routes.ts";
import { type ServerBounds, startServer } from "../src/web/server/http-server.ts";
import type { MachineScale } from "../src/web/server/request-costs.ts";

/** A server that has the interface alone. */
export interface Api {
  /** Its newest version: `http://127.0.0.1:8080/v0.9`. */
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

export async function startApi({
  cache_bytes_max,
  settingOf,
  ...options
}: {
  store: Store;
  clock: Clock;
  log: Log;
  listen: { hostname: string; port: number };
  realm: string;
  tls?: { certificate: string; key: string };
  cache_bytes_max?: number;
  settingOf?: SettingOf;
  scale?: MachineScale;
} & Partial<ServerBounds>): Promise<Api> {
  const { store } = options;
  const cache = cache_bytes_max === undefined ? {} : { cache_bytes_max };
  const server = await startServer({
    ...options,
    apps: [apiApp({ store, ...cache, ...(settingOf && { settingOf }) })],
  });
  return { url: apiUrl(server), port: server.port, stop: () => server.stop() };
}
