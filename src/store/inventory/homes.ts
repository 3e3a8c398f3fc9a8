import { arrays, firstOf, type Work } from "../database.ts";
import { type BlockSizes, blockSizes, blockSizesOnPostgres } from "../series/block-sizes.ts";

/** How a store tells readings of different homes apart, in the tables of readings and in their counts; and how many of them are rows. */
export interface Homes {
  /** The home under which readings of a stream stand and are counted: 0 where the tables do not tell. */
  of(home: number): number;
  /** The column of a table of readings that has the home, as SQL. */
  readonly column: string;
  /** A condition on a table of readings, as SQL: its rows are of the home in a parameter (`$2`). Where tables are joined each has to be said: Citus takes neither from the other. */
  is(parameter: string, table?: string): string;
  /** A condition, as SQL: rows of a table of readings are of the same home as those of another table. */
  same(readings: string, other: string): string;
  /** It is the store of one home, 0: all items live there, whatever the inventory says. */
  readonly one: boolean;
  /** Homes that something is asked of, as stays have them. The store of one home does not know its number, and takes any for its own. */
  seen(homes: readonly number[] | undefined): readonly number[] | undefined;
  readonly sizes: Readonly<BlockSizes>;
}

/** On SQLite a reading does not say its home: the stream tells it. */
function homesTogether(one: boolean): Homes {
  return {
    of: () => 0,
    column: "0",
    is: (parameter) => ` AND ${parameter} = 0`,
    same: () => "",
    one,
    seen: (homes) => (one && homes !== undefined && homes.length > 0 ? undefined : homes),
    sizes: blockSizes,
  };
}

/** A gateway knows one home, whose number is 0 here. */
export const oneHome = homesTogether(true);
export const homesOnSqlite = homesTogether(false);

/** On PostgreSQL each row has its home, and Citus spreads rows by it: a statement that names the home is one machine's business. */
export const homesOnPostgres: Homes = {
  of: (home) => home,
  column: "home",
  is: (parameter, table) => ` AND ${table === undefined ? "home" : `${table}.home`} = ${parameter}`,
  same: (readings, other) => ` AND ${readings}.home = ${other}.home`,
  one: false,
  seen: (homes) => homes,
  sizes: blockSizesOnPostgres,
};

/** The number by which the programme knows the home of a stay: a gateway's own, null where it was not told. */
export function* homeNumbers(homes: Homes): Work<(stay: { readonly home: number }) => number | null> {
  if (!homes.one) return ({ home }) => home;
  const own = (yield* ownHome()) ?? null;
  return () => own;
}

/** The number of the home that a gateway is in, where it has been told. */
export function* ownHome(): Work<number | undefined> {
  const row = yield* firstOf(arrays<[number | string]>("SELECT value FROM meta WHERE name = 'home'"));
  return row === undefined ? undefined : Number(row[0]);
}
