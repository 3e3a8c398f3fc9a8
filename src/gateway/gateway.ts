import type { DriverDefinition } from "../../drivers/driver.ts";
import { type Clock, clockQuality, kernelClockError_ms } from "../base/clock.ts";
import { freeBytes } from "../base/disk/disk-fault.ts";
import { messageOf, OperatorError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { machineHealth, memoryMeter, PowerWatch } from "../base/machine-health.ts";
import { version } from "../base/version.ts";
import type { Config, UploadTarget } from "../config/gateway-config.ts";
import { type SettingOf, zoneOf } from "../store/derived/home-readings.ts";
import type { GatewayStore } from "../store/gateway/gateway-store.ts";
import type { UploadStore } from "../store/gateway/upload-store.ts";
import { isPaused } from "../store/pause-requests.ts";
import { databasePath, watchFile } from "../store/sqlite/connection.ts";
import { checkPages, keepEssentials } from "../store/sqlite/damage-watch.ts";
import { acceptancePost, takeLock } from "../store/sqlite/data-directory.ts";
import { openGatewayStore, openUploadStore } from "../store/sqlite/open-store.ts";
import type { Store } from "../store/store.ts";
import { apiApp, apiUrl, referencePath } from "../web/api/api-routes.ts";
import { docsApp } from "../web/docs/docs-app.ts";
import { type Family, Histogram } from "../web/metrics/openmetrics.ts";
import {
  commitSteps_s,
  gatewayFamilies,
  metricsApp,
  programFamilies,
} from "../web/metrics/program-metrics.ts";
import { dashboardApp } from "../web/pages/page-routes.ts";
import { type HttpServer, startServer } from "../web/server/http-server.ts";
import { Acceptances, acceptancesIn } from "./acceptance/acceptances.ts";
import { FirstNights } from "./acceptance/first-night.ts";
import { keptBurnIn } from "./burn-in-record.ts";
import { startControl } from "./control-server.ts";
import {
  acceptanceFaultsOf,
  describeGateway,
  type GatewayHealth,
  type GatewayStatus,
  type MachineFacts,
  troublesOf,
} from "./gateway-status.ts";
import { SetupVisit } from "./joining/setup-visit.ts";
import { type ListeningParts, listeningParts, type Started, startDrivers } from "./listening.ts";
import { MeshScanning, scansIn } from "./mesh-scans.ts";
import { sourceApp } from "./pulled-routes.ts";
import { type RemoteMeans, remoteHistoryOf, startRemote } from "./remote/start-remote.ts";
import { keepingOf, tlsOf } from "./serving-settings.ts";
import { noteStart } from "./starts.ts";
import { ringOf } from "./update/remote-ring.ts";
import { updateReportOf } from "./update/update-state.ts";

/** A gateway at work. */
export interface RunningGateway {
  /** Where its API is, with the newest version: `http://127.0.0.1:8080/v0.9`. */
  readonly url: string;
  readonly dashboard: string;
  readonly store: GatewayStore;
  status(): Promise<GatewayStatus>;
  /** Resolves when the store's writer has answered; never if the writer hangs. */
  alive(): Promise<void>;
  /** Stops in the reverse order of starting; all accepted readings are on disk when it resolves. */
  stop(): Promise<void>;
}

/**
 * Puts a gateway together and starts it: store, ingest, API, drivers, control socket. What a person must
 * mend (a file that a driver's section names and that is not there, port taken, data directory not writable, a second gateway on the same data, a newer database, TLS
 * files) is thrown as an OperatorError before any driver starts, and what had started is stopped again.
 * Hardware that is missing is no fault of the start: drivers try again for ever.
 */
export async function startGateway(options: {
  config: Config;
  clock: Clock;
  log: Log;
  drivers: readonly DriverDefinition[];
  /** Told, once it has been logged, when the store can write no more: stop, and start afresh. */
  onFailure: (fault: OperatorError) => void;
  /** Absent: the study cannot ask for anything. */
  means?: RemoteMeans;
}): Promise<RunningGateway> {
  const { config, clock, log } = options;
  const started: Started[] = [];
  try {
    return await assemble(options, started);
  } catch (error) {
    await unwind(started, log);
    throw error;
  } finally {
    for (const warning of config.warnings) log.warn(warning);
    if (clock.now().quality === clockQuality.unsynchronised) {
      log.warn("the system clock is not known to be right yet: readings wait on disk, unserved, until it is");
    }
  }
}

type GatewayOptions = Parameters<typeof startGateway>[0];

async function assemble(options: GatewayOptions, started: Started[]): Promise<RunningGateway> {
  const { config, clock, log, drivers } = options;
  const started_ms = clock.now().unix_ms;
  for (const driver of drivers)
    if (config.drivers.has(driver.name)) driver.check?.(config.drivers.get(driver.name) as never);
  const store = await openStore(options, started);
  const noteStop = noteStart(config.data, clock);
  const commits = new Histogram(commitSteps_s);
  const onCommit = (duration_ms: number) => commits.observe(duration_ms / 1000);
  const parts = await listeningParts({ clock, log, onCommit }, store, started);
  const { attached, ingest, admission, joining, household, identities, lamp } = parts;
  const power = new PowerWatch(clock);
  started.push({ name: "watch of the power supply", stop: async () => power.stop() });
  const facts = {
    options,
    parts,
    commits,
    power,
    started_ms,
    uploads: uploadsOf(options, started),
    memory_bytes: memoryMeter(),
  };
  const status: () => Promise<GatewayStatus> = async () => ({
    ...(await statusOf(facts)),
    ...serving(server),
  });
  const server = await serve(facts, status, started);
  started.push({ name: "server", stop: () => server.stop() });
  await admission.start();
  started.push({ name: "admission", stop: async () => admission.stop() });
  startDrivers(options, parts, started);
  const mesh = new MeshScanning({
    drivers: () => attached,
    directory: config.data,
    store,
    clock,
    log: log.named("mesh"),
  });
  started.push({ name: "scans of the mesh", stop: async () => mesh.stop() });
  const control = startControl({
    directory: config.data,
    ...{ joining, ingest, admission, identities, mesh, status, clock },
  });
  started.push({ name: "control", stop: () => control.stop() });
  started.push({ name: "joining", stop: () => joining.stop() });
  await household.keep();
  started.push({ name: "pauses of the household", stop: async () => household.stop() });
  lamp.keep();
  started.push(await startRemote({ ...options, ...parts, status, mesh }));
  if (attached.length === 0) {
    log.warn("no driver is configured: nothing is heard; add a section such as [zigbee] to hear devices");
  }
  const url = apiUrl(server);
  return {
    url,
    dashboard: new URL("/", url).href,
    store,
    status,
    // Nothing to add is still an errand for the writer: its answer, also a refusal, shows that it turns.
    alive: async () => {
      await store.append([]).catch((error) => log.debug(messageOf(error)));
    },
    stop: async () => {
      await unwind(started, log);
      noteStop();
    },
  };
}

/** The store, with what watches its files. */
async function openStore(
  { config, clock, log, onFailure }: GatewayOptions,
  started: Started[],
): Promise<GatewayStore> {
  const store = await openGatewayStore({
    directory: config.data,
    clock,
    log: log.named("store"),
    home: config.home.id,
    onFailure,
  });
  started.push({ name: "store", stop: () => store.close() });
  const path = databasePath(config.data);
  const onFault = (fault: OperatorError) => {
    log.error(fault.message);
    onFailure(fault);
  };
  const stopWatching = watchFile({ path, clock, interval_ms: data_watch_ms, onGone: onFault });
  started.push({ name: "watch of the data", stop: async () => stopWatching() });
  const stopChecking = checkPages({ path, clock, log, onDamaged: onFault });
  started.push({ name: "check of the database", stop: async () => stopChecking() });
  const stopKeeping = keepEssentials({ store, clock, log, onDamaged: onFault });
  started.push({ name: "copy of what readings hang on", stop: async () => stopKeeping() });
  return store;
}

/** Parts of a gateway by which it describes itself. */
interface GatewayFacts {
  readonly options: GatewayOptions;
  readonly parts: ListeningParts;
  readonly commits: Histogram;
  readonly power: PowerWatch;
  readonly started_ms: number;
  readonly memory_bytes: () => number;
  readonly uploads: () => Promise<UploadStore>;
}

async function serve(
  facts: GatewayFacts,
  status: () => Promise<GatewayStatus>,
  started: Started[],
): Promise<HttpServer> {
  const { options, parts, commits, uploads } = facts;
  const { config, clock, log } = options;
  const { store, identities, joining, household } = parts;
  const { hostname, port, realm } = config.api;
  const acceptance = acceptancesOf(facts, started);
  const acceptancesHere = async () => acceptancesIn(config.data);
  return startServer({
    store,
    clock,
    log,
    listen: { hostname, port },
    realm,
    tls: await tlsOf(config, clock, log),
    apps: [
      apiApp({ store, settingOf: settingOf(config), acceptancesOf: acceptancesHere }),
      sourceOf(facts),
      ...(config.api.metrics
        ? [metricsApp(async () => familiesOf(await measurable(store, status), commits))]
        : []),
      dashboardApp({
        ...pagesOf(config, store),
        keepingOf: async () => ({
          ...keepingOf(config),
          uploaded_ms: config.upload && (await (await uploads()).uploadState()).uploaded_ms,
        }),
        walk: new SetupVisit({ joining, identities, store, clock, lines: config.walking }),
        ...(config.home.may_pause === true && { household }),
        noting: {
          mayNote: config.home.may_note === true,
          ofCentral: async () => (await import("./uploader/home-at-central.ts")).notesOfCentral(config.data),
        },
        remoteOf: async () => remoteHistoryOf(config),
        troublesOf: async () => troublesOf(await healthOf(facts)),
        doubtsOf: () => store.uncertainTimes(),
        meshOf: async () => scansIn(config.data),
        burnInOf: async () => keptBurnIn(config.data),
        acceptance,
        acceptancesOf: acceptancesHere,
      }),
      docsApp(referencePath),
    ],
  });
}

/** Visits that prove the installation, and the first night after one. */
function acceptancesOf(facts: GatewayFacts, started: Started[]): Acceptances {
  const { options, parts, commits } = facts;
  const { config, clock, log } = options;
  const { home, walking, data: directory, upload: target } = config;
  const { store, ingest, identities } = parts;
  const { id, timezone } = home;
  const uploadTo = async (
    to: UploadTarget,
    run: { readonly stop: AbortSignal; readonly everyDay: boolean },
  ) => {
    const { uploadFrom } = await import("./uploader/uploader.ts");
    const site = { data: directory, timezone, home: id, target: to, walking, update: config.update };
    return uploadFrom(site, { ...run, clock, log: log.named("upload") });
  };
  const hold = () => takeLock(directory, acceptancePost);
  const acceptances = new Acceptances({
    ...{ directory, hold, store, clock, version, home: id, timezone, walking },
    flush: () => ingest.flush(),
    troubles: async () => acceptanceFaultsOf(await healthOf(facts), identities.conflicts()),
    ...(target && {
      central: { url: target.url, verify: (stop) => uploadTo(target, { stop, everyDay: true }) },
    }),
  });
  const stop = new AbortController();
  const nights = new FirstNights({
    ...{ directory, hold, store, clock, log: log.named("acceptance") },
    figures: () => ({
      late: ingest.status().late,
      commit_ms: commits.below(0.99, 1_000),
      clock_error_ms: kernelClockError_ms(),
    }),
    ...(target && { upload: () => uploadTo(target, { stop: stop.signal, everyDay: false }) }),
  });
  started.push({
    name: "acceptance",
    stop: async () => {
      acceptances.stop();
      nights.stop();
      stop.abort(new OperatorError("the gateway stopped", "the next upload goes on"));
    },
  });
  return acceptances;
}

/** The part of the configuration that is about the home: a gateway has one. */
export function settingOf({ home, walking }: Config): SettingOf {
  return async () => ({ ...home, walking });
}

/** The first options of the pages of a gateway, also of one that records nothing. */
export function pagesOf<Pages extends Store>(config: Config, store: Pages) {
  return {
    role: "gateway",
    store,
    version,
    home: config.home.id,
    api: apiUrl({ origin: "" }),
    zoneOf: (home: number | undefined) => zoneOf(store, home, config.home),
    walkingOf: async () => config.walking,
  } as const;
}

async function machineFacts({ options, parts, power }: GatewayFacts): Promise<MachineFacts> {
  const { config, clock } = options;
  return {
    now_ms: clock.now().unix_ms,
    clock_synchronised: clock.now().quality === clockQuality.synchronised,
    clock_doubt: clock.doubt?.(),
    drivers: parts.attached.map((driver) => ({ name: driver.name, ...driver.status() })),
    disk_free_bytes: await freeBytes(config.data),
    machine: { ...machineHealth(config.data), ...power.seen() },
  };
}

async function healthOf(facts: GatewayFacts): Promise<GatewayHealth> {
  const { options, parts, started_ms, uploads } = facts;
  return {
    ...(await machineFacts(facts)),
    problem: parts.ingest.status().problem,
    ...(options.config.upload && {
      upload: { since_ms: started_ms, ...(await (await uploads()).uploadState()) },
    }),
  };
}

/** The status of a gateway, but for its server. */
async function statusOf(facts: GatewayFacts): Promise<Omit<GatewayStatus, keyof ReturnType<typeof serving>>> {
  const { options, parts, started_ms, memory_bytes } = facts;
  const { store, attached, identities, ingest, joining, admission } = parts;
  const { config } = options;
  return {
    version,
    pid: process.pid,
    listen: config.api.hostname,
    warnings: config.warnings,
    started_ms,
    memory_bytes: memory_bytes(),
    ...(await machineFacts(facts)),
    paused: isPaused(await store.pauses(), ingest.clock),
    joining: joining.isOpen,
    ...(joining.opened && { opened: joining.opened }),
    busy: attached.flatMap((driver) => driver.busy() ?? []),
    ingest: { ...ingest.status() },
    strangers: admission.strangers(),
    conflicts: identities.conflicts(),
    store: await store.overview(),
  };
}

function serving(server: HttpServer) {
  return {
    url: apiUrl(server),
    tls: server.certificate,
    connections_closed: server.connectionsClosed(),
    requests_refused: server.requestsRefused(),
  };
}

/** The status without the items of a home that is restricted. */
async function measurable(
  store: Pick<Store, "unrestricted">,
  statusNow: () => Promise<GatewayStatus>,
): Promise<GatewayStatus> {
  const status = await statusNow();
  const isShown = (await store.unrestricted()) === undefined;
  return isShown ? status : { ...status, store: { ...status.store, items: [] } };
}

function familiesOf(status: GatewayStatus, commits: Histogram): Family[] {
  return [...programFamilies({ role: "gateway", ...status }), ...gatewayFamilies({ ...status, commits })];
}

/** The store as uploads see it, opened when it is first asked for. */
function uploadsOf({ config, clock, log }: GatewayOptions, started: Started[]): () => Promise<UploadStore> {
  let opened: Promise<UploadStore> | undefined;
  started.push({ name: "store of uploads", stop: async () => (await opened)?.close() });
  return () => {
    opened ??= openUploadStore({ directory: config.data, clock, log: log.named("store") });
    return opened;
  };
}

/** The store that a pulling central reads from. */
function sourceOf(facts: GatewayFacts) {
  const { options, parts, uploads } = facts;
  const { config, clock } = options;
  const directory = config.data;
  return sourceApp({
    store: uploads,
    describe: async () => ({
      ...(await describeGateway({
        store: parts.store,
        clock,
        directory,
        version,
        timezone: config.home.timezone,
        walking: config.walking,
        running: await statusOf(facts),
        update:
          config.update && updateReportOf(config.update.directory, ringOf(directory, config.update.ring)),
      })),
      differing_days: 0,
    }),
    // Loaded when central first asks.
    homeFiles: async () => (await import("./uploader/home-files.ts")).gatherHomeFiles(directory),
    home: config.home.id,
  });
}

/** Stops everything in the reverse order; one part that fails to stop does not keep the others from it. */
async function unwind(started: Started[], log: Log): Promise<void> {
  for (let part = started.pop(); part !== undefined; part = started.pop()) {
    try {
      await part.stop();
    } catch (error) {
      log.warn(`${part.name} did not stop cleanly (${messageOf(error)})`);
    }
  }
}

/** Interval at which the data directory is checked. Readings between its loss and the next check are lost. */
const data_watch_ms = 1_000;
