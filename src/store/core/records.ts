import {
  definitionOf,
  fieldsOf,
  inOrder,
  type RecordType,
  type Reference,
  type StoredRecord,
} from "../../records/record-table.ts";
import { itemVisibleFrom, type Visible, visibleTo } from "../../records/seen.ts";
import type { Binding } from "../../token.ts";
import type { LoneType, OwnedType, RecordOf } from "../record-store.ts";
import { type Homes, ownHome } from "./homes.ts";
import { lookupText } from "./lookup-text.ts";
import { columnOf } from "./record-columns.ts";
import { onlyVisible } from "./seen-records.ts";
import { arrays, firstOf, type Parameter, rowsOf, type Work } from "./work.ts";

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

function* parsed(text: string, ...parameters: Parameter[]): Work<StoredRecord[]> {
  const rows = yield* rowsOf(arrays<[string]>(text, ...parameters));
  return rows.map(([record]) => JSON.parse(record));
}

const ofOwner = "SELECT record FROM records WHERE type = $1 AND number = $2";
