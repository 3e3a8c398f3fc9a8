import { OperatorError } from "../../base/errors.ts";
import type { Kind } from "../../domain/kinds.ts";
import { type Item, itemStatus } from "../../domain/records/item.ts";
import { arrays, change, firstOf, objects, reach, rowsOf, type Work, withoutNulls } from "../database.ts";
import type { SpanOfDevice } from "../erasure.ts";
import {
  type GivenName,
  given_names_max,
  givenNamesBytes,
  givenNamesFile,
  givenNamesIn,
  type NamedItem,
  type NameGiving,
  NameTaken,
  namesWithoutErased,
  type Replacing,
} from "./given-names.ts";
import type { Homes } from "./homes.ts";
import { lookupText, normalAddress, provisionalNames } from "./item-names.ts";

/** See `Store.givenNames`. Central has them as a file that the gateway has sent. */
export function* givenNames(homes: Homes, home?: number): Work<readonly GivenName[]> {
  if (homes.one) return yield* namesHere();
  if (home === undefined) return [];
  yield* reach([home]);
  return givenNamesIn((yield* fileOf(home)) ?? undefined);
}

/** Names of several homes, by home; at a gateway those of its own, under 0. Of central also those alone in which something was replaced. */
export function* namesOfHomes(
  homes: Homes,
  of: readonly number[],
  which: "all" | "replaced",
): Work<ReadonlyMap<number, readonly GivenName[]>> {
  if (homes.one) return new Map([[0, yield* namesHere()]]);
  const rows = yield* rowsOf(
    arrays<[number, Uint8Array]>(
      `SELECT home, content FROM backups WHERE name = $1 AND home = ANY ($2::bigint[])${which === "all" ? "" : " AND replacing = 1"}`,
      givenNamesFile,
      of,
    ),
  );
  return new Map(rows.map(([home, content]) => [home, givenNamesIn(new Uint8Array(content))]));
}

/** See `NameStore.nameItem`. */
export function* nameItem({
  address: device,
  room,
  metres,
  due,
  given_ms,
  lines,
  ...told
}: NameGiving): Work<NamedItem> {
  const item = yield* itemWith(device);
  const names = yield* namesHere();
  const { kind, address } = item;
  const before = names.find((one) => one.kind === kind && one.address === address);
  const name = told.name ?? before?.name ?? item.record.itemname;
  const given = {
    ...before,
    ...{ kind, address, name, given_ms },
    ...(room !== undefined && { room }),
    ...(metres !== undefined && { metres }),
    ...(due !== undefined && { due }),
  };
  if (given.metres !== undefined && given.room === undefined)
    throw new OperatorError("a line of curtain sensors needs a room", "name it with --room");
  if (due !== undefined && kind !== "pillboxes")
    throw new OperatorError(`${name} is no pill box, and has no hour`, "leave --due out");
  if (before === undefined && names.length >= given_names_max)
    throw new OperatorError(
      `${given_names_max} devices were given names already`,
      "have the programme's inventory name the others",
    );
  requireNoLine(item, name, lines);
  yield* requireFree(item.key, name);
  yield* keep(given);
  return { ...given, itemname: yield* rename(item, name, itemStatus.received) };
}

/** See `NameStore.replaceItem`. A name of the inventory's stays with the item that has it there, and is proposed for the other. */
export function* replaceItem({ old, new: put, given_ms, lines }: Replacing): Work<NamedItem> {
  const [broken, item] = [yield* itemWith(old), yield* itemWith(put)];
  if (broken.key === item.key)
    throw new OperatorError(
      `${old} and ${put} are one device`,
      "name the broken one, then the one put there for it",
    );
  if (broken.kind !== item.kind || !isOneSubtype(broken.record, item.record))
    throw new OperatorError(
      `${old} (${whatOf(broken.record)}) and ${put} (${whatOf(item.record)}) are different things`,
      "replace a device by one of its kind, or name the new one with lintel items name",
    );
  const names = yield* namesHere();
  const place = names.find((one) => one.kind === broken.kind && one.address === broken.address);
  const name = place?.name ?? (broken.provisional ? undefined : broken.record.itemname);
  if (name === undefined)
    throw new OperatorError(
      `nobody has given ${old} a name or a place that ${put} could take over`,
      "name the new one with lintel items name",
    );
  requireNoLine(item, name, lines);
  const { address, kind } = item;
  yield* forget(broken);
  yield* rename(broken, yield* firstName(broken), itemStatus.decommissioned);
  const given = { ...place, kind, address, name, replaces: broken.address, given_ms };
  yield* keep(given);
  const itemname = (yield* isFree(item.key, name)) ? name : item.record.itemname;
  return { ...given, itemname: yield* rename(item, itemname, itemStatus.received) };
}

