import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { fileOf, type Source, writeSeries } from "../download/series-file.ts";
import { OperatorError } from "../errors.ts";
import type { Item } from "../records/items.ts";
import { type SeriesName, seriesNames, seriesOf } from "../series.ts";
import type { ItemOverview, Overview, Store } from "../store/store.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { addFileOptions, type FileOptions, spanOf } from "./file-options.ts";
import { interruptible } from "./interruptible.ts";
import { drawBar } from "./progress.ts";
import { addStoreOptions, type StoreOptions } from "./store-options.ts";
import { printTable } from "./table.ts";
import { withStore } from "./with-store.ts";

/** `lintel export`: series straight from a store, as files. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel export --series all --format parquet --output /media/usb": "everything, onto a stick",
      "lintel export --series wirelesssensor_events --output sensors.csv": "one series, one file",
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
    .action((options: ExportOptions) => exportSeries(options, context));
}

interface ExportOptions extends FileOptions, StoreOptions {
  readonly output: string;
}

async function exportSeries(options: ExportOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const series = seriesAsked(options);
  const interrupted = "Interrupted: only the files that were finished are there.";
  const written = await interruptible(context, { interrupted }, (stop) =>
    withStore(options, context, async (store) => {
      const items = itemsAsked(await store.overview(), options.items);
      // Readings of all time: with a span it is the most there can be.
      const total = items
        .flatMap((item) => item.series)
        .filter((one) => series.includes(one.series))
        .reduce((sum, { count }) => sum + count, 0);
      const files: { file: string; rows: number }[] = [];
      let done = 0;
      for (const name of series) {
        const path = pathOf(options, name, series.length);
        const sources = items
          .filter(({ record }) => record.typename === seriesOf(name).kind)
          .map(({ record }) => sourceOf(store, name, record, options));
        const { format, stamp } = options;
        const rows = await writeSeries({
          path,
          series: name,
          format,
          stamp,
          sources,
          stop,
          onRows: (count) => {
            done += count;
            drawBar(terminal, { done, total, words: `${done} readings  ${name}` });
          },
        });
        files.push({ file: fileOf(path, format), rows });
      }
      return files;
    }),
  );
  if (written === undefined) return;
  if (options.json) terminal.printJson({ files: written });
  else printTable(terminal, { file: ({ file }) => file, rows: ({ rows }) => rows }, written);
}

function seriesAsked({ series }: ExportOptions): readonly SeriesName[] {
  if (series === undefined || series.length === 0)
    throw new OperatorError("no series is named", `give --series all, or of ${seriesNames.join(", ")}`);
  return series;
}

function itemsAsked({ items }: Overview, names: readonly string[] | undefined): ItemOverview[] {
  const unknown = names?.filter((name) => !items.some(({ record }) => record.itemname === name)) ?? [];
  if (unknown.length > 0)
    throw new OperatorError(
      `the inventory has no item ${unknown.join(", ")}`,
      "lintel items lists those there are",
    );
  return items
    .filter(({ record }) => names?.includes(record.itemname) ?? true)
    .sort((one, other) => one.record.itemid - other.record.itemid);
}

/** An item's readings of a series in the store; an item without any, or that is gone meanwhile, has none. */
function sourceOf(store: Store, series: SeriesName, record: Item, options: ExportOptions): Source {
  const { since_s = 0, until_s } = spanOf(options);
  const span = { from_ms: since_s * 1000, before_ms: until_s === undefined ? end_ms : until_s * 1000 };
  async function* readings() {
    const item = await store.item(seriesOf(series).kind, record.itemname);
    if (item === undefined) return;
    const request = { series, item: item.key, ...span, limit: rowsAtOnce_max };
    let read = await store.oldestFirst(request);
    for (;;) {
      yield read.rows;
      if (read.next === undefined) return;
      read = await store.oldestFirst({ ...request, after: read.next });
    }
  }
  return { itemid: record.itemid, itemname: record.itemname, readings };
}

/** Path of a series' file without its ending. */
function pathOf({ output, format }: ExportOptions, series: SeriesName, count: number): string {
  const path = resolve(output);
  const ending = `.${format}`;
  if (!path.endsWith(ending) || statSync(path, { throwIfNoEntry: false })?.isDirectory())
    return join(path, series);
  if (count > 1)
    throw new OperatorError(
      `${output} is one file, and ${count} series are asked for`,
      "give --output a directory, or name one series",
    );
  return path.slice(0, -ending.length);
}

const rowsAtOnce_max = 5_000;
/** After the last stamp that the interface can name. */
const end_ms = 253_402_300_800_000;
