import type { Kind } from "../../kinds.ts";
import type { GapReason } from "../../reading.ts";
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
    const rows = this.#database.query(`${stays} WHERE key = ?`).all(item) as StayRow[];
    const facts = factsOf(rows, ({ home, listener }) => ({
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

  /** Keys of the items that have been silent for too long by now. */
  overdue(): Set<number> {
    const rows = this.#database.query(stays).all() as StayRow[];
    const nothing = { silences: [], driverOutages: [], gatewayOutages: [] };
    const late = [...Map.groupBy(rows, ({ key }) => key)].filter(([, of]) => {
      const facts = factsOf(of, () => nothing);
      if (facts === undefined || !isOverdue(facts)) return false;
      // Only of these it matters whether their driver listened all the while.
      const known = factsOf(of, ({ home, listener, heard_ms }) => ({
        ...nothing,
        driverOutages: this.#outages(home, listener ?? "", heard_ms),
      }));
      return known !== undefined && isOverdue(known);
    });
    return new Set(late.map(([key]) => key));
  }

  /** Outages that ended after `since_ms`. */
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

/** Coverage facts of an item from the rows of its stays; undefined where there is none. */
function factsOf(
  rows: readonly StayRow[],
  interruptions: (row: StayRow) => Pick<Stay, "silences" | "driverOutages" | "gatewayOutages">,
): Omit<CoverageFacts, "gaps"> | undefined {
  if (rows[0] === undefined) return undefined;
  const { kind, subtype } = rows[0];
  const known = rows.map((row) => ({
    first_ms: row.first_ms,
    heard_ms: row.heard_ms,
    ...(row.last_ms === null ? {} : { listened_ms: row.last_ms }),
    ...interruptions(row),
  }));
  return { kind, subtype, stays: known };
}

const stays = `
  SELECT key, typename AS kind, record ->> '$.subtypename' AS subtype, states.home, states.first_ms, heard_ms,
    listener, last_ms
  FROM items JOIN item_states AS states ON item = key
    LEFT JOIN listeners ON listeners.home = states.home AND name = listener`;

interface StayRow {
  readonly key: number;
  readonly kind: Kind;
  readonly subtype: string;
  readonly home: number;
  readonly first_ms: number;
  readonly heard_ms: number;
  readonly listener: string | null;
  readonly last_ms: number | null;
}
