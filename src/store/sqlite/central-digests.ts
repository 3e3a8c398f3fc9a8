import { day_ms } from "../../durations.ts";
import { type SeriesName, seriesNames, seriesOf, type Value } from "../../series.ts";
import { forEverySeries } from "../core/series-tables.ts";
import { numbersOf, sourceOf } from "../core/sources.ts";
import type { OwnNumbers } from "../own-numbers.ts";
import { readingDigest, SetDigest } from "../reading-digest.ts";
import type { DayDigest, DigestRequest } from "../upload-store.ts";
import type { Connection } from "./connection.ts";
import type { Runner } from "./runner.ts";
import { seriesColumns } from "./series-tables.ts";

/** Digests of the stored readings of an epoch, day by day: see `UploadStore.digests`. */
export class CentralDigests {
  readonly #runner: Runner;
  readonly #heard;
  readonly #rows;

  constructor(database: Connection, runner: Runner) {
    this.#runner = runner;
    this.#heard = database.keep(
      // Heads are found by series and item: without the names of all series, those of every home would be looked through.
      `SELECT series, key, address, itemid, provisional
       FROM item_homes JOIN items ON key = item_homes.item JOIN heads ON heads.item = key
       WHERE home = ? AND series IN (${seriesNames.map((name) => `'${name}'`).join(", ")}) ORDER BY key, series`,
    );
    this.#rows = forEverySeries((series) =>
      database.keep(
        `SELECT ${seriesColumns(series).slice(1).join(", ")} FROM ${series}
         WHERE item = ? AND (stamp, seq) > (?, ?) AND stamp < ? ORDER BY stamp, seq LIMIT ${rows_max}`,
      ),
    );
  }

  async read(request: DigestRequest): Promise<DayDigest[]> {
    const source = this.#runner.run(sourceOf(request.epoch));
    if (source === undefined) return [];
    const numbers = this.#runner.run(numbersOf(source));
    const digests: DayDigest[] = [];
    for (const run of this.#heard.all(source.home) as HeardRun[])
      digests.push(...(await this.#ofRun(run, numbers, request)));
    return digests;
  }

  async #ofRun(
    { series, key, address, itemid, provisional }: HeardRun,
    numbers: OwnNumbers,
    { through_seq, from_ms, before_ms }: DigestRequest,
  ): Promise<DayDigest[]> {
    const days = new Map<number, SetDigest>();
    let after: readonly [stamp: number, own: number] = [from_ms, 0];
    for (;;) {
      const rows = this.#rows[series].values(key, ...after, before_ms) as Row[];
      for (const [stamp, own, ...values] of rows) {
        const seq = numbers.seqOf(own);
        if (seq === undefined || seq > through_seq) continue;
        const day = Math.floor(stamp / day_ms);
        const digest = days.get(day) ?? new SetDigest();
        days.set(day, digest);
        digest.add(readingDigest(seq, stamp, values));
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < rows_max) break;
      after = [last[0], last[1]];
      // Pages are to be served meanwhile.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return [...days].map(([day, { count, hash }]) => ({
      series,
      // Of the readings, whatever the inventory has made of the item since.
      kind: seriesOf(series).kind,
      address: address ?? "",
      ...(provisional === 1 && address !== null ? {} : { itemid }),
      day,
      count,
      hash,
    }));
  }
}

type Row = [stamp: number, own: number, ...values: Value[]];

/** A series of an item that was heard in a home. */
interface HeardRun {
  readonly series: SeriesName;
  readonly key: number;
  readonly address: string | null;
  readonly itemid: number;
  readonly provisional: number;
}

/** Readings that are looked at without a pause. */
const rows_max = 10_000;
