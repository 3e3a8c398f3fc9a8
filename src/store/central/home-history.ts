import type { Kind } from "../../domain/kinds.ts";
import type { Item } from "../../domain/records/item.ts";
import { type SeriesName, seriesOf } from "../../domain/series.ts";
import { type Batch, BatchColumns, type BatchDevice } from "../batch.ts";
import { arrays, type Database, objects, reach, rowsOf, type Work } from "../database.ts";
import type { DayDigest } from "../exchange.ts";
import type { DigestRequest } from "../gateway/upload-store.ts";
import type { Homes } from "../inventory/homes.ts";
import { deviceOfItem } from "../inventory/item-names.ts";
import type { StreamReading } from "../series/block-codec.ts";
import { dayDigests, type ReadingKey, readingsAfter } from "../series/readings.ts";
import type { StreamSeries } from "../series/streams.ts";
import type { CentralStore, HistoryPosition } from "./central-store.ts";
import { numbersOf, sourceOf } from "./sources.ts";

/** A series of a stream of a home, with the device as its home is told of it. */
interface HeldSeries {
  readonly series: SeriesName;
  readonly stream: number;
  /** See `StreamSeries`. */
  readonly rows_from: number;
  readonly device: BatchDevice;
}

/** The series that are held of the streams of a home, in order of stream and series. To be read in one snapshot. */
function* heldSeries(homes: Homes, home: number): Work<HeldSeries[]> {
  const rows = yield* rowsOf(
    objects<DeviceRow>(
      `SELECT streams.key AS stream, items.record, items.provisional, streams.address, streams.itemid,
         EXISTS (SELECT 1 FROM stays WHERE stays.item = streams.item AND stays.home = streams.home) AS lived
       FROM streams JOIN items ON items.key = streams.item WHERE streams.home = $1`,
      home,
    ),
  );
  const held = yield* rowsOf(
    arrays<[stream: number, series: SeriesName, rows_from: number]>(
      "SELECT stream, series, rows_from FROM totals WHERE stream = ANY ($1::bigint[]) AND home = $2 ORDER BY stream, series",
      rows.map(({ stream }) => stream),
      homes.of(home),
    ),
  );
  const devices = new Map(rows.map((row) => [row.stream, deviceOf(row)]));
  return held.map(([stream, series, rows_from]) => {
    // Of the kind of the readings, whatever the inventory has made of the item since.
    return {
      stream,
      series,
      rows_from,
      device: { ...(devices.get(stream) as BatchDevice), kind: seriesOf(series).kind },
    };
  });
}

interface DeviceRow {
  readonly stream: number;
  readonly record: string;
  /** On SQLite 0 or 1, as `lived`. */
  readonly provisional: boolean | number;
  readonly address: string;
  readonly itemid: number | null;
  readonly lived: boolean | number;
}

/**
 * The device of a stream, as its home is told of it: the item where it has lived there; of an item of other homes nothing but what the home itself has said,
 * because who guesses an address or a number is to learn nothing by it.
 */
function deviceOf({ record: text, provisional, address, itemid, lived }: DeviceRow): BatchDevice {
  const record = JSON.parse(text) as Item;
  const said = { kind: record.typename as Kind, address, itemid: itemid ?? undefined };
  if (!lived) return said;
  const device = deviceOfItem(record, Boolean(provisional));
  return provisional && address === "" ? { ...device, ...said } : device;
}

/** Digests of the readings that central holds of an epoch, day by day: see `UploadStore.digests`. */
export async function digests(
  database: Database,
  homes: Homes,
  request: DigestRequest,
): Promise<DayDigest[]> {
  const { epoch, through_seq, from_ms, before_ms } = request;
  const found = await database.snapshot(function* () {
    const source = yield* sourceOf(epoch);
    if (source === undefined) return undefined;
    const { home } = source;
    return { home, runs: yield* heldSeries(homes, home), numbers: yield* numbersOf(source) };
  });
  if (found === undefined) return [];
  const { home, runs, numbers } = found;
  const seqOf = (own: number) => {
    const seq = numbers.seqOf(own);
    return seq === undefined || seq > through_seq ? undefined : seq;
  };
  return dayDigests(database, homes, runs, { home, from_ms, before_ms, seqOf });
}

