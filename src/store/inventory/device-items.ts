import type { Item } from "../../domain/records/item.ts";
import type { Batch, BatchDevice } from "../batch.ts";
import { devicesFrom } from "../central/batch-acceptance.ts";
import { requireRoom } from "../central/sources.ts";
import {
  arrays,
  change,
  hold,
  objects,
  put,
  rowsOf,
  rowsOfAll,
  type Work,
  type WritableDatabase,
} from "../database.ts";
import {
  type ItemNames,
  itemColumns,
  itemValues,
  lookupText,
  normalAddress,
  numberAddress,
  provisionalItem,
  provisionalNames,
  toldSince,
} from "./item-names.ts";
import { always, putPlacements, settleUnplaced } from "./placements.ts";

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

/** The item of a device, and the stream of what a home hears of it. */
export interface ItemAndStream {
  readonly item: number;
  readonly stream: number;
  /** The record while it is provisional: only then is it ours to complete. */
  readonly provisional: Item | undefined;
}

/** The streams of devices that a home has sent something of, in their order; they hold until the transaction ends. Makes and completes items. */
export function* streamsOf(heard: readonly HeardDevice[], home: number): Work<number[]> {
  yield* hold("inventory");
  const found = yield* find(heard, home);
  if (found.every(isSettled)) return found.map(({ stream }) => stream);
  yield* requireRoom("devices", home, found.filter(({ stream }) => stream === undefined).length);
  return (yield* completeItems(heard, { home, homeid: home })).map(({ stream }) => stream);
}

/**
 * Does what `streamsOf` would do, in a short transaction of its own, just before the one that needs the keys: transactions that make items run
 * one after another, and none should wait for a whole batch.
 */
export async function prepareItems(
  database: WritableDatabase,
  heard: readonly HeardDevice[],
  home: number,
): Promise<void> {
  const found = await database.read(() => find(heard, home));
  if (!found.every(isSettled)) await database.write(() => streamsOf(heard, home));
}

/** The stream of a device of a home; undefined where nothing was heard of it. It holds until the transaction ends. */
export function* knownStream(device: BatchDevice, home: number): Work<number | undefined> {
  yield* hold("inventory");
  const [found] = yield* find([{ device, heard_ms: 0 }], home);
  return found?.stream;
}

/** The home that devices are heard in: `home` as streams have it, and its number in the programme, where it has one. */
interface HearingHome {
  readonly home: number;
  readonly homeid: number | undefined;
}

/**
 * The items of devices that a home has heard, in their order: a device is the item of its kind and address, else the one with its number in the
 * inventory. Makes a provisional item of the home for a device that has none, and adds to provisional ones what their devices have told since. What a
 * home says of a device gives it nothing: its stream is its own, and the inventory alone says whether that is the item's.
 *
 * Keys are given without gaps, so a transaction that makes items holds the last ones until it ends; no other makes or completes items meanwhile.
 */
export function* completeItems(
  heard: readonly HeardDevice[],
  home: HearingHome,
): Work<(ItemAndStream & { readonly isNew: boolean })[]> {
  const last = new Map(
    yield* rowsOf(arrays<[string, number]>("SELECT name, last FROM last_keys ORDER BY name FOR UPDATE")),
  );
  const found = yield* find(heard, home.home);
  const told = yield* fillIn(found);
  const missing = found.filter(({ item }) => item === undefined);
  const made = yield* makeItems(missing, { ...home, last: last.get("items") ?? 0 });
  const known = found.map((one) => ({
    ...one,
    item: one.item ?? (made.get(nameOf(one.device)) as Made).item,
  }));
  const streams = yield* makeStreams(known, { ...home, last: last.get("streams") ?? 0 });
  return known.map(({ item, stream, provisional, device }, place) => ({
    item,
    stream: stream ?? (streams.get(item) as number),
    provisional: told.get(item) ?? provisional ?? made.get(nameOf(device))?.record,
    isNew: found[place]?.item === undefined,
  }));
}

interface Found extends HeardDevice {
  readonly item: number | undefined;
  readonly stream: number | undefined;
  readonly provisional: Item | undefined;
}

function isSettled(found: Found): found is Found & { readonly stream: number } {
  const { stream, provisional, device } = found;
  if (stream === undefined) return false;
  return provisional === undefined || toldSince(provisional, device) === undefined;
}

/** Looks for the items of devices in one statement. */
function* find(heard: readonly HeardDevice[], home: number): Work<Found[]> {
  if (heard.length === 0) return [];
  const given = heard.map(({ device }) => device);
  const rows = yield* rowsOf(
    objects<HeardItemRow>(
      `SELECT items.key AS item, typename, items.itemid, items.address, streams.key AS stream,
         CASE WHEN provisional THEN record END AS record
       FROM items LEFT JOIN streams ON item = items.key AND streams.home = $1
       WHERE items.key IN (
         SELECT key FROM items
         WHERE typename = ANY ($2::text[]) AND address = ANY ($3::text[]) AND coalesce(home, -1) IN (-1, $1)
         UNION ALL SELECT key FROM items WHERE itemid = ANY ($4::bigint[]) AND NOT provisional)`,
      home,
      [...new Set(given.map(({ kind }) => kind))],
      given.map(keptAddress),
      given.flatMap(({ itemid = [] }) => itemid),
    ),
  );
  const itemOf = finder(rows);
  return heard.map((mention) => {
    const { item, stream, record } = itemOf(mention.device) ?? {};
    return {
      ...mention,
      item,
      stream: stream ?? undefined,
      provisional: typeof record === "string" ? JSON.parse(record) : undefined,
    };
  });
}

