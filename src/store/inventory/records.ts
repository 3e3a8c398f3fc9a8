import { type Kind, kindNames, kinds } from "../../domain/kinds.ts";
import type { Item, ItemType } from "../../domain/records/item.ts";
import type { Alert } from "../../domain/records/programme-records.ts";
import {
  definitionOf,
  fieldsOf,
  identityOf,
  inOrder,
  ownerField,
  type RecordType,
  type Reference,
  type StoredRecord,
} from "../../domain/records/record-table.ts";
import {
  itemVisibleFrom,
  namesIn,
  nowhere,
  type Visible,
  visibleTo,
} from "../../domain/records/visible-records.ts";
import type { Binding } from "../../domain/token.ts";
import { arrays, change, firstOf, objects, type Parameter, put, rowsOf, type Work } from "../database.ts";
import type { ItemWindow, StoredItem } from "../store.ts";
import { type Homes, ownHome } from "./homes.ts";
import { lookupText } from "./item-names.ts";
import type { LoneType, OwnedType, RecordOf } from "./record-store.ts";

/** See `RecordStore.records`. */
export function* recordsOfType<Type extends LoneType>(
  homes: Homes,
  type: Type,
  seen?: Visible,
): Work<RecordOf<Type>[]> {
  const only = onlyVisible(homes, type, seen, 2);
  const text = `SELECT record FROM records WHERE type = $1${only.text} ORDER BY number`;
  return (yield* parsed(text, type, ...only.parameters)) as RecordOf<Type>[];
}

/** See `RecordStore.record`. */
export function* recordNumbered<Type extends LoneType>(
  homes: Homes,
  type: Type,
  number: number,
  seen?: Visible,
): Work<RecordOf<Type> | undefined> {
  const only = onlyVisible(homes, type, seen, 3);
  const [record] = yield* parsed(`${ofOwner}${only.text}`, type, number, ...only.parameters);
  return record as RecordOf<Type> | undefined;
}

/** See `RecordStore.recordsOf`. To be read in one snapshot. */
export function* recordsOfOwner<Type extends OwnedType>(
  homes: Homes,
  type: Type,
  owner: number,
  seen?: Visible,
): Work<RecordOf<Type>[]> {
  const only = onlyVisible(homes, type, seen, 3);
  const kept = yield* parsed(`${ofOwner}${only.text}`, type, owner, ...only.parameters);
  if (type === "alerts") kept.push(...(yield* alertsOfHomes(type, owner, seen)));
  return (yield* withEmbedded(type, inOrder(type, kept), seen)) as RecordOf<Type>[];
}

/** The alerts that central makes of the health of homes, each once, as far as no import has the same. */
function* alertsOfHomes(type: RecordType, subject: number, seen?: Visible): Work<StoredRecord[]> {
  const homes = seen === undefined ? [] : [seen.homes];
  return yield* parsed(
    `SELECT min(record COLLATE "C") FROM home_alerts
     WHERE subjectid = $2${seen === undefined ? "" : " AND home = ANY ($3::bigint[])"}
       AND id NOT IN (SELECT id FROM records WHERE type = $1 AND number = $2) GROUP BY id`,
    type,
    subject,
    ...homes,
  );
}

/** See `RecordStore.seen`. To be read in one snapshot. */
export function* visibleWith({ one }: Homes, binding: Binding): Work<Visible> {
  const own = one ? yield* ownHome() : undefined;
  return yield* visibleTo(
    binding,
    function* (type, field, numbers) {
      return numbers.length === 0 ? [] : yield* recordsWith(type, field, numbers);
    },
    (home) => !one || home === own,
  );
}

/** See `RecordStore.recordsWith`. */
export function* recordsWith(
  type: RecordType,
  field: string,
  numbers: readonly number[],
): Work<StoredRecord[]> {
  if (!fieldsOf(type).includes(field)) throw new RangeError(`${type} have no field ${field}`);
  // The type stands in the text, because the indexes of fields are those of one type.
  const kept = type === "items" ? "items WHERE NOT provisional" : `records WHERE type = '${type}'`;
  const text = `SELECT record FROM ${kept} AND ${columnOf(type, field)} = ANY ($1::bigint[])`;
  return inOrder(type, yield* parsed(text, numbers));
}

