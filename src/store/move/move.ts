import { OperatorError } from "../../base/errors.ts";
import { arrays, change, firstOf, rowsOf, type Work } from "../database.ts";
import { spreadByHome } from "../postgres/schema.ts";
import { epochOf } from "../store-on-database.ts";
import { type MovedTable, type MoveEnd, movedTables, ownFacts, readingsIn } from "./move-ends.ts";
import { type HomeState, keepHome, keepState, keptHomes, keptState, type MoveState } from "./move-state.ts";
import { compare, compareCounts, copy, digestOf, type Ends } from "./row-copies.ts";

/** How far a move is: readings copied and compared so far, of so many. */
export interface MoveProgress {
  readonly copied: number;
  readonly compared: number;
  readonly total: number;
}

interface MoveOptions extends Ends {
  readonly onProgress: (progress: MoveProgress) => void;
  /** Ends it between two transactions: it is thrown, and the next call goes on from there. */
  readonly stop: AbortSignal;
  /** Rows that a transaction has, and that are held in memory, about; absent: as many as suits the table. */
  readonly rows_max?: number;
}

/** A summary of what was moved. */
export interface Moved {
  readonly homes: number;
  readonly items: number;
  readonly readings: number;
  /** Of these, those that were copied by this call: an interrupted one before it has copied the others. */
  readonly copied: number;
}

/**
 * Moves a store from one database to another, or goes on with that: first what is of no home, then home after home, each compared once it is
 * there. How far it has come stands in the target, written with the rows. At the end the target is a store like any other; the source is as it was.
 *
 * @throws OperatorError where the copy differs in the end
 */
export async function move({ source, target, onProgress, stop, rows_max }: MoveOptions): Promise<Moved> {
  const ends = { source, target };
  const tables = movedTables(
    await source.database.read(() => source.columns()),
    await target.database.read(() => target.columns()),
    spreadByHome,
  ).map((table) => ({ ...table, rows_max: rows_max ?? table.rows_max }));
  const [common, ofHomes] = [tables.filter(isCommon), tables.filter((table) => !isCommon(table))];
  const meter = new Meter(await countReadings(source), onProgress);
  await moveCommon(ends, common, stop);
  const known = await target.database.read(keptHomes);
  for (const { readings, compared } of known.values()) meter.begin(readings, compared ? readings : 0);
  const homes = await homesIn(source, ofHomes);
  for (const home of homes) await moveHome(ends, { home, tables: ofHomes, meter, stop }, known.get(home));
  await compareCounts(ends, tables);
  await target.settle();
  const facts = await source.database.read(factsOf);
  await target.write([], () => open(facts));
  const items = await target.database.read(() => firstOf(arrays<[number]>("SELECT count(*) FROM items")));
  const readings = await countReadings(target);
  return { homes: homes.length, items: items?.[0] ?? 0, readings, copied: meter.copied };
}

/**
 * The state of a move that begins: which store it is, and a mark of its content that changes with everything that it takes in, so that a move
 * that was interrupted can tell whether the store has been used since.
 */
export async function beginning(source: MoveEnd): Promise<MoveState> {
  const columns = await source.database.read(() => source.columns());
  const parts: unknown[] = [];
  for (const table of ["sources", "totals"]) {
    const numbers = columns.filter((column) => column.table === table && /^int/i.test(column.type));
    const sums = numbers.map(({ name }) => `sum("${name}" % ${modulus})`);
    const text = `SELECT count(*), ${sums.join(", ")} FROM ${table}`;
    parts.push(await source.database.read(() => rowsOf(arrays(text))));
  }
  for (const table of movedTables(columns, columns, spreadByHome).filter(isCommon)) {
    const { count, hash } = await digestOf(source, { table }, () => {});
    parts.push([table.name, count, hash]);
  }
  const mark = Bun.hash.xxHash64(JSON.stringify(parts)).toString(16);
  return { epoch: await source.database.read(epochOf), mark };
}

/** A prime with which sums of millions of numbers stay exact. */
const modulus = 1_000_003;

/**
 * Checks that a move may go on in a target that has been begun.
 *
 * @throws OperatorError where it is of another store, or of one that has been used since
 */
export async function requireSame({ source, target }: Ends, begun: MoveState): Promise<void> {
  const kept = await target.database.read(keptState);
  const anew = `empty ${target.name}, or name another, and begin anew`;
  if (kept?.epoch !== begun.epoch)
    throw new OperatorError(`${target.name} holds a part of another store than that in ${source.name}`, anew);
  if (kept.mark !== begun.mark)
    throw new OperatorError(
      `${source.name} has been written to since its move to ${target.name} was interrupted`,
      anew,
    );
}

