import { OperatorError } from "../../base/errors.ts";
import { SetDigest } from "../batch.ts";
import { arrays, type Parameter, rowsOf } from "../database.ts";
import { quoted } from "../series/series-columns.ts";
import {
  type MovedRow,
  type MovedTable,
  type MovedValue,
  type MoveEnd,
  type MoveTarget,
  type Piece,
  readingsIn,
} from "./move-ends.ts";
import type { MovePosition } from "./move-state.ts";

/** Rows of a table that are read along its key. */
interface Range {
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

/** A share of the rows, copied and compared by itself: the tables that are of no home, or those of a home with the keys of its streams. */
export interface Share {
  readonly tables: readonly MovedTable[];
  readonly home?: number;
  readonly streams: readonly number[];
}

/** The two ends of a move. */
export interface Ends {
  readonly source: MoveEnd;
  readonly target: MoveTarget;
}

/**
 * Copies a share from a position on. `commit` writes pieces, and with them the position that they lead to, in one transaction. The next rows are
 * read meanwhile: two transactions' worth of rows is held in memory.
 */
export async function copy(
  ends: Ends,
  share: Share,
  from: MovePosition | undefined,
  commit: (pieces: readonly Piece[], at: MovePosition | "end") => Promise<void>,
): Promise<void> {
  let held: Piece[] = [];
  let weight = 0;
  let writing = Promise.resolve();
  try {
    for await (const { at, ...piece } of piecesOf(ends, share, from)) {
      held.push(piece);
      weight += piece.rows.length / piece.table.rows_max;
      if (weight < 1) continue;
      await writing;
      writing = commit(held, at);
      // It is awaited before the next.
      writing.catch(() => {});
      held = [];
      weight = 0;
    }
  } finally {
    await writing;
  }
  await commit(held, "end");
}

async function* piecesOf(
  { source, target }: Ends,
  { tables, home, streams }: Share,
  from: MovePosition | undefined,
): AsyncGenerator<Piece & { readonly at: MovePosition }> {
  for (const table of tables) {
    if (from !== undefined && table.name < from.table) continue;
    const backwards = target.newestFirst && table.readings;
    for (const stream of await streamsOf(source, { table, home, streams })) {
      const begun = from?.table === table.name;
      if (begun && (stream ?? 0) < (from.stream ?? 0)) continue;
      const after = begun && stream === from.stream ? from.key : undefined;
      // Of a table without a further key a stream has one row.
      if (after?.length === 0) continue;
      const range = { table, home, stream, backwards, after };
      for await (const { rows, last } of rowsIn(source, range))
        yield { table, home, stream, rows, at: { table: table.name, stream, key: last } };
    }
  }
}

/** The streams of a home that have rows in a table, ascending; of a table that knows none, one that is undefined. */
export async function streamsOf(
  end: MoveEnd,
  { table, home, streams }: { table: MovedTable; home?: number; streams: readonly number[] },
): Promise<(number | undefined)[]> {
  if (table.by !== "stream" || home === undefined) return [undefined];
  const filled = await end.database.read(() => end.filled(table.name, home, streams));
  return filled.sort((one, other) => one - other);
}

/**
 * Compares a share in both databases by count and digest, table by table and stream by stream; `told` hears of the readings that were read.
 *
 * @throws OperatorError where they differ
 */
export async function compare(ends: Ends, share: Share, told: (readings: number) => void): Promise<void> {
  const { source, target } = ends;
  const { home } = share;
  for (const table of share.tables) {
    const filled = [source, target].map((end) => streamsOf(end, { ...share, table }));
    for (const stream of new Set((await Promise.all(filled)).flat())) {
      const range = { table, home, stream };
      const hear = (rows: readonly MovedRow[]) => told(readingsIn(table, rows));
      const [here, there] = await Promise.all([
        digestOf(source, range, hear),
        digestOf(target, range, () => {}),
      ]);
      if (here.count === there.count && here.hash === there.hash) continue;
      const of = [
        ...(stream === undefined ? [] : [`of stream ${stream}`]),
        ...(home === undefined ? [] : [`of home ${home}`]),
      ];
      throw differs(
        ends,
        `${here.count} rows of ${table.name}${["", ...of].join(" ")}, digest ${here.hash}, are ${there.count}, digest ${there.hash}`,
      );
    }
  }
}

/**
 * Compares how many rows there are in all: rows of a home or stream that nothing else tells of would not have been found.
 *
 * @throws OperatorError where they differ
 */
export async function compareCounts(ends: Ends, tables: readonly MovedTable[]): Promise<void> {
  for (const { name } of tables) {
    const [here, there] = await Promise.all([ends.source.count(name), ends.target.count(name)]);
    if (here !== there) throw differs(ends, `${here} rows of ${name} are ${there}`);
  }
}

function differs({ source, target }: Ends, what: string): OperatorError {
  return new OperatorError(
    `the copy is not what was copied: ${what}`,
    `${source.name} is as it was; look for faults of disk or memory, then empty ${target.name} and begin anew`,
  );
}
