import type { Item } from "../../records/items.ts";
import { normalAddress } from "../address.ts";
import type { BatchDevice } from "../batch.ts";
import { lookupText } from "../core/lookup-text.ts";
import { type ItemNames, provisionalItem, provisionalNames, toldSince } from "../provisional-item.ts";
import type { Connections, SqlRunner } from "./connection.ts";
import { shareInventory } from "./inventory-lock.ts";

/** A device of a batch or of `DeviceHealth`, and when it was first heard in it, unix milliseconds. */
export interface HeardDevice {
  readonly device: BatchDevice;
  readonly heard_ms: number;
}

/**
 * The writer's side of the inventory: finds the items of what a home sends, and makes provisional ones where there are none. A
 * device is the item of its kind and address, else the one with its number in the inventory.
 */
export class ItemKeeper {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /**
   * Makes the missing items of these devices, in a short transaction of its own: transactions that make items run one after
   * another, and none should wait for a whole batch. Call it just before the transaction that calls `keysOf`.
   */
  async prepare(heard: readonly HeardDevice[], home: number): Promise<void> {
    const found = await this.#connections.read((sql) => find(sql, heard, home));
    if (found.every(isSettled)) return;
    await this.#connections.write(async (sql) => {
      await shareInventory(sql);
      await complete(sql, heard, home);
    });
  }

  /**
   * The keys of the items of these devices, in their order; they hold until the caller's transaction ends. Makes what is still
   * missing.
   */
  async keysOf(sql: SqlRunner, heard: readonly HeardDevice[], home: number): Promise<number[]> {
    await shareInventory(sql);
    const found = await find(sql, heard, home);
    if (!found.every(isPresent)) return complete(sql, heard, home);
    return found.map(({ key }) => key);
  }

  /** The same of those that are known; makes nothing. */
  async knownKeys(
    sql: SqlRunner,
    heard: readonly HeardDevice[],
    home: number,
  ): Promise<(number | undefined)[]> {
    await shareInventory(sql);
    return (await find(sql, heard, home)).map(({ key }) => key ?? undefined);
  }
}

interface Found extends HeardDevice {
  readonly key: number | null;
  /** The record while it is provisional: only then is it ours to complete. */
  readonly provisional: Item | undefined;
  /** The home is among those that have sent something of the item. */
  readonly housed: boolean;
}

type Keyed = Found & { readonly key: number };

function isPresent(found: Found): found is Keyed {
  return found.key !== null && found.housed;
}

function isSettled(found: Found): boolean {
  const { provisional, device } = found;
  return isPresent(found) && (provisional === undefined || toldSince(provisional, device) === undefined);
}

async function find(sql: SqlRunner, heard: readonly HeardDevice[], home: number): Promise<Found[]> {
  if (heard.length === 0) return [];
  const given = heard.map(({ device }) => device);
  const kinds = given.map(({ kind }) => kind);
  const addresses = given.map(keptAddress);
  const itemids = given.map(({ itemid = null }) => itemid);
  const names = given.map((device) => (keptAddress(device) === null ? unnumberedName(device) : null));
  // A provisional item with an address has its number by chance.
  const rows = await sql<{ place: number; key: number | null; record: string | null; housed: boolean }[]>`
    SELECT place, key, CASE WHEN provisional THEN record END AS record, home IS NOT NULL AS housed
    FROM unnest(${kinds}::text[], ${addresses}::text[], ${itemids}::bigint[], ${names}::text[])
      WITH ORDINALITY AS given (kind, given_address, given_itemid, given_name, place)
    LEFT JOIN items ON key = coalesce(
      (SELECT key FROM items WHERE typename = kind AND address = given_address),
      (SELECT key FROM items
       WHERE typename = kind AND itemid = given_itemid AND (NOT provisional OR address IS NULL)),
      (SELECT key FROM items
       WHERE typename = kind AND itemname = given_name AND provisional AND address IS NULL))
    LEFT JOIN item_homes ON item = key AND home = ${home}
    ORDER BY place`;
  return rows.map(({ place, key, record, housed }) => ({
    ...(heard[place - 1] as HeardDevice),
    key,
    housed,
    provisional: record === null ? undefined : JSON.parse(record),
  }));
}

/**
 * Makes and completes items, and notes where they are; answers the keys. Keys are given without gaps, so a transaction that
 * makes items locks the last key until it ends; no other makes or completes items meanwhile.
 */
