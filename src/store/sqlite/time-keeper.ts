import type { BootTime, Held, Waiting } from "../store.ts";
import type { Connection } from "./connection.ts";

/** Keeps what waits for the time, and what is known of it in each boot. Works inside the caller's transaction. */
export class TimeKeeper {
  readonly #putBoot;
  readonly #hold;
  readonly #release;

  constructor(database: Connection) {
    this.#putBoot = database.keep(
      `INSERT INTO boots (boot, offset_ms, compared_ms, seen_ms, bound_ms) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (boot) DO UPDATE SET
         offset_ms = coalesce(excluded.offset_ms, offset_ms),
         compared_ms = coalesce(excluded.compared_ms, compared_ms),
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
    for (const { boot, offset_ms, compared_ms, seen_ms, bound_ms } of notes.boots ?? [])
      this.#putBoot.run(boot, offset_ms ?? null, compared_ms ?? null, seen_ms, bound_ms ?? null);
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
      .query("SELECT boot, offset_ms, compared_ms, seen_ms, bound_ms FROM boots ORDER BY ordinal")
      .all() as Record<string, number | null>[];
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)),
    ) as unknown as BootTime[];
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
