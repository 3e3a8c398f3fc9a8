import type { RecordType } from "../../records/record-table.ts";
import { namesIn, type Visible } from "../../records/seen.ts";
import type { Homes } from "./homes.ts";
import { columnOf } from "./record-columns.ts";
import type { Parameter } from "./work.ts";

/** A part of a condition, as SQL, and its parameters; empty where everything is seen. */
export interface Only {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

const everything: Only = { text: "", parameters: [] };

/**
 * Leaves the records of a type that are seen; its parameters are numbered from `first` on. All that such a record names is seen, and it names something. Of
 * an item that has lived in other homes too, whoever is seen must be named beside it.
 */
export function onlyVisible(homes: Homes, type: RecordType, seen: Visible | undefined, first: number): Only {
  if (seen === undefined) return everything;
  const names = namesIn(type).map(({ field, to }) => ({ to, column: columnOf(type, field, "records.") }));
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

/** See `onlySeen`. An item that has lived nowhere is seen with whom is named beside it. */
function itemIsSeen(column: string, homes: string, othersNamed: string): string {
  const lived = (where: string) =>
    `EXISTS (SELECT 1 FROM items JOIN stays ON stays.item = items.key WHERE items.itemid = ${column} AND ${where})`;
  const here = lived(`stays.home = ANY (${homes}::bigint[])`);
  const elsewhere = lived(`NOT stays.home = ANY (${homes}::bigint[])`);
  return `(${column} IS NULL OR (${here} OR ${othersNamed}) AND (NOT ${elsewhere} OR ${here} AND (${othersNamed})))`;
}

function anyNamed(names: readonly { readonly column: string }[]): string {
  return names.map(({ column }) => `${column} IS NOT NULL`).join(" OR ") || "FALSE";
}
