import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Command } from "commander";
import { OperatorError } from "../base/errors.ts";
import { recordTypes } from "../domain/records/record-table.ts";
import { savedPackage } from "../export/package-readings.ts";
import { ControlClient } from "../gateway/control-client.ts";
import { type ImportProgress, importFiles } from "../import/file-import.ts";
import { emptyStore, type ImportStore } from "../import/import-ledger.ts";
import { faultText, ImportRefused } from "../import/record-files.ts";
import type { Imported, RecordChanges } from "../store/inventory/record-store.ts";
import { type PauseRequest, pauseOpen_ms } from "../store/pause.ts";
import { databasePath } from "../store/sqlite/connection.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { scopeText } from "./pause.ts";
import { drawBar } from "./progress.ts";
import { addFillingOptions, type StoreOptions, storePlace } from "./store-place.ts";
import type { Terminal } from "./terminal.ts";
import { momentText, printTable, type TableColumns } from "./terminal-text.ts";
import { mayMake, withStore } from "./with-store.ts";

/** `lintel import`: takes the programme's records into a store. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel import programme.json": '{"items": [{…}, …], "subjects": [{…}, …], …}',
      "lintel import items.csv homes.csv": "a first row with the names of the fields",
      "lintel import --dry-run programme.ndjson": '{"record": "items", …} a line',
    },
    notes: [
      "Files given together are one import: Lintel imports all of it, or nothing.",
      `Records: ${recordTypes.join(", ")}.`,
    ],
  });
  command.argument("<files...>", "records as JSON, NDJSON or CSV; a CSV file is named after its records");
  addFillingOptions(command)
    .option("--dry-run", "say what would change, and change nothing")
    .option("--json", "print what changed, or the faults, as JSON")
    .action((files: string[], options: ImportCommandOptions) => importRecords(files, options, context));
}

interface ImportCommandOptions extends StoreOptions {
  readonly dryRun?: boolean;
}

async function importRecords(
  files: readonly string[],
  options: ImportCommandOptions,
  context: CommandContext,
): Promise<void> {
  const { terminal } = context;
  const dryRun = options.dryRun === true;
  await requireNames(files);
  try {
    const { imported, ends } = await intoStore(files, dryRun, options, context);
    if (options.json)
      terminal.printJson({ dry_run: dryRun, changes: imported.changes, recording_ends: ends.map(endOf) });
    else sayChanges(imported, dryRun, terminal);
    for (const end of ends.slice(0, ends_shown_max))
      terminal.say(terminal.errorColours.yellow(`! ${endText(end, context.clock.now().unix_ms)}`));
    if (ends.length > ends_shown_max)
      terminal.say(
        terminal.errorColours.yellow(`! and ${ends.length - ends_shown_max} more: --json has all`),
      );
  } catch (thrown) {
    if (!(thrown instanceof ImportRefused)) throw thrown;
    sayFaults(thrown, terminal);
    if (options.json) terminal.printJson({ fault_count: thrown.count, faults: thrown.faults });
    context.exitWith(exit_faults);
  }
}

/** @throws OperatorError for files of a package without names: its numbers would become an inventory of nobody. */
async function requireNames(files: readonly string[]): Promise<void> {
  for (const folder of new Set(files.map((file) => dirname(file)))) {
    const saved = await savedPackage(folder).catch(() => undefined);
    if (saved !== undefined && saved.made.identifiers !== "full")
      throw new OperatorError(
        `${folder} is a package without identifiers: it is no whole inventory`,
        "import one that was written with --identifiers full",
      );
  }
}

