import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import { freeBytes } from "../base/disk/disk-fault.ts";
import { messageOf, type StoreOutage } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { memoryMeter } from "../base/machine-health.ts";
import { machineTimezone } from "../base/timezone.ts";
import { version } from "../base/version.ts";
import type { GatewayList, ListedGateway } from "../config/gateway-list.ts";
import type { RetentionSettings } from "../config/retention-settings.ts";
import { certificateIn, type TlsFiles, tokenIn } from "../config/server-access.ts";
import type { AcceptancesOf } from "../domain/acceptance.ts";
import { acceptancesFile, acceptancesInFile } from "../domain/acceptance-file.ts";
import { burnInFile, burnInInFile } from "../domain/burn-in-file.ts";
import type { FleetHome } from "../domain/fleet-home.ts";
import { meshFile, scansInFile } from "../domain/mesh-file.ts";
import { centralItself } from "../domain/outage.ts";
import { nowhere } from "../domain/records/visible-records.ts";
import { type SqlDesk, sqlTables } from "../export/mirror/sql-desk.ts";
import type { CentralStore } from "../store/central/central-store.ts";
import { zoneOf } from "../store/derived/home-readings.ts";
import { defaultQuotas, type Quotas } from "../store/exchange.ts";
import { Answering } from "../web/api/answering.ts";
import { apiApp, apiUrl, referencePath } from "../web/api/api-routes.ts";
import type { HttpClient } from "../web/client/http-client.ts";
import { docsApp } from "../web/docs/docs-app.ts";
import { centralFamilies, metricsApp, programFamilies } from "../web/metrics/program-metrics.ts";
import { dashboardApp, warmPages } from "../web/pages/page-routes.ts";
import type { Fleet, Site, SqlSource } from "../web/pages/site.ts";
import { type HttpServer, startServer } from "../web/server/http-server.ts";
import type { SettingNames } from "../web/server/listening.ts";
import type { AlertNotices } from "./alerts/alert-notices.ts";
import { AlertKeeper } from "./fleet/alert-keeper.ts";
import { FleetReader } from "./fleet/fleet.ts";
import { type CentralAges, needsOfCentral } from "./fleet/needs-of-central.ts";
import { gatewayOf, reportOf, settingIn, unlessAway } from "./gateway-reports.ts";
import { gatewayClient, Pull } from "./pull/pull.ts";
import { Pulling } from "./pull/pull-turns.ts";
import type { AdmissionBounds } from "./receiver/admission-queue.ts";
import { type Receiver, receiverOf } from "./receiver/receiver.ts";
import { RetentionKeeper } from "./retention.ts";

/** A central server at work. */
export interface RunningCentral {
  /** Where its API is, with the newest version: `http://127.0.0.1:8090/v0.9`. */
  readonly url: string;
  /** Where gateways upload to: the address without a version. */
  readonly origin: string;
  readonly dashboard: string;
  readonly store: CentralStore;
  /** Resolves once the store has answered or refused. */
  alive(): Promise<void>;
  /** Makes what the first page takes, so that whoever opens it does not wait. */
  warm(): Promise<void>;
  /** Stops in the reverse order of starting; all readings confirmed to gateways are on disk. */
  stop(): Promise<void>;
}

/**
 * Puts a central server together on its store, which is its own from here on, and starts it: receiver, API, the keeper of alerts, and what reads gateways. What a
 * person must mend (port taken, TLS files) is thrown as an OperatorError, and what had started is stopped again.
 */