/** Finds the row of a device among those that were read for several: the inventory goes before what the home has made known. */
function finder(rows: readonly HeardItemRow[]): (device: BatchDevice) => HeardItemRow | undefined {
  const inventory = rows.filter(({ record }) => record === null);
  const provisional = rows.filter(({ record }) => record !== null);
  const byAddress = new Map(
    [...provisional, ...inventory].map((row) => [`${row.typename} ${row.address}`, row]),
  );
  const byNumber = new Map(inventory.map((row) => [`${row.typename} ${row.itemid}`, row]));
  return (device) =>
    (addressOf(device) === "" ? byNumber.get(`${device.kind} ${device.itemid}`) : undefined) ??
    byAddress.get(nameOf(device)) ??
    byNumber.get(`${device.kind} ${device.itemid}`);
}

interface HeardItemRow {
  readonly item: number;
  readonly stream: number | null;
  readonly typename: string;
  readonly itemid: number;
  readonly address: string | null;
  /** Null of an item of the inventory. */
  readonly record: string | null;
}

interface Made {
  readonly item: number;
  readonly record: Item;
}

/** Makes a provisional item for each device that has none, and has it live in the home; answers them by `nameOf` the devices. */
function* makeItems(
  missing: readonly Found[],
  { home, homeid, last }: HearingHome & { last: number },
): Work<Map<string, Made>> {
  const mentions = Map.groupBy(missing, ({ device }) => nameOf(device));
  const wanted = [...mentions].map(([name, of], index) => {
    const item = last + index + 1;
    const { device, heard_ms } = of[0] as Found;
    return {
      name,
      item,
      device,
      heard_ms,
      of,
      candidates: provisionalNames(item, device, addressOf(device)),
    };
  });
  const made = new Map<string, Made>();
  if (wanted.length === 0) return made;
  const taken = yield* takenNames(wanted.flatMap(({ candidates }) => candidates));
  const inserts = wanted.map(({ name, item, device, heard_ms, of, candidates }) => {
    const isFree = ({ itemid, itemname }: ItemNames) =>
      !taken.has(itemid) && !taken.has(lookupText(itemname));
    const names = candidates.find(isFree) ?? (candidates.at(-1) as ItemNames);
    taken.add(names.itemid).add(lookupText(names.itemname));
    const record = provisionalItem({ names, device, home: homeid, heard_ms });
    for (const mention of of) Object.assign(record, toldSince(record, mention.device));
    made.set(name, { item, record });
    return objects(insertProvisional, item, home, ...itemValues(record, keptAddress(device)));
  });
  yield* rowsOfAll(...inserts);
  yield* putPlacements([...made.values()].map(({ item }) => ({ item, home, ...always })));
  yield* change("UPDATE last_keys SET last = $1 WHERE name = 'items'", last + wanted.length);
  return made;
}

const insertProvisional = `INSERT INTO items (key, home, provisional, ${Object.keys(itemColumns).join(", ")})
  VALUES ($1, $2, true, ${Object.keys(itemColumns)
    .map((_, place) => `$${place + 3}`)
    .join(", ")})`;

/** Makes the streams of items that the home has not heard before; answers them by item. */
function* makeStreams(
  heard: readonly { item: number; stream: number | undefined; device: BatchDevice }[],
  { home, last }: HearingHome & { last: number },
): Work<Map<number, number>> {
  const unheard = new Map(heard.filter(({ stream }) => stream === undefined).map((one) => [one.item, one]));
  const rows = [...unheard.values()].map(({ item, device }, index) => {
    return [last + index + 1, item, home, lookupText(addressOf(device)), device.itemid ?? null];
  });
  yield* put({ put: "streams", columns: streamColumns, rows, conflict: "" });
  if (rows.length > 0) {
    yield* change("UPDATE last_keys SET last = $1 WHERE name = 'streams'", last + rows.length);
    yield* settleUnplaced([...unheard.keys()]);
  }
  return new Map(rows.map(([stream, item]) => [item as number, stream as number]));
}

const streamColumns = {
  key: "bigint",
  item: "bigint",
  home: "bigint",
  address: "text",
  itemid: "bigint",
} as const;

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
  for (const { item, provisional, device } of found) {
    if (item === undefined || provisional === undefined) continue;
    const record = records.get(item) ?? provisional;
    const told = toldSince(record, device);
    if (told !== undefined) records.set(item, { ...record, ...told });
  }
  const texts = [...records].map(([item, record]) =>
    objects("UPDATE items SET record = $1 WHERE key = $2", JSON.stringify(record), item),
  );
  if (texts.length > 0) yield* rowsOfAll(...texts);
  return records;
}

/** The address in its normal form; empty where nobody knows it. */
function addressOf({ address }: BatchDevice): string {
  return normalAddress(address) ?? "";
}

/** The address that the provisional item of a device is found by: of one that is known by its number in the inventory alone, that. */
function keptAddress(device: BatchDevice): string {
  const address = addressOf(device);
  return address === "" && device.itemid !== undefined ? numberAddress(device.itemid) : lookupText(address);
}

/** Equal for two devices of a home that are the same one. */
function nameOf(device: BatchDevice): string {
  return `${device.kind} ${keptAddress(device)}`;
}