async function intoStore(
  files: readonly string[],
  dryRun: boolean,
  options: StoreOptions,
  context: CommandContext,
): Promise<{ readonly imported: Imported; readonly ends: readonly PauseRequest[] }> {
  const take = async (store: ImportStore, dry: boolean) => {
    try {
      return await importFiles({ files, store, dryRun: dry, onProgress: progressBar(context) });
    } finally {
      context.terminal.progress("");
    }
  };
  const place = storePlace(options);
  const create = mayMake(options);
  if ("directory" in place && !existsSync(databasePath(place.directory))) {
    // A store is made only for files that are known to be right.
    const imported = await take(emptyStore, true);
    if (dryRun) return { imported, ends: [] };
  }
  const taken = await withStore(
    options,
    context,
    async (store) => {
      const imported = await take(store, dryRun);
      const ends = dryRun ? [] : await store.followEnrollments(context.clock.now().unix_ms);
      return { imported, ends };
    },
    { create },
  );
  // A gateway that cannot be told finds out by itself, within seconds.
  if ("directory" in place) await new ControlClient(place.directory).admissionsChanged().catch(() => {});
  return taken;
}

/** An end of a recording as `--json` prints it; `home` is null at a gateway, `until_ms` while no further enrollment follows. */
function endOf({ home, from_ms, before_ms, kind, address, itemid }: PauseRequest) {
  const until_ms = before_ms === pauseOpen_ms ? null : before_ms;
  return { home: home === 0 ? null : home, from_ms, until_ms, kind, address, itemid };
}

function endText(end: PauseRequest, now_ms: number): string {
  const { from_ms, before_ms } = end;
  const again = before_ms === pauseOpen_ms ? "" : `, and begins again at ${momentText(before_ms)}`;
  if (from_ms > now_ms)
    return `Recording of ${scopeText(end)} ends at ${momentText(from_ms)} with the enrollment${again}.`;
  return `Recording of ${scopeText(end)} has ended now: its enrollment is over${again}. If the date is wrong, correct it and import it again.`;
}

/** A bar at the foot of a terminal, for files that take a moment. */
function progressBar({ terminal, clock }: CommandContext): (progress: ImportProgress) => void {
  let drawn_ms = Number.NEGATIVE_INFINITY;
  return ({ bytesRead: done, bytesTotal: total, records }) => {
    const now_ms = clock.now().monotonic_ms;
    if (total < progress_bytes_min || (now_ms - drawn_ms < redraw_ms && done < total)) return;
    drawn_ms = now_ms;
    const step = done < total ? "reading" : "taking in";
    drawBar(terminal, { done, total, words: `${step} ${records.toLocaleString("en")} records` });
  };
}

function sayChanges({ changes }: Imported, dryRun: boolean, terminal: Terminal): void {
  const rows = Object.entries(changes);
  if (rows.length === 0) {
    terminal.say("The files hold no records.");
    return;
  }
  printTable(terminal, columns, rows);
  const adopted = Object.values(changes).reduce((sum, change: RecordChanges) => sum + change.adopted, 0);
  const { dim } = terminal.errorColours;
  if (adopted > 0) {
    terminal.say(
      dim(
        `${adopted} of the items ${adopted === 1 ? "is a device" : "are devices"} heard before; the readings are kept.`,
      ),
    );
  }
  if (dryRun) terminal.say(dim("This was a dry run: nothing has changed."));
}

const columns: TableColumns<[type: string, changes: RecordChanges]> = {
  record: ([type]) => type,
  added: ([, { added }]) => added,
  updated: ([, { updated }]) => updated,
  unchanged: ([, { unchanged }]) => unchanged,
};

function sayFaults({ count, faults }: ImportRefused, terminal: Terminal): void {
  const shown = faults.slice(0, faults_shown_max);
  for (const fault of shown) terminal.say(faultText(fault));
  const rest = count - shown.length;
  const more = rest > 0 ? `, ${rest.toLocaleString("en")} of them not shown` : "";
  const { red } = terminal.errorColours;
  terminal.say(
    `${red("lintel:")} ${count.toLocaleString("en")} ${count === 1 ? "fault" : "faults"}${more}: nothing was imported, correct the ${count === 1 ? "line" : "lines"} and import again`,
  );
}

const exit_faults = 2;
const faults_shown_max = 100;
const ends_shown_max = 20;
const progress_bytes_min = 4_000_000;
const redraw_ms = 100;
