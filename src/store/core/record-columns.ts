import { definitionOf, ownerField, type RecordType } from "../../records/record-table.ts";

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