function isCommon({ by }: MovedTable): boolean {
  return by === "all";
}

async function moveCommon(ends: Ends, tables: readonly MovedTable[], stop: AbortSignal): Promise<void> {
  const { target } = ends;
  const state = (await target.database.read(keptState)) as MoveState;
  const share = { tables, streams: [] };
  if (state.at !== "end") {
    if (state.at === undefined) await target.write([], () => clear(tables));
    await copy(ends, share, state.at, async (pieces, at) => {
      await target.write(pieces, () => keepState({ ...state, at }));
      stop.throwIfAborted();
    });
  }
  await compare(ends, share, () => {});
}

/** Takes away what a new database has in its tables. */
function* clear(tables: readonly MovedTable[]): Work<void> {
  for (const { name } of tables) yield* change(`DELETE FROM ${name}`);
}

async function moveHome(
  ends: Ends,
  of: { home: number; tables: readonly MovedTable[]; meter: Meter; stop: AbortSignal },
  known: HomeState = { readings: 0 },
): Promise<void> {
  if (known.compared) return;
  const { home, tables, meter, stop } = of;
  const { source, target } = ends;
  const share = { tables, home, streams: await source.database.read(() => streamsIn(home)) };
  let { readings } = known;
  if (known.at !== "end")
    await copy(ends, share, known.at, async (pieces, at) => {
      const more = pieces.reduce((sum, { table, rows }) => sum + readingsIn(table, rows), 0);
      readings += more;
      await target.write(pieces, () => keepHome(home, { at, readings }));
      meter.add(more, 0);
      stop.throwIfAborted();
    });
  await compare(ends, share, (more) => {
    stop.throwIfAborted();
    meter.add(0, more);
  });
  await target.write([], () => keepHome(home, { at: "end", readings, compared: true }));
}

function* streamsIn(home: number): Work<number[]> {
  return (yield* rowsOf(arrays<[number]>("SELECT key FROM streams WHERE home = $1", home))).flat();
}

/** Every home that anything is kept of, ascending. */
async function homesIn(end: MoveEnd, tables: readonly MovedTable[]): Promise<number[]> {
  const homes = new Set<number>();
  const named = ["streams", ...tables.filter(({ by }) => by === "home").map(({ name }) => name)];
  for (const table of named) {
    const found = await end.database.read(() =>
      rowsOf(arrays<[number]>(`SELECT DISTINCT home FROM ${table}`)),
    );
    for (const [home] of found) homes.add(home);
  }
  return [...homes].sort((one, other) => one - other);
}

/** How many readings there are, by the totals. */
export async function countReadings(end: MoveEnd): Promise<number> {
  const row = await end.database.read(() =>
    firstOf(arrays<[number]>("SELECT coalesce(sum(total), 0)::bigint FROM totals")),
  );
  return row?.[0] ?? 0;
}

/** The facts of `meta` that are of the store, and not of its database. */
function* factsOf(): Work<[name: string, value: string][]> {
  const facts = yield* rowsOf(arrays<[string, string | number]>("SELECT name, value FROM meta"));
  return facts.filter(([name]) => !ownFacts.includes(name)).map(([name, value]) => [name, String(value)]);
}

/** Lets a database be used, in which all else is. */
function* open(facts: readonly (readonly [name: string, value: string])[]): Work<void> {
  for (const [name, value] of facts)
    yield* change(
      "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      name,
      value,
    );
  yield* change("DELETE FROM moved_homes");
  yield* change("DELETE FROM meta WHERE name = 'moving'");
}

class Meter {
  /** Readings that were copied since it was made. */
  copied = 0;
  readonly #total: number;
  readonly #tell: (progress: MoveProgress) => void;
  #before = 0;
  #compared = 0;

  constructor(total: number, tell: (progress: MoveProgress) => void) {
    this.#total = total;
    this.#tell = tell;
  }

  /** Counts what a call before this has done. */
  begin(copied: number, compared: number): void {
    this.#before += copied;
    this.#compared += compared;
  }

  add(copied: number, compared: number): void {
    this.copied += copied;
    this.#compared += compared;
    this.#tell({ copied: this.#before + this.copied, compared: this.#compared, total: this.#total });
  }
}
