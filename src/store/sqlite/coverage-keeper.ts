import type { Gap } from "../../reading.ts";
import { cadenceOf, silence_max_ms } from "../cadence.ts";
import type { HeardState, ListeningSpan } from "../store.ts";
import type { Connection } from "./connection.ts";

/**
 * Keeps who listened and which devices were alive, as two times that are moved on and the interruptions between: a
 * sensor that works for years is one row. A gateway keeps its own under home 0; central keeps each home's under its number
 * (core/reports.ts). Works inside the caller's transaction; listening is told before states.
 */
export class CoverageKeeper {
  readonly #readListener;
  readonly #writeListener;
  readonly #addOutage;
  readonly #outagesBetween;
  readonly #readStream;
  readonly #addSilence;
  readonly #addGap;
  readonly #noteState;

  constructor(database: Connection) {
    this.#readListener = database.keep("SELECT last_ms FROM listeners WHERE home = 0 AND name = ?");
    this.#writeListener = database.keep(
      `INSERT INTO listeners (home, name, first_ms, last_ms) VALUES (0, ?, ?, ?)
       ON CONFLICT (home, name) DO UPDATE SET last_ms = max(last_ms, excluded.last_ms)`,
    );
    this.#addOutage = database.keep(
      "INSERT OR IGNORE INTO outages (home, listener, start_ms, stop_ms) VALUES (0, ?, ?, ?)",
    );
    this.#outagesBetween = database.keep(
      `SELECT coalesce(sum(min(stop_ms, $to) - max(start_ms, $from)), 0) FROM outages
       WHERE home = 0 AND listener = $listener AND stop_ms > $from AND start_ms < $to`,
    );
    this.#readStream = database.keep(
      "SELECT heard_ms, listener FROM stream_states WHERE stream = ? AND home = 0",
    );
    this.#addSilence = database.keep(
      "INSERT OR IGNORE INTO silences (stream, home, start_ms, stop_ms) VALUES (?, 0, ?, ?)",
    );
    this.#addGap = database.keep(
      "INSERT OR REPLACE INTO gaps (stream, home, from_ms, to_ms, reason, lost) VALUES (?, 0, ?, ?, ?, ?)",
    );
    this.#noteState = database.keep(
      `INSERT INTO stream_states (stream, home, heard_ms, first_ms, battery_percent, battery_mv, linkquality, listener, facts)
       VALUES (?1, 0, ?2, ?2, ?3, ?4, ?5, ?6, ?7)
       ON CONFLICT (stream, home) DO UPDATE SET
         heard_ms = max(heard_ms, excluded.heard_ms),
         listener = coalesce(excluded.listener, listener),
         battery_percent = coalesce(excluded.battery_percent, battery_percent),
         battery_mv = coalesce(excluded.battery_mv, battery_mv),
         linkquality = coalesce(excluded.linkquality, linkquality),
         facts = coalesce(excluded.facts, facts)`,
    );
  }

  listened({ listener, from_ms, to_ms }: ListeningSpan): void {
    const last_ms = this.#readListener.values(listener)[0]?.[0] as number | undefined;
    if (last_ms !== undefined && from_ms - last_ms > break_max_ms)
      this.#addOutage.run(listener, last_ms, from_ms);
    this.#writeListener.run(listener, from_ms, to_ms);
  }

  /** Keeps the state of a device, and that it was silent before; values that the state does not have stay. */
  heard(stream: number, state: HeardState): void {
    this.#silentUntil(stream, state);
    const { heard_ms, battery_percent, battery_mv, linkquality, listener, facts } = state;
    this.#noteState.run(
      stream,
      heard_ms,
      battery_percent ?? null,
      battery_mv ?? null,
      linkquality ?? null,
      listener ?? null,
      facts === undefined ? null : JSON.stringify(facts),
    );
  }

  gap(stream: number, { from_ms, to_ms, reason, lost }: Gap): void {
    this.#addGap.run(stream, from_ms, to_ms, reason, lost ?? null);
  }

  /** To be called before the state of the stream is changed. */
  #silentUntil(stream: number, { device, heard_ms, listener }: HeardState): void {
    const [earlier] = this.#readStream.values(stream) as [number, string | null][];
    if (earlier === undefined) return;
    const [from_ms] = earlier;
    const least_ms = silence_max_ms(cadenceOf(device.kind, device.subtype));
    if (heard_ms - from_ms <= least_ms) return;
    const who = listener ?? earlier[1] ?? "";
    const parameters = { $listener: who, $from: from_ms, $to: heard_ms };
    const deaf_ms = Number(this.#outagesBetween.values(parameters)[0]?.[0]);
    if (heard_ms - from_ms - deaf_ms > least_ms) this.#addSilence.run(stream, from_ms, heard_ms);
  }
}

/** Listeners are told of several times a minute, and what is told is committed once a minute at least. */
const break_max_ms = 60_000;
