import {
  definitionOf,
  fieldsOf,
  inOrder,
  ownerField,
  type RecordType,
  type Reference,
  type StoredRecord,
} from "../../records/record-table.ts";
import type { LoneType, OwnedType, RecordOf } from "../record-store.ts";
import { lookupText } from "./lookup-text.ts";
import { arrays, firstOf, type Parameter, rowsOf, type Work } from "./work.ts";

/** See `RecordStore.records`. */
export function* recordsOfType<Type extends LoneType>(type: Type): Work<RecordOf<Type>[]> {
  return (yield* parsed(
    "SELECT record FROM records WHERE type = $1 ORDER BY number",
    type,
  )) as RecordOf<Type>[];
}

/** See `RecordStore.record`. */
export function* recordNumbered<Type extends LoneType>(
  type: Type,
  number: number,
): Work<RecordOf<Type> | undefined> {
  const [record] = yield* parsed("SELECT record FROM records WHERE type = $1 AND number = $2", type, number);
  return record as RecordOf<Type> | undefined;
}

/** See `RecordStore.recordsOf`. To be read in one snapshot. */
export function* recordsOfOwner<Type extends OwnedType>(type: Type, owner: number): Work<RecordOf<Type>[]> {
  const kept = yield* parsed(type === "alerts" ? alertsOfSubject : ofOwner, type, owner);
  return (yield* withEmbedded(type, inOrder(type, kept))) as RecordOf<Type>[];
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
function* withEmbedded(type: RecordType, records: readonly StoredRecord[]): Work<readonly StoredRecord[]> {
  const { embeds } = definitionOf(type);
  if (embeds === undefined) return records;
  const itemids = records.map((record) => Number(record[embeds]));
  const rows = yield* rowsOf(
    arrays<[number, string]>("SELECT itemid, record FROM items WHERE itemid = ANY ($1::bigint[])", itemids),
  );
  const items = new Map(rows.map(([itemid, text]) => [itemid, JSON.parse(text) as StoredRecord]));
  return records.map((record) => {
    const item = items.get(Number(record[embeds]));
    // No item is ever removed, and none can be imported that isn't there.
    if (item === undefined) throw new Error(`${type} names the item ${record[embeds]}, which is gone`);
    return { ...record, [embeds]: item };
  });
}

function* parsed(text: string, ...parameters: Parameter[]): Work<StoredRecord[]> {
  const rows = yield* rowsOf(arrays<[string]>(text, ...parameters));
  return rows.map(([record]) => JSON.parse(record));
}

/** The column, or the expression, by which the records of a type that hold a number in a field are found soonest. */
function columnOf(type: RecordType, field: string): string {
  const { owner, identity } = definitionOf(type);
  const found = owner === undefined ? identity[0] : ownerField[owner];
  if (type === "items" && (field === "itemid" || field === "currenthomeid")) return field;
  return field === found ? "number" : numberIn(field);
}

/**
 * The number in a field of a record, as SQL; null where it holds none. Found as text, because PostgreSQL's own functions refuse a
 * whole record for one NUL in it. Within a string the quotes around the name would be escaped.
 */
export function numberIn(field: string): string {
  return `substring(record FROM '"${field}":(-?\\d+)[,}]')::bigint`;
}

const ofOwner = "SELECT record FROM records WHERE type = $1 AND number = $2";
/** With those that central makes of the health of homes, each once. */
const alertsOfSubject = `${ofOwner}
  UNION ALL SELECT min(record COLLATE "C") FROM home_alerts
    WHERE subjectid = $2 AND id NOT IN (SELECT id FROM records WHERE type = $1 AND number = $2) GROUP BY id`;
