import { quoted } from "../core/series-tables.ts";
import { arrays, type Parameter, rowsOf } from "../core/work.ts";
import { SetDigest } from "../reading-digest.ts";
import type { MovedRow, MovedValue, MoveEnd } from "./move-end.ts";
import type { MovedTable } from "./moved-tables.ts";

/** Rows of a table that are read along its key. */
export interface Range {
  readonly table: MovedTable;
  /** Whose they are, as the table wants to know. */
  readonly home?: number;
  readonly stream?: number;
  /** Against the order of the key. */
  readonly backwards?: boolean;
  /** The key of the last row that is not wanted any more. */
  readonly after?: readonly MovedValue[];
}

/** The rows of a range, some thousand at a time, each with the key of the last. */
export async function* rowsIn(
  end: MoveEnd,
  range: Range,
): AsyncGenerator<{ readonly rows: readonly MovedRow[]; readonly last: readonly MovedValue[] }> {
  const { table } = range;
  const places = table.key.map((name) => table.columns.indexOf(name));
  let { after } = range;
  for (;;) {
    const rows = await end.database.page(() => rowsOf(statement(end, { ...range, after })));
    const kept = rows.map((row) => row.map((value) => (typeof value === "boolean" ? Number(value) : value)));
    const last = kept.at(-1);
    if (last === undefined) return;
    after = places.map((place) => last[place] as MovedValue);
    yield { rows: kept, last: after };
    if (rows.length < table.rows_max || places.length === 0) return;
  }
}

function statement(end: MoveEnd, { table, home, stream, backwards, after }: Range) {
  const parameters: Parameter[] = [];
  const given = (value: Parameter) => `$${parameters.push(value)}`;
  const conditions: string[] = [];
  if (stream !== undefined) conditions.push(`stream = ${given(stream)}`);
  const told = home === undefined ? undefined : end.homeIn(table.name, home);
  if (told !== undefined) conditions.push(`home = ${given(told)}`);
  const [order, beyond] = backwards ? [" DESC", "<"] : ["", ">"];
  if (after !== undefined && after.length > 0) {
    const [first] = table.key;
    // An index is searched for its first column, not for a row of several.
    conditions.push(`"${first}" ${beyond}= ${given(after[0] as Parameter)}`);
    conditions.push(`(${quoted(table.key)}) ${beyond} (${after.map((value) => given(value)).join(", ")})`);
  }
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  const sorted = table.key.map((name) => `"${name}"${order}`).join(", ");
  const by = sorted === "" ? "" : ` ORDER BY ${sorted}`;
  const text = `SELECT ${quoted(table.columns)} FROM ${table.name}${where}${by} LIMIT ${table.rows_max}`;
  return arrays<readonly (MovedValue | boolean)[]>(text, ...parameters);
}

/** Count and digest of the rows of a range: equal in two databases where they have the same rows. */
export async function digestOf(
  end: MoveEnd,
  range: Range,
  told: (rows: readonly MovedRow[]) => void,
): Promise<SetDigest> {
  const { table } = range;
  const digest = new SetDigest();
  for await (const { rows } of rowsIn(end, range)) {
    for (const row of rows) {
      const cells = table.bytes ? row.map(bytesAsHash) : row;
      digest.add(Bun.hash.xxHash64(JSON.stringify(cells)));
    }
    told(rows);
  }
  return digest;
}

function bytesAsHash(cell: MovedValue): MovedValue {
  return cell instanceof Uint8Array ? Bun.hash.xxHash64(cell).toString(16) : cell;
}
