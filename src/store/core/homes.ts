import { arrays, rowsOf, type Work } from "./work.ts";

/** How a store tells readings of different homes apart, in the tables of readings and in their counts. */
export interface Homes {
  /** The home under which readings of a home stand and are counted: 0 where the store does not tell. */
  of(home: number): number;
  /** The column of a table of readings that has the home, as SQL. */
  readonly column: string;
  /** A condition on a table of readings, as SQL: its rows are of the home in a parameter (`$2`). */
  is(parameter: string): string;
  /** A condition, as SQL: rows of a table of readings are of the same home as those of another table. */
  same(readings: string, other: string): string;
  /** Rows are spread over machines by their home (Citus). */
  readonly distributed: boolean;
}

/** On SQLite a reading does not say its home: the item and the number tell it. */
export const homesTogether: Homes = {
  of: () => 0,
  column: "0",
  is: (parameter) => ` AND ${parameter} = 0`,
  same: () => "",
  distributed: false,
};

/** On PostgreSQL each row has its home. */
export function homesApart({ distributed }: { distributed: boolean }): Homes {
  return {
    of: (home) => home,
    column: "home",
    is: (parameter) => ` AND home = ${parameter}`,
    same: (readings, other) => ` AND ${readings}.home = ${other}.home`,
    distributed,
  };
}

/**
 * A condition that the rows of an item meet anyway, as SQL: which homes they are of. Only with it Citus knows which shards to ask; where
 * nothing is spread it is empty.
 */
export function* amongHomes({ distributed }: Homes, item: number): Work<string> {
  if (!distributed) return "";
  const homes = yield* rowsOf(
    arrays<[home: number]>("SELECT home FROM item_homes WHERE item = $1 ORDER BY home", item),
  );
  return ` AND home IN (${homes.flat().join(", ") || "NULL"})`;
}
