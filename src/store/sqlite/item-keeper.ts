import type { Device } from "../../reading.ts";
import type { Item } from "../../records/items.ts";
import { normalAddress } from "../address.ts";
import type { BatchDevice } from "../batch.ts";
import { itemColumns, itemValues } from "../core/item-row.ts";
import { lookupText } from "../core/lookup-text.ts";
import { type ItemNames, provisionalItem, provisionalNames, toldSince } from "../provisional-item.ts";
import type { HeardState } from "../store.ts";
import type { Connection } from "./connection.ts";
import type { CoverageKeeper } from "./coverage-keeper.ts";

/**
 * The writer's side of the inventory: finds the item of a device, makes a provisional one where there is
 * none, and keeps what was last heard of it. Works inside the caller's transaction.
 */
export class ItemKeeper {
  readonly #known = new Map<string, Known>();
  readonly #home: number | undefined;
  readonly #coverage: CoverageKeeper;
  readonly #find;
  readonly #findNumbered;
  readonly #findNamed;
  readonly #nextKey;
  readonly #taken;
  readonly #insert;
  readonly #read;
  readonly #complete;
  readonly #noteState;

  constructor(database: Connection, options: { home: number | undefined; coverage: CoverageKeeper }) {
    this.#home = options.home;
    this.#coverage = options.coverage;
    this.#find = database.keep(
      "SELECT key, provisional, record FROM items WHERE typename = ? AND address = ?",
    );
    // A provisional item with an address has its number by chance.
    this.#findNumbered = database.keep(
      `SELECT key, provisional, record FROM items WHERE typename = ? AND itemid = ?
         AND (provisional = 0 OR address IS NULL)`,
    );
    // One that could not have the number of its device has its name.
    this.#findNamed = database.keep(
      `SELECT key, provisional, record FROM items WHERE typename = ? AND itemname = ?
         AND provisional = 1 AND address IS NULL`,
    );
    this.#nextKey = database.keep(
      "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'items'), 0) + 1",
    );
    this.#taken = database.keep("SELECT 1 FROM items WHERE itemid = ? OR itemname = ?");
    this.#insert = database.keep(
      `INSERT INTO items (key, provisional, ${Object.keys(itemColumns).join(", ")}) VALUES (?, 1, ?, ?, ?, ?, ?, ?)`,
    );
    this.#read = database.keep("SELECT record FROM items WHERE key = ?");
    this.#complete = database.keep("UPDATE items SET record = ? WHERE key = ?");
    this.#noteState = database.keep(
      `INSERT INTO item_states (item, home, heard_ms, first_ms, battery_percent, battery_mv, linkquality, listener)
       VALUES (?1, 0, ?2, ?2, ?3, ?4, ?5, ?6)
       ON CONFLICT (item, home) DO UPDATE SET
         heard_ms = max(heard_ms, excluded.heard_ms),
         listener = coalesce(excluded.listener, listener),
         battery_percent = coalesce(excluded.battery_percent, battery_percent),
         battery_mv = coalesce(excluded.battery_mv, battery_mv),
         linkquality = coalesce(excluded.linkquality, linkquality)`,
    );
  }

  /**
   * The key of a device's item: the one with its address, else the one with its number in the inventory, else a provisional one,
   * which is made in `home` and added by name to `created` where there is none yet.
   */
  keyOf(device: BatchDevice, heard_ms: number, created: string[], home = this.#home): number {
    const address = normalAddress(device.address) ?? "";
    const name = `${device.kind} ${address} ${device.itemid ?? ""}`;
    let known = this.#known.get(name);
    if (known === undefined) {
      known = this.#load(device, address) ?? this.#make(device, address, { heard_ms, home, created });
      if (this.#known.size >= known_max) this.#known.clear();
      this.#known.set(name, known);
    }
    if (known.provisional !== undefined) this.#fillIn(known.key, known.provisional, device);
    return known.key;
  }

  /** The key of a device's item; undefined where it has none. */
  find(device: BatchDevice): number | undefined {
    return this.#load(device, normalAddress(device.address) ?? "")?.key;
  }

  /** Stores the state of a device; values that the state does not have stay. */
  note(state: HeardState, created: string[]): void {
    const item = this.keyOf(state.device, state.heard_ms, created);
    this.#coverage.heard(item, state);
    this.#noteState.run(
      item,
      state.heard_ms,
      state.battery_percent ?? null,
      state.battery_mv ?? null,
      state.linkquality ?? null,
      state.listener ?? null,
    );
  }

  /** Drops all that was cached of the database: after a rollback, or when another process wrote. */
  forget(): void {
    this.#known.clear();
  }

  #load(device: BatchDevice, address: string): Known | undefined {
    const { kind, itemid } = device;
    const numbered = () => (itemid === undefined ? null : this.#findNumbered.get(kind, itemid));
    const named = () =>
      this.#findNamed.get(kind, lookupText(provisionalNames(0, device, "")[0]?.itemname ?? ""));
    const unnamed = address === "" && itemid !== undefined;
    const row = (
      unnamed ? (numbered() ?? named()) : (this.#find.get(kind, lookupText(address)) ?? numbered())
    ) as ItemRow | null;
    if (row === null) return undefined;
    return { key: row.key, provisional: row.provisional ? (JSON.parse(row.record) as Item) : undefined };
  }

  #make(device: BatchDevice, address: string, heard: FirstHeard): Known {
    const { heard_ms, home, created } = heard;
    // Who was known by its number so far may have just this address.
    this.#known.clear();
    const key = this.#freeKey();
    const candidates = provisionalNames(key, device, address);
    const free = candidates.find(
      ({ itemid, itemname }) => this.#taken.get(itemid, lookupText(itemname)) === null,
    );
    const names = free ?? (candidates.at(-1) as ItemNames);
    const record = provisionalItem({ names, device, home, heard_ms });
    const known = address !== "" || device.itemid === undefined;
    this.#insert.run(key, ...itemValues(record, known ? address : undefined));
    created.push(record.itemname);
    return { key, provisional: record };
  }

  #freeKey(): number {
    return Number(this.#nextKey.values()[0]?.[0]);
  }

  #fillIn(key: number, record: Item, device: Device): void {
    if (toldSince(record, device) === undefined) return;
    // The item may have been completed under another of its names.
    const [row] = this.#read.values(key) as [string][];
    Object.assign(record, JSON.parse(row?.[0] ?? "{}"));
    Object.assign(record, toldSince(record, device));
    this.#complete.run(JSON.stringify(record), key);
  }
}

interface Known {
  readonly key: number;
  /** The record while it is provisional: only then is it ours to complete. */
  readonly provisional: Item | undefined;
}

interface FirstHeard {
  readonly heard_ms: number;
  readonly home: number | undefined;
  readonly created: string[];
}

interface ItemRow {
  readonly key: number;
  readonly provisional: number;
  readonly record: string;
}

const known_max = 20_000;
