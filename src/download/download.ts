import { existsSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import type { Clock } from "../clock.ts";
import { OperatorError } from "../errors.ts";
import { kindNames } from "../kinds.ts";
import { Item, ItemType } from "../records/items.ts";
import { type SeriesName, seriesNames, seriesOf } from "../series.ts";
import { version } from "../version.ts";
import { coverageRows, missingnessRows } from "./coverage-list.ts";
import { deviceList, fetchDevices } from "./device-list.ts";
import type { Format } from "./format.ts";
import { HeldReadings } from "./held-readings.ts";
import { InterfaceClient } from "./interface-client.ts";
import { writeDescription } from "./package/description.ts";
import { type WrittenTable, writtenTable } from "./package/written.ts";
import { fetchList, pagesOf, recordLists } from "./record-lists.ts";
import { bringUpToDate, type Span } from "./series-download.ts";
import { fileOf, writeSeries } from "./series-file.ts";
import type { StampForm } from "./stamp-form.ts";
import { writeTable } from "./table-file.ts";
import { coverageList, missingnessList, tableNamed, tables } from "./tables.ts";

export interface DownloadOptions {
  readonly url: string;
  readonly token: string;
  /** The certificate of a server that no authority vouches for, in PEM. */
  readonly certificate?: string;
  /** Where the files go, made if it is missing. */
  readonly directory: string;
  readonly format: Format;
  readonly stamp: StampForm;
  readonly span: Span;
  /** Absent: all of them. */
  readonly series?: readonly SeriesName[];
  /** Names of items; absent: all of them. */
  readonly items?: readonly string[];
  readonly clock: Clock;
  /** From 0 up to 1, for the waits between attempts. */
  readonly random: () => number;
  readonly stop: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  readonly onRetry: (reason: string, delay_ms: number) => void;
}

export interface Progress {
  /** Series of items that are up to date, of all there are. */
  readonly done: number;
  readonly total: number;
  /** Readings received by this call. */
  readonly received: number;
  /** The present piece of work. */
  readonly now: string;
}

export interface Downloaded {
  readonly directory: string;
  /** Readings that came over the network this time. */
  readonly received: number;
  /** Each file by name without ending, with its rows, and whether this call wrote it. */
  readonly files: Readonly<Record<string, { readonly rows: number; readonly written: boolean }>>;
  /** Lists that this server does not have. */
  readonly absent: readonly string[];
}

/**
 * Downloads all that a token can see into a file for each series and each list of records. What was received is
 * kept beside the files, so that the same call goes on where one before it ended, and later fetches only what is
 * new; see `bringUpToDate` for what is guaranteed.
 *
 * @throws OperatorError with what to do; what was received until then stays
 */
export async function download(options: DownloadOptions): Promise<Downloaded> {
  const failed = new AbortController();
  const server = new InterfaceClient({ ...options, stop: AbortSignal.any([options.stop, failed.signal]) });
  const { span, directory } = options;
  const held = new HeldReadings(join(directory, stateFile), {
    url: server.url,
    since: moment(span.since_s),
    until: moment(span.until_s),
  });
  try {
    if ((await server.get("/items", "", Type.Array(ItemType))) === undefined)
      throw new OperatorError(
        `there is no Lintel interface at ${server.url}`,
        "give --url the address that the gateway or central server prints when it starts",
      );
    const items = chosen(await inventory(server), options.items);
    const received = await receive(server, held, items, { ...options, failed });
    const files: Record<string, { rows: number; written: boolean }> = {};
    const absent: string[] = [];
    for (const list of recordLists) {
      options.onProgress({ ...received, now: list.name });
      const rows = await fetchList({ ...options, server, list, path: join(directory, list.name) });
      if (rows === undefined) absent.push(list.name);
      else files[list.name] = { rows, written: true };
    }
    options.onProgress({ ...received, now: deviceList });
    const devices = await fetchDevices({ ...options, server, items, path: join(directory, deviceList) });
    if (devices === undefined) absent.push(deviceList);
    else files[deviceList] = { rows: devices, written: true };
    for (const [name, rows] of [
      [coverageList, coverageRows],
      [missingnessList, missingnessRows],
    ] as const) {
      options.onProgress({ ...received, now: name });
      const { columns } = tableNamed(name);
      const { format, stamp } = options;
      const path = fileOf(join(directory, name), format);
      const written = await writeTable(
        { path, format, columns, stamp },
        rows({ ...options, server, held, items }),
      );
      files[name] = { rows: written ?? 0, written: true };
    }
    for (const series of options.series ?? seriesNames) {
      const sources = items.filter(({ typename }) => typename === seriesOf(series).kind);
      if (sources.length === 0 && options.series === undefined) continue;
      options.onProgress({ ...received, now: `writing ${series}` });
      files[series] = await assemble(held, series, sources, options);
    }
    options.onProgress({ ...received, now: "describing it all" });
    await describe(server.url, files, options);
    return { directory, received: received.received, files, absent };
  } finally {
    held.close();
  }
}

/** Writes the files that say what the others are. */
async function describe(
  url: string,
  files: Downloaded["files"],
  { directory, format, stamp, clock }: DownloadOptions,
): Promise<void> {
  const written: WrittenTable[] = [];
  for (const table of tables) {
    const rows = files[table.name]?.rows;
    if (rows !== undefined)
      written.push(await writtenTable(table, { directory, path: fileOf(table.name, format), rows }));
  }
  const made_ms = clock.now().unix_ms;
  writeDescription(directory, { tables: written, format, stamp, url, made_ms, version });
}

/**
 * Receives every series of the items, a few at a time: over a slow network most of it is waiting. Where one
 * fails, `failed` ends the others, and all have ended when this rejects.
 */
async function receive(
  server: InterfaceClient,
  held: HeldReadings,
  items: readonly Item[],
  { failed, ...options }: DownloadOptions & { failed: AbortController },
): Promise<Omit<Progress, "now">> {
  const runs = items.flatMap((item) =>
    (options.series ?? seriesNames)
      .filter((series) => seriesOf(series).kind === item.typename)
      .map((series) => ({ series, item })),
  );
  const waiting = runs.values();
  const progress = { done: 0, total: runs.length, received: 0 };
  const work = async () => {
    for (const { series, item } of waiting) {
      const tell = () => options.onProgress({ ...progress, now: `${item.itemname} ${series}` });
      tell();
      await bringUpToDate({
        server,
        held,
        of: { series, item: item.itemid },
        itemname: item.itemname,
        span: options.span,
        onPage: (count) => {
          progress.received += count;
          tell();
        },
      });
      progress.done += 1;
    }
  };
  const workers = Array.from({ length: atOnce_max }, () => work().catch((thrown) => failed.abort(thrown)));
  await Promise.all(workers);
  failed.signal.throwIfAborted();
  return progress;
}

/** Writes the file of a series, unless it stands there already with just what is held. */
async function assemble(
  held: HeldReadings,
  series: SeriesName,
  items: readonly Item[],
  { directory, format, stamp, stop }: DownloadOptions,
): Promise<{ rows: number; written: boolean }> {
  const path = join(directory, series);
  const content = JSON.stringify([
    stamp,
    items.map(({ itemid, itemname }) => [itemid, itemname, held.progress({ series, item: itemid }).revision]),
  ]);
  const setting = `written ${series}.${format}`;
  const before = JSON.parse(held.setting(setting) ?? "{}");
  if (before.content === content && existsSync(fileOf(path, format)))
    return { rows: before.rows, written: false };
  const sources = items.map(({ itemid, itemname }) => ({
    itemid,
    itemname,
    readings: () => held.oldestFirst({ series, item: itemid }),
  }));
  const rows = await writeSeries({ path, series, format, stamp, sources, stop });
  held.keepSetting(setting, JSON.stringify({ content, rows }));
  return { rows, written: true };
}

async function inventory(server: InterfaceClient): Promise<Item[]> {
  const items: Item[] = [];
  for (const kind of kindNames)
    for await (const page of pagesOf(server, `/inventory/${kind}`, Item)) items.push(...(page as Item[]));
  return items;
}

function chosen(items: readonly Item[], names: readonly string[] | undefined): Item[] {
  const unknown = names?.filter((name) => !items.some(({ itemname }) => itemname === name)) ?? [];
  if (unknown.length > 0)
    throw new OperatorError(
      `the inventory has no item ${unknown.join(", ")}`,
      `it has ${
        items
          .slice(0, named_max)
          .map(({ itemname }) => itemname)
          .join(", ") || "none"
      }${items.length > named_max ? ", …" : ""}`,
    );
  return items.filter(({ itemname }) => names === undefined || names.includes(itemname));
}

function moment(unix_s: number | undefined): string {
  return unix_s === undefined ? "" : new Date(unix_s * 1000).toISOString();
}

const stateFile = ".lintel-fetch.db";
const named_max = 20;
/** Series received at once: enough to hide a network's delay, and few beside what a server answers at once. */
const atOnce_max = 4;
