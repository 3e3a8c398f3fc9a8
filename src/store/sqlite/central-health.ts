import type { ReportNote, Sender } from "../central-store.ts";
import { itemsOf } from "../core/items.ts";
import { holdSource } from "../core/sources.ts";
import type { Connection } from "./connection.ts";
import type { Runner } from "./runner.ts";

/**
 * Keeps what gateways say of themselves, and who listened and which devices were alive in each home. Taking the same twice changes
 * nothing. Works inside the caller's transaction.
 */
export class CentralHealth {
  readonly #runner: Runner;
  readonly #putReport;
  readonly #putListener;
  readonly #putState;
  readonly #putOutage;
  readonly #putSilence;
  readonly #putGap;

  constructor(options: { database: Connection; runner: Runner }) {
    const { database } = options;
    this.#runner = options.runner;
    this.#putReport = database.keep(
      `UPDATE sources SET report = ?, reported_ms = ?, held_note = ?,
         reported = (SELECT max(max(began, reported)) + 1 FROM sources AS others WHERE others.home = sources.home)
       WHERE home = ? AND epoch = ?`,
    );
    this.#putListener = database.keep(
      `INSERT INTO listeners (home, name, first_ms, last_ms) VALUES (?, ?, ?, ?)
       ON CONFLICT (home, name) DO UPDATE SET
         first_ms = min(first_ms, excluded.first_ms), last_ms = max(last_ms, excluded.last_ms)`,
    );
    this.#putState = database.keep(
      `INSERT INTO item_states (item, home, first_ms, heard_ms, listener, battery_percent, battery_mv, linkquality)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (item, home) DO UPDATE SET
         first_ms = min(first_ms, excluded.first_ms),
         listener = CASE WHEN excluded.heard_ms >= heard_ms THEN coalesce(excluded.listener, listener) ELSE listener END,
         battery_percent = CASE WHEN excluded.heard_ms >= heard_ms
           THEN coalesce(excluded.battery_percent, battery_percent) ELSE battery_percent END,
         battery_mv = CASE WHEN excluded.heard_ms >= heard_ms THEN coalesce(excluded.battery_mv, battery_mv) ELSE battery_mv END,
         linkquality = CASE WHEN excluded.heard_ms >= heard_ms THEN coalesce(excluded.linkquality, linkquality) ELSE linkquality END,
         heard_ms = max(heard_ms, excluded.heard_ms)`,
    );
    this.#putOutage = database.keep(
      "INSERT OR REPLACE INTO outages (home, listener, start_ms, stop_ms) VALUES (?, ?, ?, ?)",
    );
    this.#putSilence = database.keep(
      "INSERT OR REPLACE INTO silences (item, home, start_ms, stop_ms) VALUES (?, ?, ?, ?)",
    );
    this.#putGap = database.keep(
      "INSERT OR REPLACE INTO gaps (item, from_ms, to_ms, reason, lost) VALUES (?, ?, ?, ?, ?)",
    );
  }

  note({ epoch, health, report }: ReportNote, sender: Sender): void {
    const { home, at_ms } = sender;
    const source = this.#runner.run(holdSource(epoch, sender));
    const { devices, after_note, to_note } = health;
    const keys = new Map<number, number>();
    const itemOf = (place: number, heard_ms: number) => {
      const device = devices[place];
      if (device === undefined) throw new Error(`device health names device ${place} of ${devices.length}`);
      const key = keys.get(place) ?? this.#runner.run(itemsOf([{ device, heard_ms }], home))[0];
      keys.set(place, key as number);
      return key as number;
    };
    for (const { name, first_ms, last_ms } of health.listeners)
      this.#putListener.run(home, name, first_ms, last_ms);
    for (const state of health.states) {
      this.#putState.run(
        itemOf(state.device, state.first_ms),
        home,
        state.first_ms,
        state.heard_ms,
        state.listener ?? null,
        state.battery_percent ?? null,
        state.battery_mv ?? null,
        state.linkquality ?? null,
      );
    }
    // Earlier notes are stored already: an interruption never changes once it is over.
    if (to_note > source.held_note) {
      for (const { listener, start_ms, stop_ms } of health.outages)
        this.#putOutage.run(home, listener, start_ms, stop_ms);
      for (const { device, start_ms, stop_ms } of health.silences)
        this.#putSilence.run(itemOf(device, start_ms), home, start_ms, stop_ms);
      for (const { device, from_ms, to_ms, reason, lost } of health.gaps)
        this.#putGap.run(itemOf(device, from_ms), from_ms, to_ms, reason, lost ?? null);
    }
    // Notes between the held ones and these have not come: they are to be sent again.
    const held_note = after_note > source.held_note ? source.held_note : Math.max(source.held_note, to_note);
    this.#putReport.run(JSON.stringify(report), at_ms, held_note, home, epoch);
  }
}