/** See `RecordStore.knownRecords`. */
export function* knownRecords(type: Reference["to"], numbers: readonly number[]): Work<Set<number>> {
  const rows = yield* rowsOf(
    type === "items"
      ? arrays<[number]>("SELECT itemid FROM items WHERE itemid = ANY ($1::bigint[])", numbers)
      : arrays<[number]>(
          "SELECT number FROM records WHERE type = $1 AND number = ANY ($2::bigint[])",
          type,
          numbers,
        ),
  );
  return new Set(rows.flat());
}

/** See `RecordStore.keepsRecords`. */
export function* keepsRecords(type: Reference["to"]): Work<boolean> {
  const any = yield* firstOf(
    type === "items"
      ? arrays("SELECT 1 FROM items WHERE NOT provisional LIMIT 1")
      : arrays("SELECT 1 FROM records WHERE type = $1 LIMIT 1", type),
  );
  return any !== undefined;
}

/** See `RecordStore.itemidsOf`. */
export function* itemidsOf(names: readonly string[]): Work<Map<string, number>> {
  const named = new Map(names.map((name) => [lookupText(name), name]));
  const rows = yield* rowsOf(
    arrays<[string, number]>("SELECT itemname, itemid FROM items WHERE itemname = ANY ($1::text[])", [
      ...named.keys(),
    ]),
  );
  return new Map(rows.map(([itemname, itemid]) => [named.get(itemname) ?? itemname, itemid]));
}

/** The records with the whole item in the place of its itemid, where their type has one. */
function* withEmbedded(
  type: RecordType,
  records: readonly StoredRecord[],
  seen?: Visible,
): Work<readonly StoredRecord[]> {
  const { embeds } = definitionOf(type);
  if (embeds === undefined) return records;
  const itemids = records.map((record) => Number(record[embeds]));
  const rows = yield* rowsOf(
    arrays<[number, string]>("SELECT itemid, record FROM items WHERE itemid = ANY ($1::bigint[])", itemids),
  );
  const items = new Map(
    rows.map(([itemid, text]) => [itemid, itemVisibleFrom(seen?.homes, JSON.parse(text))]),
  );
  return records.map((record) => {
    const item = items.get(Number(record[embeds]));
    // No item is ever removed, and none can be imported that isn't there.
    if (item === undefined) throw new Error(`${type} names the item ${record[embeds]}, which is gone`);
    return { ...record, [embeds]: item };
  });
}

function* parsed<Parsed = StoredRecord>(text: string, ...parameters: Parameter[]): Work<Parsed[]> {
  const rows = yield* rowsOf(arrays<[string]>(text, ...parameters));
  return rows.map(([record]) => JSON.parse(record));
}

const ofOwner = "SELECT record FROM records WHERE type = $1 AND number = $2";

/** The column, or the expression, by which the records of a type that hold a number in a field are found soonest. */
export function columnOf(type: RecordType, field: string, table = ""): string {
  const { owner, identity } = definitionOf(type);
  const found = owner === undefined ? identity[0] : ownerField[owner];
  if (type === "items" && (field === "itemid" || field === "currenthomeid")) return field;
  return field === found ? `${table}number` : numberIn(field, table);
}

/**
 * The number in a field of a record, as SQL; null where it holds none. Found as text, because PostgreSQL's own functions refuse a
 * whole record for one NUL in it. Within a string the quotes around the name would be escaped.
 */
export function numberIn(field: string, table = ""): string {
  return `substring(${table}record FROM '"${field}":(-?\\d+)[,}]')::bigint`;
}

