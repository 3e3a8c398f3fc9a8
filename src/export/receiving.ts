import { type TSchema, Type } from "@sinclair/typebox";
import { OperatorError } from "../base/errors.ts";
import { Provenance, type ReadingNumber } from "../domain/reading.ts";
import type { Item } from "../domain/records/item.ts";
import { type SeriesName, seriesNames, seriesOf, type Value } from "../domain/series.ts";
import type { ReadingRow } from "../store/store.ts";
import type { InterfaceReader } from "./answers.ts";
import { type SecondsSpan, spanIn } from "./columns.ts";
import { measurePages } from "./derived-tables.ts";
import type { HeldAnswers } from "./held-answers.ts";
import type { HeldReadings, SeriesOfItem } from "./held-readings.ts";
import type { HomeZones } from "./home-zones.ts";
import type { PackageForm } from "./package/write-package.ts";
import type { Format } from "./table-file.ts";

/** The work of a download: what the server lists as new, and how much of it was received. */
export interface Progress {
  /** Series of items that are up to date, of all there are. */
  readonly done: number;
  readonly total: number;
  /** Readings received by this call, of those that are new; others may arrive meanwhile. Of a span it is the most there can be. */
  readonly received: number;
  readonly expected: number;
  /** Months of homes whose measures were received by this call, of those in which something is new. */
  readonly months: number;
  readonly months_expected: number;
  /** The present piece of work. */
  readonly now: string;
}

/** About how much a download will take on the disk: its files of a format, and what is held of them beside these. */
export function expectedBytes({ expected, months_expected }: Progress, format: Format): number {
  const { reading, month } = bytesOf[format];
  return expected * (reading + bytesHeld.reading) + months_expected * (month + bytesHeld.month);
}

/** Of a reading, and of the measures of a month of a home: half as much in one of three rooms, twice in one of eight. */
const bytesOf: Readonly<Record<Format, { readonly reading: number; readonly month: number }>> = {
  csv: { reading: 110, month: 200_000 },
  ndjson: { reading: 190, month: 420_000 },
  parquet: { reading: 7, month: 17_000 },
};
const bytesHeld = { reading: 60, month: 400_000 };

interface Receiving {
  readonly answers: InterfaceReader;
  readonly held: HeldReadings;
  readonly known: HeldAnswers;
  readonly items: readonly Item[];
  /** Homes whose measures are asked for. */
  readonly homes: readonly number[];
  readonly zones: HomeZones;
  readonly form: Pick<PackageForm, "series" | "span">;
  /** Ends everything where one part fails. */
  readonly failed: AbortController;
  readonly onProgress: (progress: Progress) => void;
}

/**
 * Receives every series of the items, a few at a time: over a slow network most of it is waiting. Beside them it receives the measures of homes, one month at a
 * time, because a server has to make them. Where one part fails, `failed` ends the others, and all have ended when this rejects.
 *
 * @returns the last progress
 */
export async function receive(of: Receiving): Promise<Progress> {
  const { answers, held, known, failed } = of;
  const runs = newSeries(of);
  const measures = newMeasures(of);
  const progress = {
    ...{ done: runs.known, total: runs.known + runs.due.length, received: 0, months: 0 },
    expected: runs.due.reduce((sum, { readings }) => sum + readings, 0),
    months_expected: measures.reduce((sum, { months }) => sum + months, 0),
    now: "",
  };
  const tell = (now: string) => of.onProgress(Object.assign(progress, { now }));
  tell("beginning");
  const waiting = runs.due.values();
  const readings = async () => {
    for (const { series, item, path, span } of waiting) {
      const now = `${item.itemname} ${series}`;
      tell(now);
      await bringUpToDate({
        ...{ answers, held, of: { series, item: item.itemid }, itemname: item.itemname, span },
        onPage: (count) => {
          progress.received += count;
          tell(now);
        },
      });
      known.keepSeries(path, beginning(span));
      progress.done += 1;
    }
  };
  const months = async () => {
    for (const { home, pages, months } of measures) {
      const before = progress.months;
      for await (const _ of pages()) {
        progress.months = Math.min(progress.months + 1, before + months);
        tell(`measures of home ${home}`);
      }
      progress.months = before + months;
    }
  };
  const workers = [...Array.from({ length: atOnce_max }, readings), months()];
  await Promise.all(workers.map((work) => work.catch((thrown) => failed.abort(thrown))));
  failed.signal.throwIfAborted();
  return progress;
}

