import type { GapReason } from "../../reading.ts";
import type { DeviceHealth, HealthState } from "../device-health.ts";
import { BatchDevices, Items } from "./batch-devices.ts";
import type { Connection } from "./connection.ts";

/** Reads what a gateway knows besides readings: see `UploadStore.deviceHealthAfter`. */
export class HealthReads {
  readonly #items: Items;
  readonly #listeners;
  readonly #states;
  readonly #lastNote;
  readonly #outages;
  readonly #silences;
  readonly #gaps;

  constructor(database: Connection) {
    this.#items = new Items(database);
    this.#listeners = database.keep(
      "SELECT name, first_ms, last_ms FROM listeners WHERE home = 0 ORDER BY name",
    );
    this.#states = database.keep(
      `SELECT item, first_ms, heard_ms, listener, battery_percent, battery_mv, linkquality
       FROM item_states WHERE home = 0 ORDER BY item`,
    );
    this.#lastNote = database.keep("SELECT value FROM meta WHERE name = 'last_note'");
    this.#outages = database.keep(
      "SELECT note, listener, start_ms, stop_ms FROM outages WHERE note > ? ORDER BY note LIMIT ?",
    );
    this.#silences = database.keep(
      "SELECT note, item, start_ms, stop_ms FROM silences WHERE note > ? ORDER BY note LIMIT ?",
    );
    this.#gaps = database.keep(
      "SELECT note, item, from_ms, to_ms, reason, lost FROM gaps WHERE note > ? ORDER BY note LIMIT ?",
    );
  }

  /** To be called in one transaction. */
  after(after_note: number, notes_max: number): DeviceHealth {
    const devices = new BatchDevices(this.#items);
    // One more than is told of each, to see that there are more.
    const outages = this.#outages.values(after_note, notes_max + 1) as OutageRow[];
    const silences = this.#silences.values(after_note, notes_max + 1) as SilenceRow[];
    const gaps = this.#gaps.values(after_note, notes_max + 1) as GapRow[];
    const notes = [...outages, ...silences, ...gaps].map(([note]) => note).sort((one, other) => one - other);
    const all = notes.length <= notes_max;
    const last_note = Number(this.#lastNote.values()[0]?.[0]);
    const to_note = all ? Math.max(last_note, after_note) : (notes[notes_max - 1] ?? after_note);
    const told = <Row extends readonly [note: number, ...unknown[]]>([note]: Row) => note <= to_note;
    return {
      after_note,
      to_note,
      listeners: this.#listeners.all() as DeviceHealth["listeners"],
      states: (this.#states.all() as StateRow[]).map((row) => stateOf(row, devices)),
      outages: outages
        .filter(told)
        .map(([, listener, start_ms, stop_ms]) => ({ listener, start_ms, stop_ms })),
      silences: silences
        .filter(told)
        .map(([, item, start_ms, stop_ms]) => ({ device: devices.place(item), start_ms, stop_ms })),
      gaps: gaps.filter(told).map(([, item, from_ms, to_ms, reason, lost]) => ({
        device: devices.place(item),
        from_ms,
        to_ms,
        reason,
        ...(lost === null ? {} : { lost }),
      })),
      devices: devices.list,
    };
  }
}

function stateOf({ item, first_ms, heard_ms, ...told }: StateRow, devices: BatchDevices): HealthState {
  const known = Object.entries(told).filter(([, value]) => value !== null);
  return { device: devices.place(item), first_ms, heard_ms, ...Object.fromEntries(known) };
}

type OutageRow = [note: number, listener: string, start_ms: number, stop_ms: number];
type SilenceRow = [note: number, item: number, start_ms: number, stop_ms: number];
type GapRow = [
  note: number,
  item: number,
  from_ms: number,
  to_ms: number,
  reason: GapReason,
  lost: number | null,
];

interface StateRow {
  readonly item: number;
  readonly first_ms: number;
  readonly heard_ms: number;
  readonly listener: string | null;
  readonly battery_percent: number | null;
  readonly battery_mv: number | null;
  readonly linkquality: number | null;
}
