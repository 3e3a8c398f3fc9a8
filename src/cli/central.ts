import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import type { Clock } from "../base/clock.ts";
import { messageOf, type OperatorError } from "../base/errors.ts";
import { GuardedClock } from "../base/guarded-clock.ts";
import type { Log } from "../base/log.ts";
import { AlertNotices } from "../central/alerts/alert-notices.ts";
import { noticeSender } from "../central/alerts/notice.ts";
import { startCentral } from "../central/central.ts";
import { type AlertSettings, readAlertSettings } from "../config/alert-settings.ts";
import { readGatewayList } from "../config/gateway-list.ts";
import { readRetentionSettings } from "../config/retention-settings.ts";
import { plainHttpWarning } from "../config/server-access.ts";
import { SqlDesk } from "../export/mirror/sql-desk.ts";
import type { CentralStore } from "../store/central/central-store.ts";
import { defaultQuotas, type Quotas } from "../store/exchange.ts";
import { restrictedHomesIn } from "../store/pause.ts";
import { databasePath, watchFile } from "../store/sqlite/connection.ts";
import { backedUp_ms } from "../store/sqlite/data-directory.ts";
import { requireListenable, type SettingNames } from "../web/server/listening.ts";
import { defineCertificate } from "./central-certificate.ts";
import { defineMirror, duckDbVariable, mirrorKeeper } from "./central-mirror.ts";
import { defineMove } from "./central-move.ts";
import {
  addTlsOptions,
  type CentralTlsOptions,
  nextCertificateFor,
  tlsFilesFor,
  tlsSettingFor,
} from "./central-tls.ts";
import { addHelp, type CommandContext, listenAddress, wholeNumber } from "./command.ts";
import { serve, serverLog } from "./serving.ts";
import { centralPlace, databaseVariable, defaultCentralData, openCentral } from "./store-place.ts";

/** `lintel central`: takes in the uploads of every home and serves them, until a signal stops it. */
export function define(command: Command, context: CommandContext): void {
  command.enablePositionalOptions();
  defineMove(command, context);
  defineCertificate(command, context);
  defineMirror(command, context);
  addHelp(command, {
    examples: {
      "lintel central --data /srv/lintel": "on SQLite: right for some hundred homes",
      "lintel central --database postgres://lintel@localhost/lintel": "central sets up an empty database",
      "lintel central --tls self-signed --tls-names central.example":
        "copy the PEM file that the log names to each gateway",
      "lintel token create home-12 --scope sync --home 12 --data /srv/lintel": "lets a home upload",
      "lintel central --data /srv/lintel --gateways gateways.toml":
        "central reads gateways that it can reach",
      "lintel central --data /srv/lintel --mirror /srv/mirror": "keeps a folder that DuckDB reads",
      "lintel central certificate --data /srv/lintel":
        "its certificate, the next one, and which homes know that",
      "lintel central move --from /srv/lintel --to postgres://lintel@localhost/lintel":
        "moves all of it to another database",
    },
    notes: [
      'Gateways upload to its address: [upload] url = "https://this-machine:8090". Serve TLS, here or before it:',
      "tokens and people's data travel. The log goes to standard error; SIGINT and SIGTERM stop it cleanly.",
      'gateways.toml: every = "1h", then for each a [[gateway]] with home, url, token_file and, if need be, certificate.',
      `A password in --database is seen by everybody on the machine: put the URL into $${databaseVariable}.`,
    ],
    exits: { 0: "stopped by a signal", 1: "ended by a fault of the program" },
  });
  command
    .option("--port <n>", "port of API and uploads; 0 takes a free one", wholeNumber(0, 65_535), 8090)
    .option("--listen <address>", "address of this machine that it listens on", listenAddress, "0.0.0.0")
    .option("--data <dir>", `keep everything in this directory, on SQLite (default: ${defaultCentralData})`)
    .option(
      "--database <url>",
      `keep everything in this PostgreSQL database instead (default: $${databaseVariable})`,
    );
  addTlsOptions(command)
    .option("--gateways <file>", "also read the gateways that this file lists, as docs/central.md says")
    .option("--alerts <file>", "tell people what homes need, by mail and webhooks, as docs/alerts.md says")
    .option("--retention <file>", "restrict or erase what was kept long enough, as docs/consent.md says")
    .option(
      "--quota <name=n>",
      `what one home may have here, or send a day, instead of ${quotaList}; may be repeated`,
      quota,
      {},
    )
    .option("--mirror <dir>", "keep a folder of Parquet files up to date each night, as docs/mirror.md says")
    .option("--realm <name>", "realm of the challenge to clients without a token", "lintel")
    .option("--metrics", "serve metrics at /metrics to holders of read or admin tokens")
    .option("--json", "print one line of JSON when ready: url, dashboard")
    .action((options: CentralCommandOptions) => central(options, context));
}