/** The series that may have something that is not held, and how many readings that is; and how many have not. */
function newSeries({ held, known, items, zones, form }: Receiving) {
  const due: { series: SeriesName; item: Item; path: string; span: SecondsSpan; readings: number }[] = [];
  let all = 0;
  for (const item of items) {
    const span = spanIn(form.span, zones.zoneOf(item));
    const first = beginning(span);
    for (const series of form.series ?? seriesNames) {
      if (seriesOf(series).kind !== item.typename) continue;
      all += 1;
      const path = pathOf(series, item.itemname);
      if (!known.hasNew(itemPath(series, item.itemname), path, first)) continue;
      const here = held.told({ series, item: item.itemid }).reduce((sum, { readings }) => sum + readings, 0);
      due.push({ series, item, path, span, readings: Math.max(0, known.readingsOf(path) - here) });
    }
  }
  return { due, known: all - due.length };
}

/** The parts of measures that are not held: once they are, writing their files asks the server for nothing. */
function newMeasures({ known, homes, zones, form }: Receiving) {
  return homes.flatMap((home) =>
    measurePages(known, home, spanIn(form.span, zones.zoneOf({ currenthomeid: home })))
      .filter(({ isHeld }) => isHeld === false)
      .map((part) => ({ home, ...part })),
  );
}

/**
 * Receives what has arrived of a series of an item since the last page that is held, page by page: afterwards every reading
 * of the span that was on the server's disk when this was called is held. Where the server does not know the place any more,
 * the series is received from the beginning, and what is held already stays.
 *
 * @returns false where the server has no such series or item
 */
async function bringUpToDate(options: {
  answers: InterfaceReader;
  held: HeldReadings;
  of: SeriesOfItem;
  itemname: string;
  span: SecondsSpan;
  /** Told of every page, with the readings it added. */
  onPage: (count: number) => void;
}): Promise<boolean> {
  const { answers, held, of, span, onPage } = options;
  const path = pathOf(of.series, options.itemname);
  const first = `?since=${beginning(span)}&limit=${page_max}&precision=ms&provenance=yes`;
  // Ends: each page lies behind the one before, and a series is begun again only where it had begun.
  for (;;) {
    const { next } = held.progress(of);
    const answer = await answers.get<readonly ServedRecord[]>(path, next ?? first, pageSchemas[of.series]);
    if (answer === undefined) return false;
    if (answer === "gone") {
      if (next === undefined) noPlace(path);
      held.beginAgain(of);
      continue;
    }
    const rows = answer.body.map((record) => rowOf(of.series, record));
    const numbers = answer.body.map(numberIn);
    if (rows.length > 0) held.add(of, rows, numbers, answer.next ?? noPlace(path));
    onPage(rows.length);
    if (rows.length < page_max) return true;
  }
}

/** The beginning of a span, as `since` says it. */
function beginning({ since_s, until_s }: SecondsSpan): string {
  if (until_s !== undefined) return `@${since_s ?? 0}/${until_s}`;
  return since_s === undefined ? "" : `@${since_s}`;
}

function noPlace(path: string): never {
  throw new OperatorError(
    `the answer to ${path} does not say where to begin or to go on`,
    "update the server: `since` came with version 0.9",
  );
}

const numberFields = { epoch: Type.Optional(Type.String()), number: Type.Optional(Type.Integer()) };

/** The identity of a reading; undefined where the server does not know it. */
function numberIn({ epoch, number }: ServedRecord): ReadingNumber | undefined {
  return typeof epoch === "string" && typeof number === "number" ? { epoch, number } : undefined;
}

/** The records of a page as they are served, a schema for each series. */
const pageSchemas = Object.fromEntries(
  seriesNames.map((series) => {
    const fields = Object.entries(seriesOf(series).fields).map(([name, { schema }]) => [name, schema]);
    const record = {
      stamp: Type.Integer(),
      ...Object.fromEntries(fields),
      ...Provenance.properties,
      ...numberFields,
    };
    return [series, Type.Array(Type.Object(record))];
  }),
) as unknown as Readonly<Record<SeriesName, TSchema>>;

function pathOf(series: SeriesName, itemname: string): string {
  return `${itemPath(series, itemname)}/${seriesOf(series).path}`;
}

function itemPath(series: SeriesName, itemname: string): string {
  return `/items/${seriesOf(series).kind}/${encodeURIComponent(itemname)}`;
}

function rowOf(series: SeriesName, record: ServedRecord): ReadingRow {
  const names = [...Object.keys(seriesOf(series).fields), ...Object.keys(Provenance.properties)];
  return [record.stamp, ...names.map((name) => record[name] ?? null)];
}

type ServedRecord = Readonly<Record<string, Value>> & { readonly stamp: number };

const page_max = 1000;
/** Series received at once: enough to hide a network's delay, and few beside what a server answers at once. */
const atOnce_max = 4;