/**
 * All readings that a home has sent, old to new, for a box that is restored: see `CentralStore.history`. To be read at one moment. `epoch` is
 * the name that the readings are numbered under.
 */
export function* history(
  homes: Homes,
  epoch: string,
  { home, from_ms, after, readings_max }: Parameters<CentralStore["history"]>[0],
): Work<{ batch: Batch; position: HistoryPosition } | undefined> {
  yield* reach([home]);
  const found = yield* heldSeries(homes, home);
  const start: ReadingKey = after === undefined ? [from_ms, 0] : positionOf(after.at);
  const full = Math.ceil(readings_max / Math.max(1, found.length)) + run_rows_least;
  const runs = found.map((run) => new HistoryStream(run, { full, homes, home: homes.of(home) }));
  for (const run of runs) yield* run.read(start);
  return yield* mergedBatch(runs, { epoch, first_seq: (after?.seq ?? 0) + 1, readings_max });
}

/** The next readings of runs in order of stamp, then of number, numbered from `first_seq` on. */
function* mergedBatch(
  runs: readonly HistoryStream[],
  { epoch, first_seq, readings_max }: { epoch: string; first_seq: number; readings_max: number },
): Work<{ batch: Batch; position: HistoryPosition } | undefined> {
  const columns = new BatchColumns();
  let seq = first_seq;
  let last: ReadingKey | undefined;
  for (; seq < first_seq + readings_max; seq += 1) {
    const run = runs.reduce<HistoryStream | undefined>(
      (first, next) => (next.isBefore(first) ? next : first),
      undefined,
    );
    const row = run?.next;
    if (run === undefined || row === undefined) break;
    columns.add(run.place.series, run.device, seq, [run.place.stream, ...row]);
    last = [row[0], row[1]];
    if (run.pass()) yield* run.read(last);
  }
  if (last === undefined) return undefined;
  const to_seq = seq - 1;
  const numbers = { epoch, first_seq: 1, from_seq: first_seq, to_seq };
  const batch: Batch = { ...numbers, missing: [], ...columns.columns() };
  return { batch, position: { seq: to_seq, at: last.join(" ") } };
}

/** The readings of one series of one stream, in their order. */
class HistoryStream {
  readonly place: StreamSeries;
  readonly device: BatchDevice;
  readonly #full: number;
  #rows: readonly StreamReading[] = [];
  #at = 0;

  /** `full`: readings that are read at once. */
  constructor(
    { device, ...run }: HeldSeries,
    { full, homes, home }: { full: number; homes: Homes; home: number },
  ) {
    this.place = { ...run, homes, home };
    this.device = device;
    this.#full = full;
  }

  /** Reads the next readings after one. */
  *read(after: ReadingKey): Work<void> {
    const before_ms = Number.MAX_SAFE_INTEGER;
    this.#rows = yield* readingsAfter(this.place, { after, before_ms, limit: this.#full });
    this.#at = 0;
  }

  get next(): StreamReading | undefined {
    return this.#rows[this.#at];
  }

  isBefore(other: HistoryStream | undefined): boolean {
    const mine = this.next;
    if (mine === undefined) return false;
    const theirs = other?.next;
    return theirs === undefined || mine[0] < theirs[0] || (mine[0] === theirs[0] && mine[1] < theirs[1]);
  }

  /** Goes on to the next reading; whether it, and those after it, are still to be read. */
  pass(): boolean {
    this.#at += 1;
    return this.#at === this.#rows.length && this.#rows.length === this.#full;
  }
}

function positionOf(at: string): ReadingKey {
  const [stamp_ms, own] = at.split(" ").map(Number);
  if (!Number.isSafeInteger(stamp_ms) || !Number.isSafeInteger(own)) {
    throw new RangeError(`${at} is no position in a history`);
  }
  return [stamp_ms as number, own as number];
}

/** Readings of a run that are read at once, besides its share of the batch. */
const run_rows_least = 256;
