import { inOrder } from "../../records/record-order.ts";
import {
  definitionOf,
  fieldsOf,
  ownerField,
  type RecordType,
  type Reference,
  type StoredRecord,
} from "../../records/record-table.ts";
import type { LoneType, OwnedType, RecordOf } from "../record-store.ts";
import type { Connection } from "./connection.ts";

/** Reads the programme's records: see `RecordStore` for what each call answers. */
export class Records {
  readonly #database: Connection;

  constructor(database: Connection) {
    this.#database = database;
  }

  all<Type extends LoneType>(type: Type): RecordOf<Type>[] {
    const rows = this.#texts("SELECT record FROM records WHERE type = ? ORDER BY number", type);
    return rows.map((record) => JSON.parse(record));
  }

  one<Type extends LoneType>(type: Type, number: number): RecordOf<Type> | undefined {
    const [record] = this.#texts("SELECT record FROM records WHERE type = ? AND number = ?", type, number);
    return record === undefined ? undefined : JSON.parse(record);
  }

  ofOwner<Type extends OwnedType>(type: Type, owner: number): RecordOf<Type>[] {
    const read = this.#database.transaction(() => {
      const rows = this.#texts(type === "alerts" ? alertsOfSubject : recordsOfOwner, type, owner);
      const records = inOrder(
        type,
        rows.map((record) => JSON.parse(record)),
      );
      return records.map((record) => this.#withEmbedded(type, record));
    });
    return read() as RecordOf<Type>[];
  }

  with(type: RecordType, field: string, numbers: readonly number[]): StoredRecord[] {
    if (!fieldsOf(type).includes(field)) throw new RangeError(`${type} have no field ${field}`);
    const list = JSON.stringify(numbers);
    const within = `${columnOf(type, field)} IN (SELECT value FROM json_each(?))`;
    const texts =
      type === "items"
        ? this.#texts(`SELECT record FROM items WHERE provisional = 0 AND ${within}`, list)
        : this.#texts(`SELECT record FROM records WHERE type = ? AND ${within}`, type, list);
    return inOrder(
      type,
      texts.map((text) => JSON.parse(text)),
    );
  }

  known(type: Reference["to"], numbers: readonly number[]): Set<number> {
    const list = JSON.stringify(numbers);
    const rows =
      type === "items"
        ? this.#database
            .query("SELECT itemid FROM items WHERE itemid IN (SELECT value FROM json_each(?))")
            .values(list)
        : this.#database
            .query("SELECT number FROM records WHERE type = ? AND number IN (SELECT value FROM json_each(?))")
            .values(type, list);
    return new Set((rows as [number][]).map(([number]) => number));
  }

  keeps(type: Reference["to"]): boolean {
    const any =
      type === "items"
        ? this.#database.query("SELECT 1 FROM items WHERE provisional = 0 LIMIT 1").get()
        : this.#database.query("SELECT 1 FROM records WHERE type = ? LIMIT 1").get(type);
    return any !== null;
  }

  itemidsOf(names: readonly string[]): Map<string, number> {
    const rows = this.#database
      .query("SELECT itemname, itemid FROM items WHERE itemname IN (SELECT value FROM json_each(?))")
      .values(JSON.stringify(names));
    return new Map(rows as [string, number][]);
  }

  /** The record with the whole item in the place of its itemid, where its type has one. */
  #withEmbedded(type: RecordType, record: StoredRecord): StoredRecord {
    const { embeds } = definitionOf(type);
    if (embeds === undefined) return record;
    const [item] = this.#texts("SELECT record FROM items WHERE itemid = ?", Number(record[embeds]));
    // No item is ever removed, and none can be imported that isn't there.
    if (item === undefined) throw new Error(`${type} names the item ${record[embeds]}, which is gone`);
    return { ...record, [embeds]: JSON.parse(item) };
  }

  #texts(sql: string, ...parameters: (string | number)[]): string[] {
    const rows = this.#database.query(sql).values(...parameters) as [string][];
    return rows.map(([text]) => text);
  }
}

/** The column, or the expression, by which the records of a type that hold a number in a field are found soonest. */
function columnOf(type: RecordType, field: string): string {
  const { owner, identity } = definitionOf(type);
  const found = owner === undefined ? identity[0] : ownerField[owner];
  if (field !== found) return `record ->> '$.${field}'`;
  return type === "items" ? field : "number";
}

const recordsOfOwner = "SELECT record FROM records WHERE type = ?1 AND number = ?2";
/** With those that central makes of the health of devices, each once. */
const alertsOfSubject = `
  ${recordsOfOwner}
  UNION ALL SELECT min(record) FROM home_alerts
    WHERE subjectid = ?2 AND id NOT IN (SELECT id FROM records WHERE type = ?1 AND number = ?2) GROUP BY id`;
