import { OperatorError } from "../../base/errors.ts";
import { arrays, change, firstOf, objects, rowsOf, type Work } from "../database.ts";
import type { MovedValue } from "./move-ends.ts";

/** How far a move has come, as it stands in `meta` of its target. What is known of homes stands beside their rows: see `HomeState`. */
export interface MoveState {
  /** The epoch of the store that is moved, and a digest of what changes in it with everything that it takes in. */
  readonly epoch: string;
  readonly mark: string;
  /** Of the tables that are of no home: the last row that is held. */
  readonly at?: MovePosition | "end";
}

/** How far the rows of a home have come. */
export interface HomeState {
  readonly at?: MovePosition | "end";
  /** Its readings that are held. */
  readonly readings: number;
  /** All is held, and was compared. */
  readonly compared?: true;
}

/** The last row that is held: those of the tables before it are, and in its table those of the streams before it. */
export interface MovePosition {
  readonly table: string;
  readonly stream?: number;
  readonly key: readonly MovedValue[];
}

/** The state that is kept in a database; undefined where nothing is being moved into it. */
export function* keptState(): Work<MoveState | undefined> {
  const row = yield* firstOf(arrays<[string]>("SELECT value FROM meta WHERE name = 'moving'"));
  return row === undefined ? undefined : JSON.parse(row[0]);
}

export function* keepState(state: MoveState): Work<void> {
  yield* change("UPDATE meta SET value = $1 WHERE name = 'moving'", JSON.stringify(state));
}

/** The states of homes. They stand in a table that is spread as the rows of homes are: so that it is committed with them by one machine. */
export function* keptHomes(): Work<Map<number, HomeState>> {
  const rows = yield* rowsOf(objects<{ home: number; state: string }>("SELECT home, state FROM moved_homes"));
  return new Map(rows.map(({ home, state }) => [home, JSON.parse(state)]));
}

export function* keepHome(home: number, state: HomeState): Work<void> {
  yield* change(
    "INSERT INTO moved_homes (home, state) VALUES ($1, $2) ON CONFLICT (home) DO UPDATE SET state = excluded.state",
    home,
    JSON.stringify(state),
  );
}

/** Refuses a database in which a move has stopped half-way. */
export function halfMoved(name: string): OperatorError {
  return new OperatorError(
    `${name} holds a part of a store that is being moved there`,
    "give the same `lintel central move --from … --to …` again: it goes on where it was",
  );
}

/** Refuses to move a store into one that is another's. */
export function holdsStore(name: string): OperatorError {
  return new OperatorError(`${name} holds a store already`, "name an empty one to move a store to");
}

export function tooOld(name: string): OperatorError {
  return new OperatorError(
    `${name} was written by an older Lintel`,
    "start `lintel central` on it once, which brings it up to date",
  );
}
