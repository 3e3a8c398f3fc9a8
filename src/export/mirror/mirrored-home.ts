import { mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { jsonIfReadable, writeDurably } from "../../base/disk/safe-files.ts";
import { version } from "../../base/version.ts";
import { recordingKinds } from "../../domain/kinds.ts";
import type { Item } from "../../domain/records/item.ts";
import { type SeriesName, seriesNames } from "../../domain/series.ts";
import type { ArrivalPosition, ItemMarks } from "../../store/store.ts";
import type { VisibleStore } from "../../store/visible-store.ts";
import type { InterfaceReader } from "../answers.ts";
import { type FileColumn, type FileRow, readingRows } from "../columns.ts";
import { coverageRowsOf } from "../coverage-tables.ts";
import { writeTable } from "../table-file.ts";
import { coverageList } from "../tables.ts";
import { allMonths, columnsOf, fileIn, monthsIn, removeHome, stateFileOf } from "./mirror-files.ts";
import { type MeasureMarks, mirrorMeasures } from "./mirrored-measures.ts";

/** A home as a mirror reads it. */
export interface HomeToMirror {
  readonly home: number;
  /** Cut to the home. */
  readonly store: VisibleStore;
  /** The interface over that store. */
  readonly answers: InterfaceReader;
}

/** Counts of the work of an update. */
export interface MirrorUpdate {
  written: number;
  removed: number;
  /** Rows in the files that were written. */
  rows: number;
}

/** A series of an item as a mirror has it. */
interface MirroredSeries {
  /** Of the store, before it was read. */
  readonly mark: string;
  /** Of the item, as they stand in the rows. */
  readonly names: string;
  /** Behind the last reading that was looked at. */
  readonly position: ArrivalPosition;
  /** Months of its readings, such as `2026-11`. */
  readonly months: readonly string[];
}

interface HomeState {
  readonly version: string;
  readonly coverage: string;
  /** By series and key of the item. */
  readonly series: Readonly<Record<string, MirroredSeries>>;
  readonly measures: MeasureMarks;
}

/**
 * Brings the files of a home up to date. Of each series of an item whose mark has changed, the readings that have arrived since tell which months are to be written
 * anew; where readings were changed or taken away, it is all of its months. The state is written last: whatever ends this, the next update does the rest.
 */
export class HomeMirroring {
  readonly #of: HomeToMirror;
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #stop: AbortSignal;
  readonly #update: MirrorUpdate;
  readonly #before: HomeState | undefined;
  readonly #series: Record<string, MirroredSeries> = {};
  readonly #due = new Map<SeriesName, Set<string>>();

  /** @param options.update is told what is done */
  constructor(
    of: HomeToMirror,
    options: { directory: string; clock: Clock; stop: AbortSignal; update: MirrorUpdate },
  ) {
    this.#of = of;
    this.#directory = options.directory;
    this.#clock = options.clock;
    this.#stop = options.stop;
    this.#update = options.update;
    const known = jsonIfReadable(stateFileOf(options.directory, of.home)) as HomeState | undefined;
    this.#before = known?.version === version ? known : undefined;
  }

  async run(): Promise<void> {
    const { home } = this.#of;
    const marks = await this.#marks();
    for (const { key, marks: own } of marks)
      for (const { series, mark } of own.series) await this.#look(series, { key, record: own.record, mark });
    for (const [name, { months }] of Object.entries(this.#before?.series ?? {}))
      if (this.#series[name] === undefined) this.#add(seriesIn(name), months);
    if (marks.length === 0) {
      if (this.#before !== undefined) this.#update.removed += 1;
      removeHome(this.#directory, home);
      return;
    }
    for (const [series, months] of this.#due)
      for (const month of [...months].sort()) await this.#writeMonth(series, month, marks);
    // Nobody knows which files another version has left.
    if (this.#before === undefined) this.#removeOthers();
    const coverage = digestOf(marks.map(({ marks: { record, coverage } }) => [namesOf(record), coverage]));
    if (coverage !== this.#before?.coverage) await this.#writeCoverage(marks);
    const measures = await mirrorMeasures({
      ...{ home, directory: this.#directory, answers: this.#of.answers, stop: this.#stop },
      before: this.#before?.measures ?? {},
      write: (path, columns, batches) => this.#write(path, columns, batches),
    });
    const state: HomeState = { version, coverage, series: this.#series, measures };
    if (Bun.deepEquals(state, this.#before)) return;
    const file = stateFileOf(this.#directory, home);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeDurably(file, JSON.stringify(state));
  }

  /** Every item that lives or has lived in the home, in order of itemid within each kind. */
  async #marks(): Promise<MarkedItem[]> {
    const { store } = this.#of;
    const all: MarkedItem[] = [];
    for (const kind of recordingKinds)
      for (let skip = 0; ; skip += items_max) {
        const page = await store.itemMarks(kind, { skip, limit: items_max });
        for (const marks of page) {
          const item = await store.item(kind, marks.record.itemname);
          if (item !== undefined) all.push({ key: item.key, marks });
        }
        if (page.length < items_max) break;
      }
    return all;
  }

  /** Finds the months of a series of an item that are to be written. */
  async #look(series: SeriesName, item: { key: number; record: Item; mark: string }): Promise<void> {
    const name = `${series} ${item.key}`;
    const { mark } = item;
    const names = namesOf(item.record);
    const before = this.#before?.series[name];
    if (before !== undefined && before.names !== names) this.#add(series, before.months);
    if (before?.mark === mark) {
      this.#series[name] = { ...before, names };
      return;
    }
    const { store } = this.#of;
    const span = { from_ms: 0, before_ms: Number.MAX_SAFE_INTEGER };
    const request = { series, item: item.key, span, limit: rows_max, precision: "ms" } as const;
    let months = new Set(before?.months);
    let position = before?.position;
    for (;;) {
      this.#stop.throwIfAborted();
      const page = await store.arrivals({ ...request, ...(position && { after: position }) });
      if (page === undefined) {
        if (position === undefined) throw new Error(`${series} of ${item.record.itemname} has no beginning`);
        // Readings were changed or taken away.
        this.#add(series, months);
        [months, position] = [new Set(), undefined];
        continue;
      }
      const arrived = new Set(page.records.map(({ stamp }) => monthOf(stamp)));
      this.#add(series, arrived);
      months = months.union(arrived);
      position = page.position;
      if (page.records.length < rows_max) break;
    }
    this.#series[name] = { mark, names, position, months: [...months].sort() };
  }

  #add(series: SeriesName, months: Iterable<string>): void {
    const due = this.#due.get(series) ?? new Set();
    for (const month of months) due.add(month);
    this.#due.set(series, due);
  }

  #removeOthers(): void {
    for (const series of seriesNames)
      for (const month of monthsIn(this.#directory, series, this.#of.home))
        if (!this.#due.get(series)?.has(month))
          rmSync(dirname(fileIn(this.#directory, series, this.#of.home, month)), { recursive: true });
  }

  async #writeMonth(series: SeriesName, month: string, items: readonly MarkedItem[]): Promise<void> {
    const { home, store } = this.#of;
    const own = items.filter(({ key }) => this.#series[`${series} ${key}`]?.months.includes(month));
    const [from_ms, before_ms] = spanOf(month);
    const rowOf = readingRows(series);
    const stop = this.#stop;
    async function* batches(): AsyncGenerator<readonly FileRow[]> {
      for (const { key, marks } of own) {
        const request = { series, item: key, from_ms, before_ms, limit: rows_max, provenance: true } as const;
        for (let read = await store.oldestFirst(request); ; ) {
          stop.throwIfAborted();
          if (read.rows.length > 0) yield read.rows.map((row) => rowOf(marks.record, row));
          if (read.next === undefined) break;
          read = await store.oldestFirst({ ...request, after: read.next });
        }
      }
    }
    await this.#write(fileIn(this.#directory, series, home, month), columnsOf(series), batches());
  }

  async #writeCoverage(items: readonly MarkedItem[]): Promise<void> {
    const { home, answers } = this.#of;
    const clock = this.#clock;
    async function* batches(): AsyncGenerator<readonly FileRow[]> {
      for (const { marks } of items) {
        const rows = await coverageRowsOf(answers, marks.record, clock);
        if (rows.length > 0) yield rows;
      }
    }
    const path = fileIn(this.#directory, coverageList, home, allMonths);
    await this.#write(path, columnsOf(coverageList), batches());
  }

  /** Writes a file anew, or takes it away where there is no row for it. */
  async #write(
    path: string,
    columns: readonly FileColumn[],
    batches: AsyncIterable<readonly FileRow[]>,
  ): Promise<void> {
    const rows = await writeTable({ path, format: "parquet", stamp: "iso", columns }, batches);
    if (rows === undefined) {
      rmSync(dirname(path), { recursive: true, force: true });
      this.#update.removed += 1;
      return;
    }
    this.#update.written += 1;
    this.#update.rows += rows;
  }
}

interface MarkedItem {
  readonly key: number;
  readonly marks: ItemMarks;
}

function seriesIn(name: string): SeriesName {
  const series = name.split(" ")[0];
  return seriesNames.find((one) => one === series) as SeriesName;
}

/** The cells of a row that an item gives it. */
function namesOf({ itemid, itemname }: Item): string {
  return `${itemid} ${itemname}`;
}

function digestOf(of: unknown): string {
  return Bun.hash(JSON.stringify(of)).toString(36);
}

function monthOf(stamp_ms: number): string {
  return new Date(stamp_ms).toISOString().slice(0, "2026-11".length);
}

function spanOf(month: string): [from_ms: number, before_ms: number] {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return [Date.UTC(year, number - 1), Date.UTC(year, number)];
}

/** Readings, and items, that are read at once. */
const rows_max = 5_000;
const items_max = 1_000;
