import { clockQuality } from "../../clock.ts";
import type { Device } from "../../reading.ts";
import { type SeriesName, seriesOf } from "../../series.ts";
import { foundBy } from "../core/item-row.ts";
import type { BootTime, Held, Waiting } from "../store.ts";
import type { Connection } from "./connection.ts";

/** Stores facts that wait for their time, and the known time of each boot. Works inside the caller's transaction. */
export class TimeKeeper {
  readonly #putBoot;
  readonly #hold;
  readonly #release;

  constructor(database: Connection) {
    this.#putBoot = database.keep(
      `INSERT INTO boots (boot, timeline, seen_ms, bound_ms) VALUES (?, ?, ?, ?)
       ON CONFLICT (boot) DO UPDATE SET
         timeline = coalesce(excluded.timeline, timeline),
         seen_ms = max(seen_ms, excluded.seen_ms),
         bound_ms = excluded.bound_ms`,
    );
    this.#hold = database.keep("INSERT INTO waiting (boot, monotonic_ms, fact) VALUES (?, ?, ?)");
    this.#release = database.keep("DELETE FROM waiting WHERE id = ?");
  }

  keep(notes: {
    readonly boots?: readonly BootTime[];
    readonly held?: readonly Held[];
    readonly released?: readonly number[];
  }): void {
    for (const { boot, timeline, seen_ms, bound_ms } of notes.boots ?? []) {
      const known = timeline === undefined ? null : JSON.stringify(timeline);
      this.#putBoot.run(boot, known, seen_ms, bound_ms ?? null);
    }
    for (const { boot, monotonic_ms, fact } of notes.held ?? [])
      this.#hold.run(boot, monotonic_ms, JSON.stringify(fact));
    for (const id of notes.released ?? []) this.#release.run(id);
  }
}

/** Reads what `TimeKeeper` keeps. */
export class TimeReads {
  readonly #database: Connection;

  constructor(database: Connection) {
    this.#database = database;
  }

  boots(): BootTime[] {
    const rows = this.#database
      .query("SELECT boot, timeline, seen_ms, bound_ms FROM boots ORDER BY ordinal")
      .values() as [string, string | null, number, number | null][];
    return rows.map(([boot, timeline, seen_ms, bound_ms]) => ({
      boot,
      ...(timeline === null ? {} : { timeline: JSON.parse(timeline) }),
      seen_ms,
      ...(bound_ms === null ? {} : { bound_ms }),
    }));
  }

  deviceOffset(series: SeriesName, { kind, address }: Device): number | undefined {
    if (seriesOf(series).deviceClock !== true) return undefined;
    const rows = this.#database
      .query(
        `SELECT offset_ms FROM ${series}
         WHERE item = (SELECT key FROM items WHERE typename = ? AND address = ?) AND clock = ${clockQuality.device}
         ORDER BY stamp DESC, seq DESC LIMIT 1`,
      )
      .values(kind, foundBy(address) ?? "");
    return rows[0] === undefined ? undefined : Number(rows[0][0]);
  }

  waitingCount(): number {
    return Number(this.#database.query("SELECT count(*) FROM waiting").values()[0]?.[0]);
  }

  waiting(limit: number): Waiting[] {
    const rows = this.#database
      .query(
        `SELECT id, boot, monotonic_ms, fact FROM boots JOIN waiting USING (boot)
         ORDER BY ordinal, monotonic_ms, id LIMIT ?`,
      )
      .all(limit) as { id: number; boot: string; monotonic_ms: number; fact: string }[];
    return rows.map(({ fact, ...row }) => ({ ...row, fact: JSON.parse(fact) }));
  }
}