/** A part of a condition, as SQL, and its parameters; empty where everything is seen. */
export interface Only {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

export const everything: Only = { text: "", parameters: [] };

/**
 * Leaves the records of a type that are seen; its parameters are numbered from `first` on. All that such a record names is seen, and it names something. Of
 * an item that has lived in other homes too, whoever is seen must be named beside it.
 */
export function onlyVisible(homes: Homes, type: RecordType, seen: Visible | undefined, first: number): Only {
  if (seen === undefined) return everything;
  const names = namesIn(type).map(({ field, to }) => ({ to, column: columnOf(type, field, "records.") }));
  if (seen.hidden !== undefined) return allBut(seen.hidden, names, first);
  const parameters: Parameter[] = [];
  const conditions = names.map(({ to, column }) => {
    // The store of one home has it as 0 in the stays of its items.
    parameters.push(to === "items" ? (homes.seen(seen.homes) ?? [0]) : seen[to]);
    const parameter = `$${first + parameters.length - 1}`;
    const others = names.filter((other) => other.column !== column);
    return to === "items"
      ? itemIsSeen(column, parameter, anyNamed(others))
      : `(${column} IS NULL OR ${column} = ANY (${parameter}::bigint[]))`;
  });
  return { text: ` AND ${conditions.join(" AND ")} AND (${anyNamed(names)})`, parameters };
}

/** Leaves the records that name nothing hidden; of an item that has lived in a hidden home too, whoever is seen must be named beside it. */
function allBut(
  hidden: NonNullable<Visible["hidden"]>,
  names: readonly { readonly to: Reference["to"]; readonly column: string }[],
  first: number,
): Only {
  const parameters: Parameter[] = [];
  const conditions = names.map(({ to, column }) => {
    if (to === "projects" || to === "studies") return "TRUE";
    parameters.push(to === "subjects" ? hidden.subjects : hidden.homes);
    const given = `($${first + parameters.length - 1}::bigint[])`;
    if (to !== "items") return `(${column} IS NULL OR NOT ${column} = ANY ${given})`;
    const away = livedWhere(column, `stays.home = ANY ${given}`);
    const shown = livedWhere(column, `NOT stays.home = ANY ${given}`);
    const others = names.filter((other) => other.column !== column);
    return `(${column} IS NULL OR NOT ${away} OR ${shown} AND (${anyNamed(others)}))`;
  });
  return { text: ` AND ${conditions.join(" AND ")}`, parameters };
}

/** See `onlySeen`. An item that has lived nowhere is seen with whom is named beside it. */
function itemIsSeen(column: string, homes: string, othersNamed: string): string {
  const here = livedWhere(column, `stays.home = ANY (${homes}::bigint[])`);
  const elsewhere = livedWhere(column, `NOT stays.home = ANY (${homes}::bigint[])`);
  return `(${column} IS NULL OR (${here} OR ${othersNamed}) AND (NOT ${elsewhere} OR ${here} AND (${othersNamed})))`;
}

function livedWhere(column: string, where: string): string {
  return `EXISTS (SELECT 1 FROM items JOIN stays ON stays.item = items.key WHERE items.itemid = ${column} AND ${where})`;
}

function anyNamed(names: readonly { readonly column: string }[]): string {
  return names.map(({ column }) => `${column} IS NOT NULL`).join(" OR ") || "FALSE";
}

/** See `CentralStore.replaceAlerts`. */
export function* replaceAlerts(home: number, alerts: readonly Alert[]): Work<void> {
  const unlike = new Map(alerts.map((alert) => [`${alert.subjectid} ${identityOf("alerts", alert)}`, alert]));
  yield* change("DELETE FROM home_alerts WHERE home = $1", home);
  yield* put({
    put: "home_alerts",
    columns: { home: "bigint", subjectid: "bigint", id: "text", record: "text" },
    rows: [...unlike.values()].map((alert) => [
      home,
      alert.subjectid,
      lookupText(identityOf("alerts", alert)),
      JSON.stringify(alert),
    ]),
    conflict: "ON CONFLICT (home, subjectid, id) DO UPDATE SET record = excluded.record",
  });
}

/** See `Store.itemTypes`. */
export function* itemTypes(homes?: readonly number[]): Work<ItemType[]> {
  const counts = new Map(
    yield* rowsOf(
      arrays<[string, number]>(
        `SELECT typename, count(*) FROM items WHERE true${stayedIn(homes, "$1")} GROUP BY typename`,
        ...given(homes),
      ),
    ),
  );
  const types = kindNames.map((typename) => ({
    typeid: kinds[typename].typeid,
    typename,
    count: counts.get(typename) ?? 0,
  }));
  return types.sort((one, other) => one.typeid - other.typeid);
}

/** See `Store.items`. */
export function* itemsOfKind(kind: Kind, window: ItemWindow): Work<Item[]> {
  const rows = yield* itemRowsOfKind(kind, window);
  return rows.map(({ record }) => JSON.parse(record));
}

/** The same with their keys. What is passed over is passed over in the index: whole records would be read for it. */
export function itemRowsOfKind(
  kind: Kind,
  { skip, limit, homes }: ItemWindow,
): Work<{ readonly key: number; readonly record: string }[]> {
  const ofKind = `FROM items WHERE typename = $1${stayedIn(homes, "$4")}`;
  const first = `(SELECT itemid ${ofKind} ORDER BY itemid LIMIT 1 OFFSET $3)`;
  return rowsOf(
    objects(
      `SELECT key, record ${ofKind} AND itemid >= ${first} ORDER BY itemid LIMIT $2`,
      ...[kind, limit, skip],
      ...given(homes),
    ),
  );
}

/** A condition on items: the inventory has them live in one of some homes, now or before; or in none, where `nowhere` is among these. */
export function stayedIn(homes: readonly number[] | undefined, parameter: string): string {
  if (homes === undefined) return "";
  const lone = homes.includes(nowhere) ? " OR NOT EXISTS (SELECT 1 FROM stays WHERE item = key)" : "";
  return ` AND (key IN (SELECT item FROM stays WHERE home = ANY (${parameter}::bigint[]))${lone})`;
}

function given(homes: readonly number[] | undefined): (readonly number[])[] {
  return homes === undefined ? [] : [homes];
}

/** See `Store.itemsIn`. */
export function itemsIn(homeid: number): Work<Item[]> {
  return parsed<Item>("SELECT record FROM items WHERE currenthomeid = $1 ORDER BY itemid", homeid);
}

/** See `Store.itemsLike`. */
export function itemsLike(text: string, { limit, homes }: Omit<ItemWindow, "skip">): Work<Item[]> {
  const part = (of: string) => `%${of.replace(/[!%_]/g, "!$&").replace(/\s+/g, "%")}%`;
  const digits = text.toLowerCase().replace(/^0x|[\s:.-]/g, "");
  return parsed<Item>(
    `SELECT record FROM items
     WHERE (lower(itemname) LIKE $1 ESCAPE '!' OR replace(address, ':', '') LIKE $2 ESCAPE '!')${stayedIn(homes, "$4")}
     ORDER BY length(itemname), itemid LIMIT $3`,
    ...[part(text.toLowerCase()), /^[0-9a-f]{4,}$/.test(digits) ? part(digits) : null, limit],
    ...given(homes),
  );
}

/** See `Store.item`. */
export function* itemNamed(
  kind: Kind,
  name: string,
  homes?: readonly number[],
): Work<StoredItem | undefined> {
  const itemWith = (field: string, value: string | number) =>
    firstOf(
      objects<{ readonly key: number; readonly record: string }>(
        `SELECT key, record FROM items WHERE ${field} = $1${stayedIn(homes, "$2")}`,
        value,
        ...given(homes),
      ),
    );
  const named = yield* itemWith("itemname", lookupText(name));
  const row = named ?? (isNumber.test(name) ? yield* itemWith("itemid", Number(name)) : undefined);
  if (row === undefined) return undefined;
  const record = JSON.parse(row.record) as Item;
  return record.typename === kind ? { key: row.key, record } : undefined;
}

const isNumber = /^\d{1,15}$/;
