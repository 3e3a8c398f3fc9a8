import type { Item } from "../../records/items.ts";
import { normalAddress } from "../address.ts";
import type { Batch, BatchDevice } from "../batch.ts";
import { devicesFrom } from "../batch-acceptance.ts";
import { type ItemNames, provisionalItem, provisionalNames, toldSince } from "../provisional-item.ts";
import { itemColumns, itemValues } from "./item-row.ts";
import { lookupText } from "./lookup-text.ts";
import {
  arrays,
  change,
  firstOf,
  hold,
  objects,
  put,
  rowsOf,
  rowsOfAll,
  type Work,
  type WritableDatabase,
} from "./work.ts";

/** A device of a batch or a report, and when it was first heard in it, unix milliseconds. */
export interface HeardDevice {
  readonly device: BatchDevice;
  readonly heard_ms: number;
}

/** The devices of the readings that a batch has from a number on, in the order of `devicesFrom`. */
export function heardFrom(batch: Batch, from_seq: number): HeardDevice[] {
  return devicesFrom(batch, from_seq).map(({ place, first_ms }) => {
    const device = batch.devices[place];
    if (device === undefined) throw new Error(`a batch names device ${place} of ${batch.devices.length}`);
    return { device, heard_ms: first_ms };
  });
}

/** The item of a device. */
export interface KnownItem {
  readonly key: number;
  /** The record while it is provisional: only then is it ours to complete. */
  readonly provisional: Item | undefined;
}

/**
 * The keys of the items of devices that a home has sent something of, in their order; they hold until the transaction ends. Makes
 * and completes items, and notes that they are in the home.
 */
export function* itemsOf(heard: readonly HeardDevice[], home: number): Work<number[]> {
  yield* hold("inventory");
  const found = yield* find(heard, home);
  if (found.every(isSettled)) return found.map(({ key }) => key);
  const keys = (yield* completeItems(heard, home)).map(({ key }) => key);
  yield* put({
    put: "item_homes",
    columns: { item: "bigint", home: "bigint" },
    rows: [...new Set(keys)].map((key) => [key, home]),
    conflict: "ON CONFLICT DO NOTHING",
  });
  return keys;
}

/**
 * Does what `itemsOf` would do, in a short transaction of its own, just before the one that needs the keys: transactions that make items run
 * one after another, and none should wait for a whole batch.
 */
export async function prepareItems(
  database: WritableDatabase,
  heard: readonly HeardDevice[],
  home: number,
): Promise<void> {
  const found = await database.read(() => find(heard, home));
  if (!found.every(isSettled)) await database.write(() => itemsOf(heard, home));
}

/** The key of the item of a device; undefined where it has none. It holds until the transaction ends. */
export function* knownItem(device: BatchDevice): Work<number | undefined> {
  yield* hold("inventory");
  const [found] = yield* find([{ device, heard_ms: 0 }], null);
  return found?.key;
}

/**
 * The items of devices, in their order: a device is the item of its kind and address, else the one with its number in the inventory. Makes a
 * provisional one, in `home`, for a device that has none, and adds to provisional ones what their devices have told since.
 *
 * Keys are given without gaps, so a transaction that makes items holds the last key until it ends; no other makes or completes items meanwhile.
 */
export function* completeItems(
  heard: readonly HeardDevice[],
  home: number | undefined,
): Work<(KnownItem & { readonly isNew: boolean })[]> {
  const [last = 0] = (yield* firstOf(arrays<[number]>("SELECT last FROM item_keys FOR UPDATE"))) ?? [];
  const found = yield* find(heard, home ?? null);
  const told = yield* fillIn(found);
  const missing = found.filter(({ key }) => key === undefined);
  const made = yield* make(missing, { home, last });
  return found.map(({ key, provisional, device }) => {
    if (key !== undefined) return { key, provisional: told.get(key) ?? provisional, isNew: false };
    return { ...(made.get(nameOf(device)) as KnownItem), isNew: true };
  });
}

interface Found extends HeardDevice {
  readonly key: number | undefined;
  readonly provisional: Item | undefined;
  /** The home is among those that have sent something of the item. */
  readonly housed: boolean;
}

function isSettled(found: Found): found is Found & { readonly key: number } {
  const { key, housed, provisional, device } = found;
  if (key === undefined || !housed) return false;
  return provisional === undefined || toldSince(provisional, device) === undefined;
}

/** Looks for the items of devices in one statement. */
function* find(heard: readonly HeardDevice[], home: number | null): Work<Found[]> {
  if (heard.length === 0) return [];
  const given = heard.map(({ device }) => device);
  const rows = yield* rowsOf(
    objects<ItemRow>(
      `SELECT key, typename, itemid, itemname, address, CASE WHEN provisional THEN record END AS record,
         home IS NOT NULL AS housed
       FROM items LEFT JOIN item_homes ON item = key AND home = $1
       WHERE key IN (
         SELECT key FROM items WHERE typename = ANY ($2::text[]) AND address = ANY ($3::text[])
         UNION ALL SELECT key FROM items WHERE itemid = ANY ($4::bigint[])
         UNION ALL SELECT key FROM items WHERE itemname = ANY ($5::text[]) AND provisional AND address IS NULL)`,
      home,
      [...new Set(given.map(({ kind }) => kind))],
      given.map(keptAddress).filter((address) => address !== null),
      given.flatMap(({ itemid = [] }) => itemid),
      given.filter((device) => keptAddress(device) === null).map(unnumberedName),
    ),
  );
  const itemOf = finder(rows);
  return heard.map((mention) => {
    const row = itemOf(mention.device);
    const record = row?.record ?? null;
    return {
      ...mention,
      key: row?.key,
      provisional: record === null ? undefined : JSON.parse(record),
      housed: Boolean(row?.housed),
    };
  });
}

