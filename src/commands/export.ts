import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { Answering } from "../api/answering.ts";
import type { Format } from "../download/format.ts";
import { HomeZones } from "../download/home-zones.ts";
import { inventory } from "../download/inventory.ts";
import { type PackageForm, writePackage } from "../download/package/package.ts";
import type { Readings } from "../download/readings.ts";
import { fileOf, writeSeries } from "../download/series-file.ts";
import { spanIn } from "../download/span.ts";
import { absences } from "../download/standards/readme.ts";
import { OperatorError } from "../errors.ts";
import type { Item } from "../records/items.ts";
import { type SeriesName, seriesNames, seriesOf } from "../series.ts";
import type { Store } from "../store/store.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { addFileOptions, type FileOptions, formatOf, spanOf } from "./file-options.ts";
import { interruptible } from "./interruptible.ts";
import { drawBar } from "./progress.ts";
import { addStoreOptions, type StoreOptions } from "./store-options.ts";
import { printTable } from "./table.ts";
import { withStore } from "./with-store.ts";

/** `lintel export`: the data package of `lintel fetch`, straight from a store. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel export --format parquet --output /media/usb": "everything, onto a stick",
      "lintel export --series wirelesssensor_events --output sensors.csv":
        "one series, one file, nothing else",
      "lintel export --series scale_weights --since 2026-11-01 --items bath-scale": "this month's",
    },
    notes: [
      "The gateway may be running. A file has every reading once that was on disk when it was begun.",
      "The files are those of lintel fetch: docs/download.md says what is in them.",
    ],
    exits: { 130: "interrupted: files that were finished are kept" },
  });
  addStoreOptions(addFileOptions(command))
    .option("--output <path>", "a directory, or for one series the file itself", "lintel-data")
    .option("--json", "print the files with their rows as JSON")
    .action((options: ExportOptions) => exportAll(options, context));
}

interface ExportOptions extends FileOptions, StoreOptions {
  readonly output: string;
}

async function exportAll(options: ExportOptions, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  const { stamp, timezone, series } = options;
  const { format, standard } = formatOf(options);
  const span = spanOf(options);
  const single = standard === undefined ? singleFile({ ...options, format }) : undefined;
  const interrupted = "Interrupted: only the files that were finished are there.";
  const written = await interruptible(context, { interrupted }, (stop) =>
    withStore(options, context, async (store) => {
      const answers = new Answering({ store, clock });
      const { epoch, items: overviews } = await store.overview();
      const items = await inventory(answers, options.items);
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
      const form: PackageForm = { directory, format, standard, stamp, timezone, span, series, clock, stop };
      const zones = await HomeZones.of(answers);
      const readings = readingsOf(store, form, zones);
      if (single !== undefined) {
        const own = items.filter(({ typename }) => typename === seriesOf(single.series).kind);
        const rows = await writeSeries({ ...form, ...single, items: own, readings, zones, onRows });
        return [{ file: fileOf(single.path, format), rows }];
      }
      const origin = { command: "lintel export", name: `the store with epoch ${epoch}` };
      const onStep = (step: string) => drawBar(terminal, { done, total, words: step });
      const written = await writePackage({
        ...form,
        answers,
        readings,
        items,
        zones,
        origin,
        onStep,
        onRows,
      });
      for (const sentence of written.standard === undefined ? [] : absences(written.standard))
        terminal.say(sentence);
      return [
        ...Object.entries(written.files).map(([name, { rows }]) => ({
          file: fileOf(join(directory, name), format),
          rows,
        })),
        ...Object.entries(written.standard?.files ?? {}).map(([path, rows]) => ({
          file: join(directory, path),
          rows,
        })),
      ];
    }),
  );
  if (written === undefined) return;
  if (options.json) terminal.printJson({ files: written });
  else printTable(terminal, { file: ({ file }) => file, rows: ({ rows }) => rows }, written);
}

/** The readings of a store; of an item without any, or that is gone meanwhile, none. */
function readingsOf(store: Store, { span: asked }: PackageForm, zones: HomeZones): Readings {
  return {
    oldestFirst: async function* (series: SeriesName, record: Item) {
      const item = await store.item(seriesOf(series).kind, record.itemname);
      if (item === undefined) return;
      const { since_s = 0, until_s } = spanIn(asked, zones.zoneOf(record));
      const span = { from_ms: since_s * 1000, before_ms: until_s === undefined ? end_ms : until_s * 1000 };
      const request = { series, item: item.key, ...span, limit: rowsAtOnce_max, provenance: true };
      let read = await store.oldestFirst(request);
      for (;;) {
        yield read.rows;
        if (read.next === undefined) return;
        read = await store.oldestFirst({ ...request, after: read.next });
      }
    },
  };
}

/** The one series that goes into the one file that is named, whose path is without its ending; undefined where a directory is named. */
function singleFile({
  output,
  format,
  series = seriesNames,
}: Pick<ExportOptions, "output" | "series"> & { readonly format: Format }) {
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

const rowsAtOnce_max = 5_000;
/** After the last stamp that the interface can name. */
const end_ms = 253_402_300_800_000;
