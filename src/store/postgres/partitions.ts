import type { SeriesName } from "../../series.ts";
import type { Connections } from "./connection.ts";

/**
 * The partitions of the series tables: one a calendar year (UTC), one for all before and one for all after the years that are
 * likely, so that a gateway whose clock is wrong can't make more than a hundred. None is a default partition: only then a page reads
 * one partition after the other in order of time, without sorting.
 */
export class Partitions {
  readonly #connections: Connections;
  readonly #known = new Set<string>();

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Makes those that readings of a series from `from` on need, in transactions of their own: their stamps, unix milliseconds. */
  async make(series: SeriesName, stamps_ms: ArrayLike<number>, from: number): Promise<void> {
    let last: Span | undefined;
    for (let index = from; index < stamps_ms.length; index += 1) {
      const stamp_ms = stamps_ms[index] as number;
      if (last !== undefined && stamp_ms >= last.from_ms && stamp_ms < last.before_ms) continue;
      last = spanOf(stamp_ms);
      const name = `${series}_${last.name}`;
      if (this.#known.has(name)) continue;
      await this.#make(series, name, last);
      this.#known.add(name);
    }
  }

  /** Attached rather than made in place, because that does not wait for readers and writers of the table. */
  async #make(series: SeriesName, name: string, { from_ms, before_ms }: Span): Promise<void> {
    await this.#connections.write(async (sql) => {
      await sql`SELECT pg_advisory_xact_lock(7813243, 2)`;
      const [made] = await sql<{ found: boolean }[]>`SELECT to_regclass(${name}) IS NOT NULL AS found`;
      if (made?.found === true) return;
      await sql.unsafe(`CREATE TABLE ${name} (LIKE ${series} INCLUDING ALL)`);
      await sql.unsafe(
        `ALTER TABLE ${series} ATTACH PARTITION ${name} FOR VALUES FROM (${bound(from_ms)}) TO (${bound(before_ms)})`,
      );
    });
  }
}

interface Span {
  readonly name: string;
  readonly from_ms: number;
  readonly before_ms: number;
}

function spanOf(stamp_ms: number): Span {
  const year = new Date(stamp_ms).getUTCFullYear();
  if (stamp_ms < yearStart_ms(first_year)) {
    return { name: "earlier", from_ms: Number.NEGATIVE_INFINITY, before_ms: yearStart_ms(first_year) };
  }
  // A stamp that no date has is later than any.
  if (!(year < end_year)) {
    return { name: "later", from_ms: yearStart_ms(end_year), before_ms: Number.POSITIVE_INFINITY };
  }
  return { name: String(year), from_ms: yearStart_ms(year), before_ms: yearStart_ms(year + 1) };
}

function yearStart_ms(year: number): number {
  return Date.UTC(year, 0, 1);
}

function bound(stamp_ms: number): string {
  if (Number.isFinite(stamp_ms)) return String(stamp_ms);
  return stamp_ms < 0 ? "MINVALUE" : "MAXVALUE";
}

const first_year = 2010;
const end_year = 2100;
