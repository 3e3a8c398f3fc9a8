import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { type Clock, whileSame } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import type { ReadingNumber } from "../domain/reading.ts";
import { seriesNames, seriesOf } from "../domain/series.ts";
import { measuredHomes } from "../export/derived-tables.ts";
import { HomeZones } from "../export/home-zones.ts";
import { citationOf } from "../export/package/package-contents.ts";
import { measuresOf, type PackageForm, writePackage } from "../export/package/write-package.ts";
import {
  epochsAt,
  epochsHere,
  erasedOf,
  inventory,
  leftOutText,
  packageAt,
  type SavedPackage,
  withMissing,
} from "../export/package-readings.ts";
import { absences } from "../export/standards/write-standard.ts";
import { StoreReadings } from "../export/store-readings.ts";
import { type Format, fileOf, writeSeries } from "../export/table-file.ts";
import type { SettingOf } from "../store/derived/home-readings.ts";
import type { Store } from "../store/store.ts";
import { seenBy, shownStore, type VisibleStore } from "../store/visible-store.ts";
import { Answering } from "../web/api/answering.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { withSettings } from "./home-settings.ts";
import {
  type AskedAt,
  addAtOption,
  addFileOptions,
  addIdentifierOptions,
  compared,
  type FileOptions,
  formatOf,
  type IdentifierOptions,
  momentsOf,
  pseudonymsOf,
  requireSameKey,
  spanOf,
  usesOf,
  withAt,
} from "./package-options.ts";
import { drawBar, interruptible } from "./progress.ts";
import { addStoreOptions, type StoreOptions } from "./store-place.ts";
import { printTable } from "./terminal-text.ts";
import { withStore } from "./with-store.ts";

/** `lintel export`: the data package of `lintel fetch`, straight from a store. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel export --format parquet --output /media/usb": "everything, onto a stick",
      "lintel export --series wirelesssensor_events --output sensors.csv":
        "one series, one file, nothing else",
      "lintel export --at ./lintel-data --output again": "the readings of a package again, byte for byte",
      "lintel export --series scale_weights --since 2026-11-01 --items bath-scale": "this month's",
    },
    notes: [
      "The gateway may be running. A file has every reading once that was on disk when it was begun.",
      "The files are those of lintel fetch: docs/download.md says what is in them.",
    ],
    exits: {
      1: "--at: not all of those readings are here; the command lists the missing ones",
      130: "interrupted: files that were finished are kept",
    },
  });
  addStoreOptions(addIdentifierOptions(addAtOption(addFileOptions(command)), ""))
    .option("--output <path>", "a directory, or for one series the file itself", "lintel-data")
    .option("--json", "print the files with their rows as JSON")
    .action(async (given: ExportOptions) => {
      const { options, asked } = await withAt(given, command);
      return exportAll(options, asked, context);
    });
}

interface ExportOptions extends FileOptions, IdentifierOptions, StoreOptions {
  readonly at?: string;
  readonly output: string;
}

interface Exported {
  readonly files: readonly { readonly file: string; readonly rows: number }[];
  /** Absent where it is one file of one series. */
  readonly package?: Parameters<typeof compared>[0];
}

async function exportAll(
  options: ExportOptions,
  asked: AskedAt | undefined,
  context: CommandContext,
): Promise<void> {
  const { terminal } = context;
  const pseudonyms = pseudonymsOf(options, context);
  requireSameKey(asked, pseudonyms);
  const interrupted = "Interrupted: only the files that were finished are there.";
  const done = await interruptible(context, { interrupted }, (stop) =>
    withSettings(options, context, (settingOf) =>
      withStore(options, context, async (store) =>
        whileShown(store, { ...options, clock: context.clock, stop }, async (shown, stop) =>
          writeFrom(
            store,
            shown,
            { ...options, at: asked?.epochs, saved: asked?.saved, pseudonyms, stop, settingOf },
            context,
          ),
        ),
      ),
    ),
  );
  if (done === undefined) return;
  const { files, package: written } = done;
  const again = asked && written && compared(written, asked);
  const citation = written && citationOf(written.contents);
  if (options.json) terminal.printJson({ files, citation, ...again });
  else {
    printTable(terminal, { file: ({ file }) => file, rows: ({ rows }) => rows }, files);
    if (citation !== undefined) terminal.print(`\nTo cite it: ${citation}`);
    for (const line of again?.lines ?? []) terminal.print(line);
  }
  if (again?.same === false) context.exitWith(1);
}

/**
 * Writes what a store shows, for as long as it shows that: whoever is restricted meanwhile is in no file that this command says it has made.
 *
 * @throws OperatorError where anything else is restricted at the end, or some seconds earlier
 */