/** Finds the row of a device among those that were read for several. */
function finder(rows: readonly ItemRow[]): (device: BatchDevice) => ItemRow | undefined {
  const unnumbered = rows.filter(({ address, record }) => address === null && record !== null);
  // A provisional item with an address has its number by chance.
  const numbered = rows.filter(({ address, record }) => address === null || record === null);
  const addressed = rows.filter(({ address }) => address !== null);
  const byAddress = new Map(addressed.map((row) => [`${row.typename} ${row.address}`, row]));
  const byNumber = new Map(numbered.map((row) => [`${row.typename} ${row.itemid}`, row]));
  const byName = new Map(unnumbered.map((row) => [`${row.typename} ${row.itemname}`, row]));
  return (device) => {
    const { kind, itemid } = device;
    const address = keptAddress(device);
    const number = byNumber.get(`${kind} ${itemid}`);
    if (address === null) return number ?? byName.get(`${kind} ${unnumberedName(device)}`);
    return byAddress.get(`${kind} ${address}`) ?? number;
  };
}

interface ItemRow {
  readonly key: number;
  readonly typename: string;
  readonly itemid: number;
  readonly itemname: string;
  readonly address: string | null;
  /** Null of an item of the inventory. */
  readonly record: string | null;
  /** On SQLite 0 or 1. */
  readonly housed: boolean | number;
}

/** Makes a provisional item for each device that has none; answers them by `nameOf` the devices. */
function* make(
  missing: readonly Found[],
  { home, last }: { home: number | undefined; last: number },
): Work<Map<string, KnownItem>> {
  const mentions = Map.groupBy(missing, ({ device }) => nameOf(device));
  const wanted = [...mentions].map(([name, of], index) => {
    const key = last + index + 1;
    const { device, heard_ms } = of[0] as Found;
    return { name, key, device, heard_ms, of, candidates: provisionalNames(key, device, addressOf(device)) };
  });
  const made = new Map<string, KnownItem>();
  if (wanted.length === 0) return made;
  const taken = yield* takenNames(wanted.flatMap(({ candidates }) => candidates));
  const inserts = wanted.map(({ name, key, device, heard_ms, of, candidates }) => {
    const isFree = ({ itemid, itemname }: ItemNames) =>
      !taken.has(itemid) && !taken.has(lookupText(itemname));
    const names = candidates.find(isFree) ?? (candidates.at(-1) as ItemNames);
    taken.add(names.itemid).add(lookupText(names.itemname));
    const record = provisionalItem({ names, device, home, heard_ms });
    for (const mention of of) Object.assign(record, toldSince(record, mention.device));
    made.set(name, { key, provisional: record });
    return objects(insertProvisional, key, ...itemValues(record, keptAddress(device)));
  });
  yield* rowsOfAll(...inserts);
  yield* change("UPDATE item_keys SET last = $1", last + wanted.length);
  return made;
}

const insertProvisional = `INSERT INTO items (key, provisional, ${Object.keys(itemColumns).join(", ")})
  VALUES ($1, true, ${Object.keys(itemColumns)
    .map((_, place) => `$${place + 2}`)
    .join(", ")})`;

/** Which of these itemids and names, as they are looked up by, items have already. */
function* takenNames(names: readonly ItemNames[]): Work<Set<number | string>> {
  const rows = yield* rowsOf(
    arrays<[number, string]>(
      `SELECT itemid, itemname FROM items WHERE itemid = ANY ($1::bigint[])
       UNION ALL SELECT itemid, itemname FROM items WHERE itemname = ANY ($2::text[])`,
      names.map(({ itemid }) => itemid),
      names.map(({ itemname }) => lookupText(itemname)),
    ),
  );
  return new Set(rows.flat());
}

/** Adds to provisional items what their devices have told since they were made; answers the records that have changed. */
function* fillIn(found: readonly Found[]): Work<Map<number, Item>> {
  const records = new Map<number, Item>();
  for (const { key, provisional, device } of found) {
    if (key === undefined || provisional === undefined) continue;
    const record = records.get(key) ?? provisional;
    const told = toldSince(record, device);
    if (told !== undefined) records.set(key, { ...record, ...told });
  }
  const texts = [...records].map(([key, record]) =>
    objects("UPDATE items SET record = $1 WHERE key = $2", JSON.stringify(record), key),
  );
  if (texts.length > 0) yield* rowsOfAll(...texts);
  return records;
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
function unnumberedName(device: BatchDevice): string {
  return lookupText(provisionalNames(0, device, "")[0]?.itemname ?? "");
}
