import { cadenceOf, silence_max_ms } from "../../cadence.ts";
import type { Kind } from "../../kinds.ts";
import type { GapReason } from "../../reading.ts";
import type { Item } from "../../records/item.ts";
import { type Interval, overlaid } from "../coverage.ts";
import type { CoverageInterval, CoverageReason, CoverageRequest, CoverageState } from "../store.ts";
import type { Connection } from "./connection.ts";

/** Puts together when an item was covered, from what `CoverageKeeper` keeps: see `Store.coverage`. */
export class CoverageReads {
  readonly #database: Connection;

  constructor(database: Connection) {
    this.#database = database;
  }

  coverage({ item, before_ms, skip, limit }: CoverageRequest): CoverageInterval[] {
    const found = this.#item(item);
    if (found === undefined) return [];
    const { buffered } = found;
    const spoken = [
      { start_ms: found.first_ms, stop_ms: Math.max(found.first_ms, found.until_ms), state: "covered" },
    ];
    const interrupted = buffered
      ? spoken
      : [
          this.#spans(
            "SELECT start_ms, stop_ms FROM silences WHERE item = ? ORDER BY start_ms",
            item,
            silent,
          ),
          this.#outages(found.listener, found, driverDown),
          this.#outages("gateway", found, gatewayDown),
        ].reduce<readonly Interval[]>(overlaid, spoken as Interval[]);
    const whole = overlaid(interrupted as Interval[], [...found.tail, ...this.#gaps(item, found)]);
    return whole
      .filter(({ start_ms }) => start_ms < before_ms)
      .reverse()
      .slice(skip, skip + limit);
  }

  /** For how long the driver of an item has listened since the item was heard; 0 where nobody knows. */
  overdue(item: number): boolean {
    return (this.#item(item)?.tail.length ?? 0) > 0;
  }

  #item(item: number): Heard | undefined {
    const row = this.#database
      .query(
        `SELECT record, coalesce(item_states.first_ms, heard_ms) AS first_ms, heard_ms, listener, last_ms
         FROM items JOIN item_states ON item = key LEFT JOIN listeners ON name = listener WHERE key = ?`,
      )
      .get(item) as HeardRow | null;
    if (row === null) return undefined;
    const { typename, subtypename } = JSON.parse(row.record) as Item;
    const cadence = cadenceOf(typename as Kind, subtypename);
    const { first_ms, heard_ms } = row;
    const last_ms = row.last_ms ?? heard_ms;
    const listener = row.listener ?? "";
    const after_ms = last_ms - heard_ms - this.#deaf_ms(listener, heard_ms, last_ms);
    const overdue = after_ms > silence_max_ms(cadence);
    // Where no sign of life is expected, listening is all that there is to know.
    const until_ms = cadence.expected_ms === undefined ? Math.max(heard_ms, last_ms) : heard_ms;
    const tail: Interval[] = overdue ? [{ start_ms: heard_ms, stop_ms: last_ms, ...silent }] : [];
    return { first_ms, heard_ms, until_ms, listener, buffered: cadence.buffered, tail };
  }

  #deaf_ms(listener: string, $from: number, $to: number): number {
    const row = this.#database
      .query(
        `SELECT coalesce(sum(min(stop_ms, $to) - max(start_ms, $from)), 0) FROM outages
         WHERE listener = $listener AND stop_ms > $from AND start_ms < $to`,
      )
      .values({ $listener: listener, $from, $to });
    return Number(row[0]?.[0]);
  }

  #outages(listener: string, { first_ms, until_ms }: Heard, as: Label): Interval[] {
    const sql = "SELECT start_ms, stop_ms FROM outages WHERE listener = ? ORDER BY start_ms";
    return this.#spans(sql, listener, as).flatMap((span) => {
      const start_ms = Math.max(span.start_ms, first_ms);
      const stop_ms = Math.min(span.stop_ms, until_ms);
      return start_ms < stop_ms ? [{ ...span, start_ms, stop_ms }] : [];
    });
  }

  /** What a device that keeps its events has told later was no gap, though it was not heard at its time. */
  #gaps(item: number, { buffered, heard_ms }: Heard): Interval[] {
    const rows = this.#database
      .query("SELECT from_ms, to_ms, reason, lost FROM gaps WHERE item = ? ORDER BY from_ms, to_ms")
      .values(item) as [number, number, GapReason, number | null][];
    return rows
      .filter(([, to_ms, reason]) => !(buffered && reason === "missed_window" && to_ms <= heard_ms))
      .map(([start_ms, stop_ms, reason, lost]) => ({
        start_ms,
        stop_ms,
        state: "gap",
        reason,
        ...(lost === null ? {} : { lost }),
      }));
  }

  #spans(sql: string, parameter: number | string, as: Label): Interval[] {
    const rows = this.#database.query(sql).values(parameter) as [number, number][];
    return rows.map(([start_ms, stop_ms]) => ({ start_ms, stop_ms, ...as }));
  }
}

interface HeardRow {
  readonly record: string;
  readonly first_ms: number;
  readonly heard_ms: number;
  readonly listener: string | null;
  readonly last_ms: number | null;
}

interface Heard {
  readonly first_ms: number;
  readonly heard_ms: number;
  /** Up to where something is known. */
  readonly until_ms: number;
  readonly listener: string;
  readonly buffered: boolean;
  /** The silence since it was heard, where that is too long by now. */
  readonly tail: readonly Interval[];
}

type Label = { readonly state: CoverageState; readonly reason: CoverageReason };

const silent: Label = { state: "silent", reason: "device_silent" };
const driverDown: Label = { state: "not_listening", reason: "driver_down" };
const gatewayDown: Label = { state: "not_listening", reason: "gateway_down" };