async function whileShown<Result>(
  store: Store,
  options: IdentifierOptions & { readonly output: string; readonly clock: Clock; readonly stop: AbortSignal },
  write: (shown: VisibleStore, stop: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { clock, output } = options;
  const asked = () => ({ uses: usesOf(options), at_ms: clock.now().unix_ms });
  const hidden = async () => {
    const seen = await seenBy(store, {}, asked());
    return JSON.stringify(seen && { ...seen, homes: seen.homes.length === 0 });
  };
  using same = whileSame({
    ...{ clock, interval_ms: look_interval_ms, read: hidden, before: await hidden() },
    why: () =>
      new OperatorError(
        "who may be seen has changed while the files were written, and they may have who is restricted now",
        `remove ${resolve(output)}, and run the command again`,
      ),
  });
  const shown = await shownStore(store, asked());
  const result = await write(shown, AbortSignal.any([options.stop, same.signal]));
  await same.look();
  same.signal.throwIfAborted();
  return result;
}

const look_interval_ms = 5_000;

/** Writes the files of a store, or the one that is named. */
async function writeFrom(
  whole: Store,
  store: VisibleStore,
  options: Omit<ExportOptions, "at"> &
    Pick<PackageForm, "pseudonyms" | "stop"> & {
      readonly at: readonly ReadingNumber[] | undefined;
      readonly saved: SavedPackage | undefined;
      readonly settingOf: SettingOf;
    },
  { terminal, clock }: CommandContext,
): Promise<Exported> {
  const { stamp, timezone, series, pseudonyms, stop, at } = options;
  const { format, standard } = formatOf(options);
  const span = spanOf(options);
  const single = standard === undefined ? singleFile({ ...options, format }) : undefined;
  const answers = new Answering({ store, clock, settingOf: options.settingOf });
  const homesLeftOut = leftOutText(store.leftOut ?? [], usesOf(options));
  if (homesLeftOut !== undefined) terminal.say(homesLeftOut);
  if ((await whole.unrestricted()) !== undefined)
    terminal.say("Homes that are restricted are left out: docs/consent.md says who may have their data.");
  const { epoch } = await whole.overview();
  const overviews = await store.itemOverviews();
  const { all, items } = await inventory(answers, options.items, pseudonyms);
  const counted = overviews.flatMap((item) => item.series);
  // Readings of all time: with a span it is the most there can be.
  const total = counted
    .filter((one) => series?.includes(one.series) ?? true)
    .reduce((sum, { count }) => sum + count, 0);
  let done = 0;
  const onRows = (count: number) => {
    done += count;
    drawBar(terminal, { done, total, words: `${done} readings` });
  };
  const directory = resolve(options.output);
  const form: PackageForm = {
    ...{ directory, format, standard, stamp, timezone, span, series, clock, stop, pseudonyms },
    asked: momentsOf(options),
  };
  const zones = await HomeZones.of(answers, { timezone, items });
  for (const warning of zones.warnings) terminal.say(warning);
  const here = await epochsHere(answers);
  const epochs = epochsAt(here, at, { server: "this store", pseudonyms });
  const erased = erasedOf(here, epochs);
  const others = at === undefined ? "all" : "none";
  const readings = new StoreReadings({ store, span, zones, epochs, others });
  if (single !== undefined) {
    const unordered = items.filter(({ typename }) => typename === seriesOf(single.series).kind);
    const own = pseudonyms?.order(unordered) ?? unordered;
    const rows = await writeSeries({ ...form, ...single, items: own, readings, zones, onRows });
    return { files: [{ file: fileOf(single.path, format), rows }] };
  }
  const origin = {
    command: "lintel export",
    name: `the store with epoch ${pseudonyms?.epochName(epoch) ?? epoch}`,
  };
  const onStep = (step: string) => drawBar(terminal, { done, total, words: step });
  const told = () => packageAt(readings, epochs, items, { series, names: options.items, pseudonyms });
  const written = await writePackage({
    ...{ ...form, answers, readings, items, inventory: all, zones, origin, onStep, onRows, homesLeftOut },
    homes: await measuredHomes(answers, all, pseudonyms),
    derived: measuresOf(options, erased),
    at: epochs.length === 0 ? undefined : told,
  });
  for (const sentence of written.standard === undefined ? [] : absences(written.standard))
    terminal.say(sentence);
  const asksForAll = [series, options.items, options.since, options.until].every((one) => one === undefined);
  const tables = written.contents.tables.map(({ path, rows }) => [path, rows] as const);
  const files = [...tables, ...Object.entries(written.standard?.files ?? {})];
  return {
    files: files.map(([path, rows]) => ({ file: join(directory, path), rows })),
    package: {
      contents: written.contents,
      leftOut: written.leftOut,
      epochs: withMissing(epochs, readings, { asksForAll }),
      erased,
    },
  };
}

/** The one series that goes into the one file that is named, whose path is without its ending; undefined where a directory is named. */
function singleFile(of: Pick<ExportOptions, "output" | "series"> & { readonly format: Format }) {
  const { output, format, series = seriesNames } = of;
  const path = resolve(output);
  const ending = `.${format}`;
  if (!path.endsWith(ending) || statSync(path, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  const [one, ...others] = series;
  if (one === undefined || others.length > 0)
    throw new OperatorError(
      `${output} is one file, and ${series.length} series are asked for`,
      "give --output a directory, or name one series",
    );
  return { series: one, path: path.slice(0, -ending.length) };
}
