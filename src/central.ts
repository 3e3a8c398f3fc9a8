import { statfs } from "node:fs/promises";
import packageFile from "../package.json" with { type: "json" };
import { apiApp, apiUrl } from "./api/app.ts";
import type { Clock } from "./clock.ts";
import { messageOf } from "./errors.ts";
import type { App } from "./http/app.ts";
import type { SettingNames } from "./http/listening.ts";
import { startServer } from "./http/server.ts";
import type { Log } from "./log.ts";
import { metricsApp } from "./metrics/app.ts";
import { centralFamilies } from "./metrics/central.ts";
import { programFamilies } from "./metrics/program.ts";
import type { CentralStore } from "./store/central-store.ts";
import { AlertKeeper } from "./sync/fleet/alert-keeper.ts";
import type { GatewayReport } from "./sync/protocol.ts";
import { type Receiver, receiverOf } from "./sync/receiver/receiver.ts";
import type { ReceptionBounds } from "./sync/receiver/reception.ts";
import type { TlsFiles } from "./tls-section.ts";

/** A central server at work. */
export interface Central {
  /** Where its API is, with the newest version: `http://127.0.0.1:8090/v0.9`. */
  readonly url: string;
  /** Where gateways upload to: the address without a version. */
  readonly origin: string;
  readonly dashboard: string;
  readonly store: CentralStore;
  /** Resolves once the store has answered or refused. */
  alive(): Promise<void>;
  /** Stops in the reverse order of starting; what was confirmed to gateways is on disk. */
  stop(): Promise<void>;
}

/**
 * Puts a central server together on its store, which is its own from here on, and starts it: receiver, API, the keeper of alerts. What a
 * person must mend (port taken, TLS files) is thrown as an OperatorError, and what had started is stopped again.
 */
export async function startCentral(options: {
  store: CentralStore;
  listen: { hostname: string; port: number };
  settings: SettingNames;
  realm: string;
  /** Answers the paths of PEM files; absent: plain HTTP. */
  tls?: () => Promise<TlsFiles>;
  metrics: boolean;
  /** Where the store is, where that is a directory: for the metrics. */
  directory?: string;
  /** How many gateways are taken in at once, and wait. */
  reception?: Partial<ReceptionBounds>;
  clock: Clock;
  log: Log;
}): Promise<Central> {
  const { store, listen, settings, realm, tls, metrics, clock, log } = options;
  try {
    const receiver = receiverOf({ store, clock, version: packageFile.version, ...options.reception });
    const server = await startServer({
      store,
      clock,
      log,
      listen,
      settings,
      realm,
      ...(tls === undefined ? {} : { tls: await tls() }),
      apps: [
        apiApp({ store, cache_bytes_max }),
        receiver.app,
        ...(metrics ? [metricsOf(options, receiver)] : []),
      ],
      requests_max,
    });
    const alerts = new AlertKeeper({ store, clock, log: log.named("alerts") });
    alerts.start();
    return {
      url: apiUrl(server),
      origin: server.origin,
      dashboard: `${server.origin}/`,
      store,
      // Nothing to note is still an errand for the store: its answer, also a refusal, shows that it turns.
      alive: () => store.noteTokenUse(new Map()).catch((thrown) => log.debug(messageOf(thrown))),
      stop: async () => {
        await alerts.stop();
        await server.stop();
        await store.close();
      },
    };
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
}

function metricsOf(
  { store, clock, directory }: { store: CentralStore; clock: Clock; directory?: string },
  { counts, reception }: Receiver,
): App {
  const started_ms = clock.now().unix_ms;
  return metricsApp(async () => {
    const gateways = await store.gateways();
    return [
      ...programFamilies({
        role: "central",
        version: packageFile.version,
        memory_bytes: process.memoryUsage.rss(),
        started_ms,
      }),
      ...centralFamilies({
        now_ms: clock.now().unix_ms,
        received: counts,
        reception: reception.status(),
        homes: gateways.map(({ home, held_seq, report, uploaded_ms }) => ({
          home,
          ...backlogOf(report, held_seq),
          ...(uploaded_ms === undefined ? {} : { uploaded_ms }),
        })),
        ...(directory === undefined ? {} : { disk_free_bytes: await freeBytes(directory) }),
      }),
    ];
  });
}

function backlogOf({ last_seq }: Partial<GatewayReport>, held_seq: number): { backlog?: number } {
  return last_seq === undefined ? {} : { backlog: Math.max(0, last_seq - held_seq) };
}

async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

/** A server has more memory than a gateway, and the pages of a thousand homes. */
const cache_bytes_max = 64 * 1024 * 1024;
/** Requests that wait for their turn count too. */
const requests_max = 4096;
