import { existsSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { messageOf, OperatorError } from "../errors.ts";
import { TryAgainLater } from "../http-client/outcome.ts";
import type { Log } from "../log.ts";
import { databasePath } from "../store/sqlite/connection.ts";
import { beginEpochIn } from "../store/sqlite/epochs.ts";
import { newEpoch } from "../store/sqlite/open.ts";
import { prepareDatabase } from "../store/sqlite/prepare.ts";
import { storedRole } from "../store/sqlite/role.ts";
import { isWhole } from "../store/sqlite/salvage.ts";
import { homeFilesAt } from "../sync/home-files.ts";
import { putCursors } from "../uploader/home-files.ts";
import { connect, type UploadSite } from "../uploader/uploader.ts";
import { type Manifest, readManifest } from "./backup/manifest.ts";
import { directoryToCopy } from "./backup/place.ts";
import { addHelp, type CommandContext, wholeNumber } from "./command.ts";
import { interruptible } from "./interruptible.ts";
import { copyBackup, putConfiguration } from "./restore/from-backup.ts";
import { buildFromCentral } from "./restore/from-central.ts";
import { fillDirectory } from "./restore/placement.ts";
import { type SentFromRemains, sendFromRemains } from "./restore/salvaged.ts";
import { serverLog } from "./serving.ts";
import { bytesText, momentText } from "./spans.ts";
import { addStoreOptions, type StoreOptions } from "./store-options.ts";
import { addCentralSiteOptions, siteOf } from "./upload-site.ts";

/** `lintel restore`: a spare box, or an emptied one, becomes the one that was lost. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel restore /media/stick/lintel": "what a backup holds, into the configured data directory",
      "lintel restore --from-central": "what [upload] url has of this home: 30 days, and its Zigbee network",
      "lintel restore --from-central --replace": "after a damaged card: what is left of it is set aside",
    },
    notes: [
      "It is all or nothing: until everything is there, the data directory stays as it was. Stop the gateway first.",
      "A configuration that --config names and that does not exist comes back from the backup too.",
      "The box goes on with numbers of its own, so that an upload neither repeats nor skips anything.",
    ],
    exits: {
      1: "central cannot be reached: nothing changed, run it again later",
      130: "interrupted: nothing changed",
    },
  });
  command.argument("[dir]", "a directory that lintel backup has written");
  addCentralSiteOptions(addStoreOptions(command))
    .option("--from-central", "bring back what central has of this home, instead of a backup")
    .option(
      "--days <number>",
      "days of readings to bring back from central",
      wholeNumber(0, 36_500),
      default_days,
    )
    .option("--replace", "set aside what the data directory holds; nothing is removed")
    .option("--json", "print what came back as JSON")
    .action((from: string | undefined, options: RestoreOptions) => restore(from, options, context));
}

interface RestoreOptions extends StoreOptions {
  readonly fromCentral?: boolean;
  readonly days: number;
  readonly url?: string;
  readonly tokenFile?: string;
  readonly certificate?: string;
  readonly replace?: boolean;
}

/** Options and output that both ways of restoring share. */
interface Run {
  readonly options: RestoreOptions;
  readonly context: CommandContext;
  readonly stop: AbortSignal;
  readonly log: Log;
}

async function restore(
  from: string | undefined,
  options: RestoreOptions,
  context: CommandContext,
): Promise<void> {
  if ((from === undefined) === (options.fromCentral !== true))
    throw new OperatorError(
      from === undefined
        ? "nothing says where to restore from"
        : `both ${from} and --from-central say where from`,
      "give the directory of a backup, or --from-central",
    );
  const log = serverLog(context, "warn");
  try {
    const done = await interruptible(context, async (stop) => {
      const run = { options, context, stop, log };
      await (from === undefined ? restoreFromCentral(run) : restoreFromBackup(resolve(from), run));
      return true;
    });
    if (done === undefined) context.terminal.say("Interrupted: nothing has changed.");
  } catch (thrown) {
    if (!(thrown instanceof TryAgainLater)) throw thrown;
    log.error(`${messageOf(thrown)}; nothing has changed`);
    context.exitWith(1);
  } finally {
    context.terminal.progress("");
  }
}

async function restoreFromBackup(from: string, run: Run): Promise<void> {
  const { options, context } = run;
  const { terminal } = context;
  if (options.database !== undefined) directoryToCopy(options);
  const manifest = readManifest(from);
  const { config } = options;
  const absent = config !== undefined && !existsSync(config) && manifest.configuration.length > 0;
  const { put, failed } = absent
    ? await putConfiguration({ backup: from, manifest, configuration: resolve(config) })
    : { put: [], failed: [] };
  try {
    const directory = directoryToCopy(options);
    const { aside } = await fillDirectory({
      directory,
      replace: options.replace === true,
      build: (building) => buildFromBackup(from, manifest, building, run),
    });
    const { last_seq, made_ms } = manifest;
    if (options.json) {
      terminal.printJson({ directory, last_seq, made_ms, set_aside: aside ?? null, not_put_back: failed });
      return;
    }
    for (const path of put) terminal.say(`${path} is back.`);
    terminal.say(
      `${directory} holds what the backup of ${momentText(made_ms)} held: readings up to number ${last_seq.toLocaleString("en")}.`,
    );
    sayRest(
      { aside, failed, next: storedRole(directory) === "central" ? next_at_central : next_at_home },
      context,
    );
  } catch (thrown) {
    for (const path of put) rmSync(path);
    throw thrown;
  }
}

async function buildFromBackup(from: string, manifest: Manifest, building: string, run: Run): Promise<void> {
  const { context, stop } = run;
  await copyBackup({
    backup: from,
    manifest,
    building,
    stop,
    onBytes: (bytes, total) => context.terminal.progress(`${bytesText(bytes)} of ${bytesText(total)}`),
  });
  prepareDatabase(building, newEpoch()).database.close();
  putCursors(building, await filesAtCentral(run));
  beginEpochIn(building, newEpoch());
}

async function restoreFromCentral(run: Run): Promise<void> {
  const { options, context, log } = run;
  const { terminal, clock } = context;
  const site = siteOf(options);
  const { built, aside } = await fillDirectory({
    directory: site.data,
    replace: options.replace === true,
    build: async (building) => {
      const left = await sendRemains(site, building, run);
      const back = await buildFromCentral({
        building,
        central: connect(site, { ...run, clock }),
        days: options.days,
        clock,
        log,
        onProgress: (readings, until_ms) =>
          terminal.progress(`${readings.toLocaleString("en")} readings, up to ${momentText(until_ms)}`),
      });
      return { ...back, ...(left === undefined ? {} : { sent_from_remains: left.sent, lost: left.lost }) };
    },
  });
  if (options.json) {
    terminal.printJson({ directory: site.data, ...built, days: options.days, set_aside: aside ?? null });
    return;
  }
  const { readings, records, network, sent_from_remains, lost } = built;
  terminal.say(
    `${site.data} holds ${readings.toLocaleString("en")} readings of ${options.days} days and ${records} records that central had of this home.`,
  );
  if (sent_from_remains !== undefined)
    terminal.say(
      `Of the damaged database ${sent_from_remains.toLocaleString("en")} readings that central had not got were sent; ${lost?.toLocaleString("en")} are lost.`,
    );
  const failed = network
    ? []
    : ["central has no copy of a Zigbee network: if this home has one, its sensors must be paired again"];
  sayRest({ aside, failed, next: next_at_home }, context);
}

/** Sends what central has not got of a damaged database that is to be replaced; undefined where there is none. */
async function sendRemains(
  site: UploadSite,
  building: string,
  run: Run,
): Promise<SentFromRemains | undefined> {
  const { context, log, stop } = run;
  const damaged = databasePath(site.data);
  if (!existsSync(damaged) || isWhole(damaged)) return undefined;
  return sendFromRemains({
    damaged,
    building,
    connect: () => connect(site, { ...run, clock: context.clock }),
    clock: context.clock,
    log,
    stop,
    version: context.version,
    timezone: site.timezone,
    onProgress: (line) => context.terminal.progress(line),
  });
}

/**
 * How far the lost box had read the buffers of devices when it last uploaded: it may have gone on after the backup. Nothing where there is no
 * central, or where it is not there now.
 */
async function filesAtCentral(run: Run): Promise<ReadonlyMap<string, Uint8Array>> {
  const { options, context, log, stop } = run;
  let site: UploadSite;
  try {
    site = siteOf(options);
  } catch (thrown) {
    if (thrown instanceof OperatorError) return new Map();
    throw thrown;
  }
  const late = new AbortController();
  const giveUp = (reason: string) => late.abort(new OperatorError(reason, "restore goes on without it"));
  const cancel = context.clock.after(central_ms_max, () => giveUp("it does not answer"));
  try {
    // A restore in a cellar has no network, and should not wait for one.
    const impatient = {
      log,
      clock: context.clock,
      stop: AbortSignal.any([stop, late.signal]),
      onRetry: giveUp,
    };
    return (await homeFilesAt(connect(site, impatient))).files;
  } catch (thrown) {
    if (stop.aborted || !(thrown instanceof OperatorError)) throw thrown;
    log.warn(
      `central could not be asked how far devices have been read (${thrown.what}): events since the backup that pill boxes and watches still hold may reach it twice`,
    );
    return new Map();
  } finally {
    cancel();
  }
}

function sayRest(
  { aside, failed, next }: { aside: string | undefined; failed: readonly string[]; next: string },
  { terminal }: CommandContext,
): void {
  if (aside !== undefined) terminal.say(`What was there before is in ${aside}.`);
  for (const line of failed) terminal.say(terminal.errorColours.yellow(`! ${line}`));
  terminal.say(terminal.errorColours.dim(`Next: ${next}.`));
}

const next_at_home = "lintel run, and lintel doctor to see that everything is plugged in";
const next_at_central = "lintel central, and lintel fleet to see which homes have uploaded since";

const default_days = 30;
const central_ms_max = 20_000;