/** Calls the new item of a device by the name that was given to it, where one was: after a restore. Answers its record then. */
export function* callAsGiven(kind: Kind, address: string): Work<Item | undefined> {
  const given = (yield* namesHere()).find((one) => one.kind === kind && one.address === address);
  if (given === undefined) return undefined;
  const item = yield* itemWith(address);
  if (!item.provisional || !(yield* isFree(item.key, given.name))) return undefined;
  yield* rename(item, given.name, itemStatus.received);
  return (yield* itemWith(address)).record;
}

/** Takes over names that this gateway had once, but for what was erased since. */
export function* takeNames(names: readonly GivenName[], erased: readonly SpanOfDevice[]): Work<void> {
  for (const given of namesWithoutErased(names, erased)) {
    yield* keep(given);
    if ((yield* foundBy(given.address)) !== undefined) yield* callAsGiven(given.kind, given.address);
  }
}

/** Removes the names of a home that were given in erased times. */
export function* forgetNames(homes: Homes, home: number, erased: readonly SpanOfDevice[]): Work<void> {
  if (homes.one) {
    const names = yield* namesHere();
    const kept = new Set(namesWithoutErased(names, erased));
    for (const { kind, address } of names.filter((one) => !kept.has(one))) {
      const item = yield* foundBy(address);
      yield* forget({ kind, address });
      if (item !== undefined) yield* rename(item, yield* firstName(item), {});
    }
    return;
  }
  const content = yield* fileOf(home);
  if (content !== null) yield* keepNamesFile(home, namesWithoutErased(givenNamesIn(content), erased));
}

/** Keeps the names of a home at central, in the place of those before. */
export function* keepNamesFile(home: number, names: readonly GivenName[]): Work<void> {
  yield* change(
    `INSERT INTO backups (home, name, content, replacing) VALUES ($1, $2, $3, $4)
     ON CONFLICT (home, name) DO UPDATE SET content = excluded.content, replacing = excluded.replacing`,
    home,
    givenNamesFile,
    givenNamesBytes(names),
    names.some(({ replaces }) => replaces !== undefined) ? 1 : 0,
  );
}

function* fileOf(home: number): Work<Uint8Array | null> {
  const row = yield* firstOf(
    arrays<[Uint8Array]>("SELECT content FROM backups WHERE home = $1 AND name = $2", home, givenNamesFile),
  );
  return row === undefined ? null : new Uint8Array(row[0]);
}

function* namesHere(): Work<GivenName[]> {
  const rows = yield* rowsOf(
    objects<Record<string, unknown>>(
      `SELECT typename AS kind, address, name, room, metres, due, replaces, given_ms FROM given_names
       ORDER BY typename, address`,
    ),
  );
  return rows.map((row) => withoutNulls(row) as GivenName);
}

function* keep({ kind, address, name, room, metres, due, replaces, given_ms }: GivenName): Work<void> {
  yield* change(
    `INSERT INTO given_names (typename, address, name, room, metres, due, replaces, given_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (typename, address) DO UPDATE SET name = excluded.name, room = excluded.room,
       metres = excluded.metres, due = excluded.due, replaces = excluded.replaces, given_ms = excluded.given_ms`,
    ...[kind, address, name, room ?? null, metres ?? null, due ?? null, replaces ?? null, given_ms],
  );
}