export async function startCentral(options: {
  store: CentralStore;
  listen: { hostname: string; port: number };
  settings: SettingNames;
  realm: string;
  /** Answers the paths of PEM files; absent: plain HTTP. */
  tls?: () => Promise<TlsFiles>;
  /** The certificate that central will have next, in PEM, for gateways to know it by. */
  nextCertificate?: (() => string | undefined) | undefined;
  metrics: boolean;
  /** Where the store is, where that is a directory: for the metrics. */
  directory?: string;
  /** Gateways that central reads by itself. */
  gateways?: GatewayList;
  /** Tells people what homes need; absent: nobody is told. */
  notices?: AlertNotices;
  /** Answers SQL over the mirror; absent: there is none. */
  sql?: SqlDesk | undefined;
  /** How long data are kept, and the clock that says so; absent: until somebody erases them. */
  retention?: { readonly settings: RetentionSettings; readonly clock: Clock } | undefined;
  /** The time since the last backup; absent where the store is no file of its own. */
  backupAge_ms?: () => number;
  /** How many gateways are taken in at once, and wait. */
  admission?: Partial<AdmissionBounds>;
  /** Quotas of each home; those that are not given are `defaultQuotas`. */
  quotas?: Partial<Quotas>;
  clock: Clock;
  log: Log;
}): Promise<RunningCentral> {
  const { store, listen, settings, realm, tls, metrics, clock, log } = options;
  try {
    const quotas = { ...defaultQuotas, ...options.quotas };
    // On a full disk those before hold, and readers are served.
    await store
      .setQuotas(quotas)
      .catch((thrown) => log.warn(`quotas could not be set: ${messageOf(thrown)}`));
    const receiver = receiverOf({
      store,
      clock,
      version,
      log: log.named("sync"),
      quotas,
      nextCertificate: options.nextCertificate,
      ...options.admission,
    });
    const pulling = await pullingOf(options, receiver);
    const fleet = new FleetReader({ store, clock });
    const site = siteOf(store, fleet, {
      alerts: options.notices,
      retention: options.retention?.settings,
      sql: options.sql && sqlOf(options.sql, options),
    });
    const files = await tls?.();
    const ages = () => agesOf(options, files);
    const server: HttpServer = await startServer({
      store,
      clock,
      log,
      listen,
      settings,
      realm,
      tls: files,
      apps: [
        apiApp({
          store,
          cache_bytes_max,
          settingOf: settingIn(store),
          acceptancesOf: acceptancesAt(store),
        }),
        receiver.app,
        ...(metrics ? [metricsOf(options, { receiver, fleet, ages, server: () => server })] : []),
        dashboardApp(site),
        docsApp(referencePath),
      ],
      scale: "central",
      requests_max,
      connections_max,
    });
    const { notices } = options;
    const onFleet = (homes: readonly FleetHome[]) => {
      notices?.note([...homes, { homeid: centralItself, needs: needsOfCentral(ages()) }]);
    };
    const alerts = new AlertKeeper({ store, clock, log: log.named("alerts"), onFleet });
    alerts.start();
    notices?.start();
    pulling.start();
    const keeper =
      options.retention && new RetentionKeeper({ store, log: log.named("retention"), ...options.retention });
    keeper?.start();
    return {
      url: apiUrl(server),
      origin: server.origin,
      dashboard: `${server.origin}/`,
      store,
      warm: () => warmPages(site).catch((thrown) => log.debug(messageOf(thrown))),
      // Nothing to note is still an errand for the store: its answer, also a refusal, shows that it turns.
      alive: () => store.noteTokenUse(new Map()).catch((thrown) => log.debug(messageOf(thrown))),
      stop: async () => {
        options.sql?.stop();
        await keeper?.stop();
        await pulling.stop();
        await alerts.stop();
        await notices?.stop();
        receiver.desk.stop();
        await server.stop();
        await store.close();
      },
    };
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
}

function agesOf(
  { backupAge_ms, clock }: { backupAge_ms?: () => number; clock: Clock },
  files: TlsFiles | undefined,
): CentralAges {
  const certificate = files && new X509Certificate(readFileSync(files.certificate));
  return {
    backup_age_ms: backupAge_ms?.(),
    certificate_left_ms: certificate && certificate.validToDate.getTime() - clock.now().unix_ms,
  };
}

/** The data of the pages of all homes. */
function siteOf(
  store: CentralStore,
  fleet: FleetReader,
  {
    alerts,
    retention,
    sql,
  }: {
    alerts?: AlertNotices | undefined;
    retention?: RetentionSettings | undefined;
    sql?: SqlSource | undefined;
  },
): Site {
  return {
    role: "central",
    store,
    ...(alerts === undefined ? {} : { alerts }),
    ...(sql === undefined ? {} : { sql }),
    version,
    api: apiUrl({ origin: "" }),
    // Of no home in particular it is this machine's.
    zoneOf: async (home) =>
      home === undefined ? machineTimezone() : zoneOf(store, home, await settingIn(store)(home)),
    walkingOf: async (home) => (home === undefined ? [] : (await settingIn(store)(home)).walking),
    fleet: fleetFor(store, fleet),
    keepingOf: async (home) => ({ uploaded_ms: (await gatewayOf(store, home))?.uploaded_ms, retention }),
    remoteOf: async (home) => {
      const asked = home === undefined ? [] : await store.remoteAsked({ home });
      if (asked.length === 0) return undefined;
      return {
        asked: asked.map(({ request: { request }, asked_ms, answered }) => ({
          ...{ request, at_ms: asked_ms },
          outcome: answered?.outcome,
        })),
      };
    },
    meshOf: async (home) =>
      home === undefined ? [] : scansInFile((await store.backups(home)).get(meshFile)),
    burnInOf: async (home) => {
      if (home === undefined) return undefined;
      const record = burnInInFile((await store.backups(home)).get(burnInFile));
      return record && { record, changed: (await reportOf(store, home)).burn_in?.changed ?? [] };
    },
    acceptancesOf: acceptancesAt(store),
    doubtsOf: async (home) => (await reportOf(store, home)).doubts ?? [],
  };
}

function sqlOf(desk: SqlDesk, { store: all, clock }: { store: CentralStore; clock: Clock }): SqlSource {
  return {
    tables: sqlTables,
    off: () => desk.off(),
    ask: ({ store, ...of }) =>
      desk.ask({
        ...of,
        homes: store.homes?.filter((home) => home !== nowhere),
        answers: new Answering({ store, clock, settingOf: settingIn(all) }),
      }),
  };
}

function acceptancesAt(store: CentralStore): AcceptancesOf {
  return async (home) =>
    home === undefined ? [] : acceptancesInFile((await store.backups(home)).get(acceptancesFile));
}

/** The pull of the listed gateways; it continues where the last run stopped. */
async function pullingOf(
  options: { store: CentralStore; gateways?: GatewayList; clock: Clock; log: Log },
  { allowances, counts }: Receiver,
): Promise<Pulling> {
  const { store, gateways: list, clock } = options;
  const log = options.log.named("pull");
  for (const warning of list?.warnings ?? []) log.warn(warning);
  const once = (outage: StoreOutage) =>
    log.warn(`${outage.message} (days of listed gateways are compared once more)`);
  const left = list === undefined ? [] : await unlessAway(() => store.gateways(), once);
  const known = new Map(left.map((gateway) => [gateway.home, gateway]));
  const pulls = (list?.gateways ?? []).map((gateway) => {
    const before = known.get(gateway.home);
    return new Pull({
      gateway,
      store,
      connect: (listed, stop) => connect(listed, { clock, log, stop }),
      clock,
      log,
      allowances,
      counts,
      known: before,
    });
  });
  return new Pulling({ pulls, every_ms: list?.every_ms ?? 0, clock, log, random });
}

/** The files are read each time, so that another token needs no restart. */
function connect(gateway: ListedGateway, run: { clock: Clock; log: Log; stop: AbortSignal }): HttpClient {
  const { home, token_file, certificate } = gateway;
  const { clock, log, stop } = run;
  return gatewayClient(gateway, {
    token: tokenIn(
      token_file,
      `\`lintel token create central --scope sync --home ${home}\` printed at the gateway`,
    ),
    certificate: certificate && certificateIn(certificate),
    clock,
    random,
    stop,
    onRetry: (reason, delay_ms) => log.debug(`${reason}: asking again in ${(delay_ms / 1000).toFixed(1)} s`),
  });
}

/** All homes together, for pages. */
function fleetFor(store: CentralStore, fleet: FleetReader): Fleet {
  return {
    homes: async (of) => {
      if (of?.includes(nowhere) !== true) return fleet.read(of);
      // Whoever sees all but what is restricted is answered with the whole fleet, which is kept.
      const seen = new Set(of);
      return (await fleet.read()).filter(({ homeid }) => seen.has(homeid));
    },
    dailyArrivals: (...given) => store.dailyArrivals(...given),
    coverageIn: (...given) => store.coverageIn(...given),
    firmware: (...given) => store.firmware(...given),
  };
}

function random(): number {
  return (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32;
}

function metricsOf(
  options: { clock: Clock; directory?: string; notices?: AlertNotices },
  parts: { receiver: Receiver; fleet: FleetReader; ages: () => CentralAges; server: () => HttpServer },
) {
  const { clock, directory, notices } = options;
  const { server, fleet } = parts;
  const { counts, queue } = parts.receiver;
  const started_ms = clock.now().unix_ms;
  const memory_bytes = memoryMeter();
  return metricsApp(async () => {
    // Who watches central learns the rest of it all the same.
    const homes = await unlessAway(() => fleet.read());
    return [
      ...programFamilies({
        role: "central",
        version,
        memory_bytes: memory_bytes(),
        started_ms,
        connections_closed: server().connectionsClosed(),
        requests_refused: server().requestsRefused(),
      }),
      ...centralFamilies({
        now_ms: clock.now().unix_ms,
        received: counts,
        queue: queue.status(),
        homes,
        disk_free_bytes: directory === undefined ? undefined : await freeBytes(directory),
        notices: notices?.figures(),
        ...parts.ages(),
      }),
    ];
  });
}

/** A server has more memory than a gateway, and the pages of a thousand homes. */
const cache_bytes_max = 64 * 1024 * 1024;
/** Requests that wait for their turn count too. */
const requests_max = 4096;
/** The gateways of a large programme at once, of which a quarter may come by one proxy. */
const connections_max = 8192;
