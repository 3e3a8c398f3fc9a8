import type { MoveEnd, MoveTarget, Piece } from "./move-end.ts";
import type { MovePosition } from "./move-state.ts";
import type { MovedTable } from "./moved-tables.ts";
import { rowsIn } from "./ranges.ts";

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
