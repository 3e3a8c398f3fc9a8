import { type SeriesName, seriesOf } from "../../series.ts";
import type { Batch, BatchDevice } from "../batch.ts";
import { BatchColumns, type ReadingRow } from "../batch-columns.ts";
import type { HistoryPosition } from "../central-store.ts";
import { forEverySeries } from "../core/series-tables.ts";
import { deviceOfItem } from "../provisional-item.ts";
import type { Connection } from "./connection.ts";
import { seriesColumns } from "./series-tables.ts";

/** Reads what the items of a home have ever told, old to new, for a box that is restored: see `CentralStore.history`. */
export class CentralHistory {
  readonly #database: Connection;
  readonly #epoch: string;
  readonly #runs;
  readonly #rows;

  /** `epoch`: the name that the readings are numbered under. */
  constructor(database: Connection, epoch: string) {
    this.#database = database;
    this.#epoch = epoch;
    this.#runs = database.keep(
      `SELECT series, key, record, provisional FROM items JOIN heads ON item = key
       WHERE record ->> '$.currenthomeid' = ? ORDER BY key, series`,
    );
    this.#rows = forEverySeries((series) =>
      database.keep(
        `SELECT ${seriesColumns(series).join(", ")} FROM ${series}
         WHERE item = ? AND (stamp, seq) > (?, ?) ORDER BY stamp, seq LIMIT ?`,
      ),
    );
  }

  read(request: {
    readonly home: number;
    readonly from_ms: number;
    readonly after?: HistoryPosition;
    readonly readings_max: number;
  }): { batch: Batch; position: HistoryPosition } | undefined {
    return this.#database.transaction(() => this.#read(request))();
  }

  #read({
    home,
    from_ms,
    after,
    readings_max,
  }: Parameters<CentralHistory["read"]>[0]): { batch: Batch; position: HistoryPosition } | undefined {
    const found = this.#runs.all(home) as HomeRun[];
    const start = after === undefined ? ([from_ms, 0] as const) : positionOf(after.at);
    const full = Math.ceil(readings_max / Math.max(1, found.length)) + run_rows_least;
    const runs = found.map(({ series, key, record, provisional }) => {
      // Of the readings, whatever the inventory has made of the item since.
      const device = { ...deviceOfItem(JSON.parse(record), provisional === 1), kind: seriesOf(series).kind };
      const more = (from: Key) => this.#rows[series].values(key, ...from, full) as unknown as ReadingRow[];
      return new Run({ series, device, start, more, full });
    });
    return mergedBatch(runs, { epoch: this.#epoch, first_seq: (after?.seq ?? 0) + 1, readings_max });
  }
}

/** The next readings of runs in order of stamp, then of number, numbered from `first_seq` on. */
function mergedBatch(
  runs: readonly Run[],
  { epoch, first_seq, readings_max }: { epoch: string; first_seq: number; readings_max: number },
): { batch: Batch; position: HistoryPosition } | undefined {
  const columns = new BatchColumns();
  let seq = first_seq;
  let last: Key | undefined;
  for (; seq < first_seq + readings_max; seq += 1) {
    const run = runs.reduce<Run | undefined>(
      (first, next) => (next.isBefore(first) ? next : first),
      undefined,
    );
    const row = run?.next;
    if (run === undefined || row === undefined) break;
    columns.add(run.series, run.device, seq, row);
    last = [row[1], row[2]];
    run.pass();
  }
  if (last === undefined) return undefined;
  const to_seq = seq - 1;
  const batch: Batch = {
    epoch,
    first_seq: 1,
    from_seq: first_seq,
    to_seq,
    missing: [],
    ...columns.columns(),
  };
  return { batch, position: { seq: to_seq, at: last.join(" ") } };
}

/** The readings of one series of one item, in their order. */
class Run {
  readonly series: SeriesName;
  readonly device: BatchDevice;
  readonly #more: (from: Key) => ReadingRow[];
  readonly #full: number;
  #rows: readonly ReadingRow[];
  #at = 0;

  constructor(of: {
    series: SeriesName;
    device: BatchDevice;
    start: Key;
    more: (from: Key) => ReadingRow[];
    /** How many rows `more` answers where there are as many. */
    full: number;
  }) {
    this.series = of.series;
    this.device = of.device;
    this.#more = of.more;
    this.#full = of.full;
    this.#rows = of.more(of.start);
  }

  get next(): ReadingRow | undefined {
    return this.#rows[this.#at];
  }

  isBefore(other: Run | undefined): boolean {
    const mine = this.next;
    if (mine === undefined) return false;
    const theirs = other?.next;
    return theirs === undefined || mine[1] < theirs[1] || (mine[1] === theirs[1] && mine[2] < theirs[2]);
  }

  pass(): void {
    const passed = this.next;
    this.#at += 1;
    if (passed === undefined || this.#at < this.#rows.length || this.#rows.length < this.#full) return;
    this.#rows = this.#more([passed[1], passed[2]]);
    this.#at = 0;
  }
}

type Key = readonly [stamp: number, own: number];

/** A series of an item that is in a home. */
interface HomeRun {
  readonly series: SeriesName;
  readonly key: number;
  readonly record: string;
  readonly provisional: number;
}

function positionOf(at: string): Key {
  const [stamp, own] = at.split(" ").map(Number);
  if (!Number.isSafeInteger(stamp) || !Number.isSafeInteger(own))
    throw new RangeError(`${at} is no position`);
  return [stamp as number, own as number];
}

/** Readings of a run that are read at once, besides its share of the batch. */
const run_rows_least = 256;