interface CentralCommandOptions extends CentralTlsOptions {
  readonly port: number;
  readonly listen: string;
  readonly data?: string;
  readonly database?: string;
  readonly gateways?: string;
  readonly alerts?: string;
  readonly retention?: string;
  readonly mirror?: string;
  readonly quota: Partial<Quotas>;
  readonly realm: string;
  readonly metrics?: boolean;
  readonly json?: boolean;
}

async function central(options: CentralCommandOptions, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  const place = centralPlace(options);
  const directory = "directory" in place ? place.directory : undefined;
  const tls = tlsSettingFor(options);
  const gateways = options.gateways === undefined ? undefined : readGatewayList(options.gateways);
  const alerts = options.alerts === undefined ? undefined : readAlertSettings(options.alerts);
  const retention = options.retention === undefined ? undefined : readRetentionSettings(options.retention);
  const listen = { hostname: options.listen, port: options.port };
  const log = serverLog(context, "info");
  const guarded = directory === undefined ? undefined : new GuardedClock({ clock, directory });
  const stopKeeping = guarded?.keep((thrown) => log.warn(`the time is not kept: ${messageOf(thrown)}`));
  await serve({
    context,
    log,
    start: async (onFailure) => {
      await requireListenable({ ...listen, settings });
      const store = await openCentral(place, { clock, log: log.named("store"), onFailure });
      const stopWatching = watchDatabase(directory, clock, (fault) => {
        log.error(fault.message);
        onFailure(fault);
      });
      const started = await startCentral({
        store,
        listen,
        settings,
        realm: options.realm,
        tls: tls && (() => tlsFilesFor(tls, options, { place, clock: guarded ?? clock, log })),
        nextCertificate: nextCertificateFor(tls, options, place),
        metrics: options.metrics === true,
        directory,
        ...(directory === undefined
          ? {}
          : { backupAge_ms: () => clock.now().unix_ms - backedUp_ms(directory) }),
        gateways,
        notices: alerts && noticesBy(alerts, { store, clock, log: log.named("notices") }),
        sql:
          options.mirror === undefined
            ? undefined
            : new SqlDesk({ directory: resolve(options.mirror), duckDb: process.env[duckDbVariable], clock }),
        retention: retention && { settings: retention, clock: guarded ?? clock },
        quotas: options.quota,
        clock,
        log,
      });
      const { url, dashboard } = started;
      const mirror =
        options.mirror === undefined
          ? undefined
          : mirrorKeeper(resolve(options.mirror), { place, store, context, log: log.named("mirror") });
      mirror?.start();
      if (options.json) terminal.printJson({ url, dashboard });
      log.info(`serving ${url} from ${directory ?? "PostgreSQL"}`);
      if (gateways !== undefined)
        log.info(`reading ${gateways.gateways.length} gateways every ${gateways.every_ms / 60_000} minutes`);
      const warning = plainHttpWarning(listen, tls, plainHttp);
      if (warning !== undefined) log.warn(warning);
      void started.warm();
      return {
        url,
        alive: () => started.alive(),
        stop: async () => {
          stopWatching();
          await mirror?.stop();
          await started.stop();
        },
      };
    },
  }).finally(() => stopKeeping?.());
}

function noticesBy(
  settings: AlertSettings,
  { store, clock, log }: { store: CentralStore; clock: Clock; log: Log },
): AlertNotices {
  for (const warning of settings.warnings) log.warn(warning);
  const restrictedHomes = () => restrictedHomesIn(store);
  return new AlertNotices({ settings, send: noticeSender(settings, clock), restrictedHomes, clock, log });
}

/** As the options have them. */
const settings: SettingNames = {
  address: "--listen",
  port: "--port",
  certificate: "--tls-certificate",
  key: "--tls-key",
};

/** Calls `onGone` when the file of central's database is removed: readings that it confirmed after that would be lost. */
function watchDatabase(
  directory: string | undefined,
  clock: Clock,
  onGone: (fault: OperatorError) => void,
): () => void {
  if (directory === undefined) return () => {};
  return watchFile({ path: databasePath(directory), clock, interval_ms: data_watch_ms, onGone });
}

const data_watch_ms = 1_000;

const plainHttp = {
  name: "central serves",
  remedy: "give --tls self-signed, or --tls-certificate and --tls-key, or --listen 127.0.0.1 behind a proxy",
} as const;

const quotaList = Object.entries(defaultQuotas)
  .map(([name, most]) => `${name}=${most}`)
  .join(" ");

function quota(text: string, before: Partial<Quotas>): Partial<Quotas> {
  const [, name = "", most = ""] = /^(\w+)=(\d{1,12})$/.exec(text) ?? [];
  if (!Object.hasOwn(defaultQuotas, name) || Number(most) < 1)
    throw new InvalidArgumentError(
      `It must be a quota and a whole number from 1, such as one of ${quotaList}.`,
    );
  return { ...before, [name]: Number(most) };
}
