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
import type { SqlRunner } from "./connection.ts";
import { lookupText } from "./lookup-text.ts";

/** Reads the programme's records: see `RecordStore` for what each call answers. */
export class Records {
  readonly #sql: SqlRunner;

  constructor(sql: SqlRunner) {
    this.#sql = sql;
  }

  async all<Type extends LoneType>(type: Type): Promise<RecordOf<Type>[]> {
    const rows = await this.#sql<
      RecordRow[]
    >`SELECT record FROM records WHERE type = ${type} ORDER BY number`;
    return rows.map(({ record }) => JSON.parse(record));
  }

  async one<Type extends LoneType>(type: Type, number: number): Promise<RecordOf<Type> | undefined> {
    const [row] = await this.#sql<RecordRow[]>`
      SELECT record FROM records WHERE type = ${type} AND number = ${number}`;
    return row === undefined ? undefined : JSON.parse(row.record);
  }

  async ofOwner<Type extends OwnedType>(type: Type, owner: number): Promise<RecordOf<Type>[]> {
    const { embeds } = definitionOf(type);
    const records =
      embeds === undefined ? await this.#plain(type, owner) : await this.#whole(type, owner, embeds);
    return records as RecordOf<Type>[];
  }

  async with(type: RecordType, field: string, numbers: readonly number[]): Promise<StoredRecord[]> {
    if (!fieldsOf(type).includes(field)) throw new RangeError(`${type} have no field ${field}`);
    const kept = type === "items" ? "items WHERE NOT provisional" : `records WHERE type = '${type}'`;
    const rows = await this.#sql.unsafe<RecordRow[]>(
      `SELECT record FROM ${kept} AND ${columnOf(type, field)} = ANY ($1::bigint[])`,
      [[...numbers]],
    );
    return inOrder(
      type,
      rows.map(({ record }) => JSON.parse(record)),
    );
  }

  async known(type: Reference["to"], numbers: readonly number[]): Promise<Set<number>> {
    const rows =
      type === "items"
        ? await this.#sql<{ number: number }[]>`
            SELECT itemid AS number FROM items WHERE itemid = ANY (${[...numbers]}::bigint[])`
        : await this.#sql<{ number: number }[]>`
            SELECT number FROM records WHERE type = ${type} AND number = ANY (${[...numbers]}::bigint[])`;
    return new Set(rows.map(({ number }) => number));
  }

  async keeps(type: Reference["to"]): Promise<boolean> {
    const rows =
      type === "items"
        ? await this.#sql`SELECT 1 FROM items WHERE NOT provisional LIMIT 1`
        : await this.#sql`SELECT 1 FROM records WHERE type = ${type} LIMIT 1`;
    return rows.length > 0;
  }

  async itemidsOf(names: readonly string[]): Promise<Map<string, number>> {
    const named = new Map(names.map((name) => [lookupText(name), name]));
    const rows = await this.#sql<{ itemname: string; itemid: number }[]>`
      SELECT itemname, itemid FROM items WHERE itemname = ANY (${[...named.keys()]}::text[])`;
    return new Map(rows.map(({ itemname, itemid }) => [named.get(itemname) ?? itemname, itemid]));
  }

  async #plain(type: RecordType, owner: number): Promise<StoredRecord[]> {
    // Alerts with those that central makes of the health of devices, each once.
    const rows =
      type === "alerts"
        ? await this.#sql<RecordRow[]>`
            SELECT record FROM records WHERE type = 'alerts' AND number = ${owner}
            UNION ALL
            SELECT min(record COLLATE "C") FROM home_alerts
            WHERE subjectid = ${owner}
              AND id NOT IN (SELECT id FROM records WHERE type = 'alerts' AND number = ${owner})
            GROUP BY id`
        : await this.#sql<RecordRow[]>`
            SELECT record FROM records WHERE type = ${type} AND number = ${owner}`;
    return inOrder(
      type,
      rows.map(({ record }) => JSON.parse(record)),
    );
  }

  /** Records with the whole item in the place of its itemid. */
  async #whole(type: RecordType, owner: number, embeds: string): Promise<StoredRecord[]> {
    const rows = await this.#sql.unsafe<{ record: string; item: string | null }[]>(
      `SELECT kept.record, items.record AS item
       FROM records AS kept LEFT JOIN items ON items.itemid = ${numberIn("kept.record", embeds)}
       WHERE kept.type = $1 AND kept.number = $2`,
      [type, owner],
    );
    const items = new Map<unknown, StoredRecord>();
    const records = rows.map(({ record, item }) => {
      const parsed = JSON.parse(record) as StoredRecord;
      // No item is ever removed, and none can be imported that isn't there.
      if (item === null) throw new Error(`${type} names the item ${parsed[embeds]}, which is gone`);
      items.set(parsed[embeds], JSON.parse(item));
      return parsed;
    });
    return inOrder(type, records).map((record) => ({ ...record, [embeds]: items.get(record[embeds]) }));
  }
}

interface RecordRow {
  readonly record: string;
}

/** The column, or the expression, by which the records of a type that hold a number in a field are found soonest. */
function columnOf(type: RecordType, field: string): string {
  const { owner, identity } = definitionOf(type);
  const found = owner === undefined ? identity[0] : ownerField[owner];
  if (type === "items" && (field === "itemid" || field === "currenthomeid")) return field;
  return field === found ? "number" : numberIn("record", field);
}

/**
 * The number in a field of a record, as SQL; null where it holds none. Found as text, because PostgreSQL's own functions refuse a
 * whole record for one NUL in it. Within a string the quotes around the name would be escaped.
 */
function numberIn(record: string, field: string): string {
  return `substring(${record} FROM '"${field}":(-?\\d+)[,}]')::bigint`;
}
