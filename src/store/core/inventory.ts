import { type Kind, kindNames, kinds } from "../../kinds.ts";
import type { Item, ItemType } from "../../records/items.ts";
import type { ItemWindow, StoredItem } from "../store.ts";
import { lookupText } from "./lookup-text.ts";
import { arrays, firstOf, objects, rowsOf, type Statement, type Work } from "./work.ts";

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
export function itemsOfKind(kind: Kind, { skip, limit, homes }: ItemWindow): Work<Item[]> {
  return itemsFrom(
    objects(
      `SELECT record FROM items WHERE typename = $1${stayedIn(homes, "$4")} ORDER BY itemid LIMIT $2 OFFSET $3`,
      ...[kind, limit, skip],
      ...given(homes),
    ),
  );
}

/** A condition on items: the inventory has them live in one of some homes, now or before. */
function stayedIn(homes: readonly number[] | undefined, parameter: string): string {
  if (homes === undefined) return "";
  return ` AND key IN (SELECT item FROM stays WHERE home = ANY (${parameter}::bigint[]))`;
}

function given(homes: readonly number[] | undefined): (readonly number[])[] {
  return homes === undefined ? [] : [homes];
}

/** See `Store.itemsIn`. */
export function itemsIn(homeid: number): Work<Item[]> {
  return itemsFrom(objects("SELECT record FROM items WHERE currenthomeid = $1 ORDER BY itemid", homeid));
}

/** See `Store.item`. */
export function* itemNamed(
  kind: Kind,
  name: string,
  homes?: readonly number[],
): Work<StoredItem | undefined> {
  const itemWith = (field: string, value: string | number) =>
    firstOf(
      objects<KeyedRow>(
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

function* itemsFrom(statement: Statement<RecordRow>): Work<Item[]> {
  return (yield* rowsOf(statement)).map(({ record }) => JSON.parse(record));
}

interface RecordRow {
  readonly record: string;
}

interface KeyedRow extends RecordRow {
  readonly key: number;
}

const isNumber = /^\d{1,15}$/;