function* forget({ kind, address }: Pick<GivenName, "kind" | "address">): Work<void> {
  yield* change("DELETE FROM given_names WHERE typename = $1 AND address = $2", kind, address);
}

interface NameableItem {
  readonly key: number;
  readonly provisional: boolean;
  readonly record: Item;
  readonly kind: Kind;
  readonly address: string;
}

/** The item of an address or a name. @throws OperatorError where there is none, or it has no address */
function* itemWith(written: string): Work<NameableItem> {
  const item = (yield* foundBy(normalAddress(written) ?? "")) ?? (yield* foundBy(written, "itemname"));
  if (item !== undefined && item.address !== "") return item;
  throw new OperatorError(
    item === undefined
      ? `no device of this home has the address or the name ${written}`
      : `${written} has no address, by which a device is known when its name changes`,
    "see lintel items; one that has only just been let in is an item as soon as it speaks",
  );
}

function* foundBy(value: string, field: "address" | "itemname" = "address"): Work<NameableItem | undefined> {
  const row = yield* firstOf(
    objects<{ readonly key: number; readonly provisional: number; readonly record: string }>(
      `SELECT key, provisional, record FROM items WHERE ${field} = $1 ORDER BY provisional, key`,
      lookupText(value),
    ),
  );
  if (row === undefined) return undefined;
  const record = JSON.parse(row.record) as Item;
  const address = normalAddress(record.macaddress ?? "") ?? "";
  return { key: row.key, provisional: row.provisional !== 0, record, kind: record.typename as Kind, address };
}

/** Changes the record while it is provisional: the inventory's names are its own. Answers the name that the item has then. */
function* rename(
  { key, provisional, record }: NameableItem,
  itemname: string,
  status: Partial<Item>,
): Work<string> {
  if (!provisional) return record.itemname;
  yield* change(
    "UPDATE items SET itemname = $1, record = $2 WHERE key = $3",
    lookupText(itemname),
    JSON.stringify({ ...record, ...status, itemname }),
    key,
  );
  return itemname;
}

/** The name of a provisional item that nobody has named. */
function* firstName({ key, kind, address }: NameableItem): Work<string> {
  const names = provisionalNames(key, { kind, address }, address).map(({ itemname }) => itemname);
  for (const name of names) if (yield* isFree(key, name)) return name;
  return names.at(-1) as string;
}

function* isFree(key: number, name: string): Work<boolean> {
  return (yield* holderOf(key, name)) === undefined;
}

/** Another item of a name. */
function* holderOf(key: number, name: string): Work<{ readonly address: string | null } | undefined> {
  return yield* firstOf(
    objects("SELECT address FROM items WHERE itemname = $1 AND key <> $2", lookupText(name), key),
  );
}

function* requireFree(key: number, name: string): Work<void> {
  const other = yield* holderOf(key, name);
  if (other === undefined) return;
  throw new NameTaken(
    `another item is called ${JSON.stringify(name)} already${other.address === null ? "" : ` (${other.address})`}`,
    "give each its own name, such as Hall 1 and Hall 2",
  );
}

function requireNoLine(
  { provisional, record }: NameableItem,
  name: string,
  lines: NameGiving["lines"] = [],
): void {
  const { itemname } = record;
  const line = lines.find(({ sensors }) => sensors.some(({ item }) => item === itemname));
  if (line === undefined || !provisional || itemname === name) return;
  throw new OperatorError(
    `the line ${line.name} in [walking] of the configuration names ${itemname}, and would lose it`,
    "take the line out of the configuration, and give its sensors their distances with --metres or on the page /walk",
  );
}

function isOneSubtype(one: Item, other: Item): boolean {
  const told = [one.subtypename, other.subtypename].filter((subtype) => subtype !== "null");
  return new Set(told).size < 2;
}

function whatOf({ typename, subtypename }: Item): string {
  return subtypename === "null" ? typename : `${typename}, ${subtypename}`;
}
