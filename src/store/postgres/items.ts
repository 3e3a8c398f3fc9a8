import type { BatchDevice } from "../../batch.ts";
import type { Item } from "../../records/item.ts";
import { normalAddress } from "../address.ts";
import { type ItemNames, provisionalItem, provisionalNames, toldSince } from "../provisional-item.ts";
import type { Connections, SqlRunner } from "./connection.ts";
import { shareInventory } from "./inventory-lock.ts";
import { lookupText } from "./lookup-text.ts";

/** A device of a batch or a condition, and when it was first heard in it, unix milliseconds. */
export interface HeardDevice {
  readonly device: BatchDevice;
  readonly heard_ms: number;
}

/**
 * The writer's side of the inventory: finds the items of what a home sends, and makes provisional ones where there are none.
 * A device is the item of its kind and address, else the one with its itemid.
 */
export class ItemKeeper {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /**
   * Makes what is missing of the items of these devices, in a short transaction of its own: all that is made takes turns, and
   * nobody should wait for a whole batch. Call it just before the transaction that calls `keysOf`.
   */
  async prepare(heard: readonly HeardDevice[], home: number): Promise<void> {
    const found = await find(this.#connections.reads, heard, home);
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
  const kinds = heard.map(({ device }) => device.kind);
  const addresses = heard.map(({ device }) => lookupText(addressOf(device)));
  const itemids = heard.map(({ device }) => device.itemid ?? null);
  const rows = await sql<{ place: number; key: number | null; record: string | null; housed: boolean }[]>`
    SELECT place, key, CASE WHEN provisional THEN record END AS record, home IS NOT NULL AS housed
    FROM unnest(${kinds}::text[], ${addresses}::text[], ${itemids}::bigint[])
      WITH ORDINALITY AS given (kind, given_address, given_itemid, place)
    LEFT JOIN items ON key = coalesce(
      (SELECT key FROM items WHERE typename = kind AND address = given_address AND address <> ''),
      (SELECT key FROM items WHERE typename = kind AND itemid = given_itemid),
      (SELECT key FROM items WHERE typename = kind AND address = given_address))
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
 * Makes and completes items, and notes where they are; answers the keys. Keys are given without gaps, so whoever makes items holds
 * the last key until its transaction ends; nobody else makes or completes items meanwhile.
 */
async function complete(sql: SqlRunner, heard: readonly HeardDevice[], home: number): Promise<number[]> {
  const [counter] = await sql<{ last: number }[]>`SELECT last FROM item_keys FOR UPDATE`;
  const missing = (await find(sql, heard, home)).filter(({ key }) => key === null);
  if (missing.length > 0) await make(sql, { missing, home, last: counter?.last ?? 0 });
  const found = (await find(sql, heard, home)).filter((one) => one.key !== null) as Keyed[];
  await fillIn(sql, found);
  const keys = found.map(({ key }) => key);
  await sql`
    INSERT INTO item_homes (item, home) SELECT DISTINCT item, ${home}::bigint FROM unnest(${keys}::bigint[]) AS item
    ON CONFLICT DO NOTHING`;
  return keys;
}

/** Makes a provisional item for each device that has none. */
async function make(
  sql: SqlRunner,
  { missing, home, last }: { missing: readonly Found[]; home: number; last: number },
): Promise<void> {
  const unlike = new Map<string, Found>();
  for (const one of missing) {
    const name = `${one.device.kind} ${addressOf(one.device)}`;
    if (!unlike.has(name)) unlike.set(name, one);
  }
  const wanted = [...unlike.values()].map((one, index) => {
    const address = addressOf(one.device);
    const key = last + index + 1;
    return { ...one, key, address, candidates: provisionalNames(key, one.device, address) };
  });
  const taken = await takenNames(
    sql,
    wanted.flatMap(({ candidates }) => candidates),
  );
  for (const { key, address, candidates, device, heard_ms } of wanted) {
    const free = candidates.find(
      (names) => !taken.has(names.itemid) && !taken.has(lookupText(names.itemname)),
    );
    const names = free ?? (candidates.at(-1) as ItemNames);
    taken.add(names.itemid).add(lookupText(names.itemname));
    const record = provisionalItem({ names, device, home, heard_ms });
    await sql`
      INSERT INTO items (key, record, itemid, itemname, typename, address, provisional, currenthomeid)
      VALUES (${key}, ${JSON.stringify(record)}, ${names.itemid}, ${lookupText(names.itemname)}, ${device.kind},
        ${lookupText(address)}, true, ${home})`;
  }
  await sql`UPDATE item_keys SET last = ${last + wanted.length}`;
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
async function fillIn(sql: SqlRunner, found: readonly Keyed[]): Promise<void> {
  const records = new Map<number, Item>();
  for (const { key, provisional, device } of found) {
    const record = records.get(key) ?? provisional;
    const told = record === undefined ? undefined : toldSince(record, device);
    if (record !== undefined && told !== undefined) records.set(key, { ...record, ...told });
  }
  for (const [key, record] of records)
    await sql`UPDATE items SET record = ${JSON.stringify(record)} WHERE key = ${key}`;
}

/** The address as items have it; empty where nobody knows it. */
function addressOf({ address }: BatchDevice): string {
  return normalAddress(address) ?? "";
}