async function complete(sql: SqlRunner, heard: readonly HeardDevice[], home: number): Promise<number[]> {
  const [counter] = await sql<{ last: number }[]>`SELECT last FROM item_keys FOR UPDATE`;
  const found = await find(sql, heard, home);
  await fillIn(sql, found);
  const made = await make(sql, {
    missing: found.filter(({ key }) => key === null),
    home,
    last: counter?.last ?? 0,
  });
  const keys = found.map(({ key, device }) => key ?? made.get(nameOf(device)) ?? 0);
  await sql`
    INSERT INTO item_homes (item, home) SELECT DISTINCT item, ${home}::bigint FROM unnest(${keys}::bigint[]) AS item
    ON CONFLICT DO NOTHING`;
  return keys;
}

/** Makes a provisional item for each device that has none; answers their keys by `nameOf` the devices. */
async function make(
  sql: SqlRunner,
  { missing, home, last }: { missing: readonly Found[]; home: number; last: number },
): Promise<Map<string, number>> {
  const mentions = Map.groupBy(missing, ({ device }) => nameOf(device));
  const wanted = [...mentions.values()].flatMap(([first, ...again], index) => {
    if (first === undefined) return [];
    const key = last + index + 1;
    const { device, heard_ms } = first;
    return [{ key, device, heard_ms, again, candidates: provisionalNames(key, device, addressOf(device)) }];
  });
  const keys = new Map(wanted.map(({ device, key }) => [nameOf(device), key]));
  if (wanted.length === 0) return keys;
  const taken = await takenNames(
    sql,
    wanted.flatMap(({ candidates }) => candidates),
  );
  for (const { key, candidates, device, heard_ms, again } of wanted) {
    const isFree = ({ itemid, itemname }: ItemNames) =>
      !taken.has(itemid) && !taken.has(lookupText(itemname));
    const names = candidates.find(isFree) ?? (candidates.at(-1) as ItemNames);
    const itemname = lookupText(names.itemname);
    taken.add(names.itemid).add(itemname);
    const record = provisionalItem({ names, device, home, heard_ms });
    for (const more of again) Object.assign(record, toldSince(record, more.device));
    await sql`
      INSERT INTO items (key, record, itemid, itemname, typename, address, provisional, currenthomeid)
      VALUES (${key}, ${JSON.stringify(record)}, ${names.itemid}, ${itemname}, ${device.kind}, ${keptAddress(device)}, true, ${home})`;
  }
  await sql`UPDATE item_keys SET last = ${last + wanted.length}`;
  return keys;
}

/** Which of these itemids and names, as they are looked up by, items have already. */
async function takenNames(sql: SqlRunner, names: readonly ItemNames[]): Promise<Set<number | string>> {
  const itemids = names.map(({ itemid }) => itemid);
  const itemnames = names.map(({ itemname }) => lookupText(itemname));
  const rows = await sql<{ itemid: number; itemname: string }[]>`
    SELECT itemid, itemname FROM items
    WHERE itemid = ANY (${itemids}::bigint[]) OR itemname = ANY (${itemnames}::text[])`;
  return new Set(rows.flatMap(({ itemid, itemname }) => [itemid, itemname]));
}

/** Adds to provisional items what their devices have told since they were made. */
async function fillIn(sql: SqlRunner, found: readonly Found[]): Promise<void> {
  const records = new Map<number, Item>();
  for (const { key, provisional, device } of found) {
    if (key === null || provisional === undefined) continue;
    const record = records.get(key) ?? provisional;
    const told = toldSince(record, device);
    if (told !== undefined) records.set(key, { ...record, ...told });
  }
  for (const [key, record] of records)
    await sql`UPDATE items SET record = ${JSON.stringify(record)} WHERE key = ${key}`;
}

/** The address in its normal form; empty where nobody knows it. */
function addressOf({ address }: BatchDevice): string {
  return normalAddress(address) ?? "";
}

/** The address as its item is looked up by; null where the device is known by its number in the inventory alone. */
function keptAddress(device: BatchDevice): string | null {
  const address = addressOf(device);
  return address === "" && device.itemid !== undefined ? null : lookupText(address);
}

/** Equal for two devices that are the same one. */
function nameOf(device: BatchDevice): string {
  return `${device.kind} ${keptAddress(device) ?? `number ${device.itemid}`}`;
}

/** Name of a device without an address where another item has its number. */
function unnumberedName(device: BatchDevice): string | null {
  const names = provisionalNames(0, device, "").at(0);
  return names === undefined ? null : lookupText(names.itemname);
}
