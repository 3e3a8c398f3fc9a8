import type { Kind } from "../../kinds.ts";
import type { GapReason } from "../../reading.ts";
import type { Item } from "../../records/item.ts";
import {
  type CoverageFacts,
  coverageOf,
  isOverdue,
  type KnownGap,
  type Span,
  type Stay,
} from "../coverage.ts";
import type { CoverageInterval, CoverageRequest } from "../store.ts";
import type { Connection } from "./connection.ts";

/** Reads what `CoverageKeeper` keeps of an item; src/store/coverage.ts makes intervals of it. */
export class CoverageReads {
  readonly #database: Connection;

  constructor(database: Connection) {
    this.#database = database;
  }

  coverage(request: CoverageRequest): CoverageInterval[] {
    const { item } = request;
    const facts = this.#facts(item, ({ home, listener }) => ({
      silences: this.#spans(
        "SELECT start_ms, stop_ms FROM silences WHERE item = ? AND home = ? ORDER BY start_ms",
        item,
        home,
      ),
      driverOutages: this.#outages(home, listener ?? "", 0),
      gatewayOutages: this.#outages(home, "gateway", 0),
    }));
    return facts === undefined ? [] : coverageOf({ ...facts, gaps: this.#gaps(item) }, request);
  }

  /** Whether an item has been silent for too long by now; false where nobody knows. */
  overdue(item: number): boolean {
    const facts = this.#facts(item, ({ home, listener, heard_ms }) => ({
      silences: [],
      driverOutages: this.#outages(home, listener ?? "", heard_ms),
      gatewayOutages: [],
    }));
    return facts !== undefined && isOverdue(facts);
  }

  #facts(
    item: number,
    interruptions: (row: StayRow) => Pick<Stay, "silences" | "driverOutages" | "gatewayOutages">,
  ): Omit<CoverageFacts, "gaps"> | undefined {
    const rows = this.#database
      .query(
        `SELECT record, states.home, states.first_ms, heard_ms, listener, last_ms
         FROM items JOIN item_states AS states ON item = key
           LEFT JOIN listeners ON listeners.home = states.home AND name = listener
         WHERE key = ?`,
      )
      .all(item) as StayRow[];
    if (rows[0] === undefined) return undefined;
    const { typename, subtypename } = JSON.parse(rows[0].record) as Item;
    const stays = rows.map((row) => ({
      first_ms: row.first_ms,
      heard_ms: row.heard_ms,
      ...(row.last_ms === null ? {} : { listened_ms: row.last_ms }),
      ...interruptions(row),
    }));
    return { kind: typename as Kind, subtype: subtypename, stays };
  }

  /** What ended after `since_ms`. */
  #outages(home: number, listener: string, since_ms: number): Span[] {
    const sql = `SELECT start_ms, stop_ms FROM outages
      WHERE home = ? AND listener = ? AND stop_ms > ? ORDER BY start_ms`;
    return this.#spans(sql, home, listener, since_ms);
  }

  #gaps(item: number): KnownGap[] {
    const rows = this.#database
      .query("SELECT from_ms, to_ms, reason, lost FROM gaps WHERE item = ? ORDER BY from_ms, to_ms")
      .values(item) as [number, number, GapReason, number | null][];
    return rows.map(([start_ms, stop_ms, reason, lost]) => ({
      start_ms,
      stop_ms,
      reason,
      ...(lost === null ? {} : { lost }),
    }));
  }

  #spans(sql: string, ...parameters: (number | string)[]): Span[] {
    const rows = this.#database.query(sql).values(...parameters) as [number, number][];
    return rows.map(([start_ms, stop_ms]) => ({ start_ms, stop_ms }));
  }
}

interface StayRow {
  readonly record: string;
  readonly home: number;
  readonly first_ms: number;
  readonly heard_ms: number;
  readonly listener: string | null;
  readonly last_ms: number | null;
}
