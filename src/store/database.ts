import { messageOf, OperatorError, type OutageReason, StoreDamaged, StoreOutage } from "../base/errors.ts";
import type { SeriesRows } from "./series/series-rows.ts";

/**
 * Work on a database, written once for SQLite and PostgreSQL: a generator that yields steps and is handed what comes of each. SQLite does
 * all of them in one go, so that nothing comes between; PostgreSQL sends them over a connection. `yield*` stands where `await` would.
 */
export type Work<Result> = Generator<DatabaseStep, Result, unknown>;

/** One thing that a database does for work, or several that do not wait for each other: each store's runner has a method for each kind. */
export type DatabaseStep = Statement | Put | PutReadings | Lock | Reach | readonly DatabaseStep[];

/**
 * A statement, in the SQL of PostgreSQL as far as SQLite has it too; `sqlite/dialect.ts` lists the few spellings that it writes in its own way.
 * Parameters are `$1`, `$2` …; a list is asked for as `= ANY ($1::bigint[])` or `= ANY ($1::text[])`.
 */
export interface Statement<Row = unknown> {
  readonly text: string;
  readonly parameters: readonly Parameter[];
  /** Rows as objects by column or as arrays in order of columns, or how many rows were changed. */
  readonly answer: "objects" | "arrays" | "changes";
  /** Whether a database may answer with the rows that it has of before, as long as nothing was committed since. */
  readonly isKept?: boolean;
  /** Never there: what a row is. */
  readonly row?: Row;
}

export type Parameter = number | string | boolean | null | Uint8Array | readonly (number | string | null)[];

/** Rows to insert: one statement for all of them, or one after the other. */
export interface Put {
  readonly put: string;
  /** Columns in the order of the values, with their types. */
  readonly columns: Readonly<Record<string, SqlType>>;
  readonly rows: readonly (readonly (number | string | null)[])[];
  /** `ON CONFLICT …`, where a row may be there already; no two of `rows` may conflict with each other. */
  readonly conflict: string;
}

type SqlType = "bigint" | "text" | "double precision";

/** Inserts readings into the table of their series. */
export interface PutReadings {
  readonly readings: SeriesRows;
  /** Called while the database is at work. */
  readonly meanwhile: () => void;
}

/**
 * Waits until nobody else holds something, and holds it until the transaction ends; SQLite has one writer, which holds everything. Who changes what is
 * kept of a home holds the home; who finds keys of streams to write under shares the inventory, and who gives readings of one stream to another
 * holds it alone. Homes come first, in order of their numbers, and the inventory last.
 */
export interface Lock {
  readonly lock: "inventory" | "inventory alone" | { readonly home: number };
}

/**
 * Says whose rows are asked for next, before anything waits for them: a cluster refuses it where the machine that has them is away. Everything
 * that a home or a page waits for every day says so; what does not is refused by the machine itself.
 */
interface Reach {
  readonly reach: readonly number[];
}

/** A statement that reads rows as objects. */
export function objects<Row>(text: string, ...parameters: Parameter[]): Statement<Row> {
  return { text, parameters, answer: "objects" };
}

/** The same, of few rows that are asked for again and again. Nobody changes the rows. */
export function kept<Row>(statement: Statement<Row>): Statement<Readonly<Row>> {
  return { ...statement, isKept: true };
}

/** A statement that reads rows as arrays. */
export function arrays<Row extends readonly unknown[]>(
  text: string,
  ...parameters: Parameter[]
): Statement<Row> {
  return { text, parameters, answer: "arrays" };
}

/** The rows of a statement. */
export function* rowsOf<Row>(statement: Statement<Row>): Work<Row[]> {
  return (yield statement) as Row[];
}

/** The first row of a statement; undefined where it has none. */
export function* firstOf<Row>(statement: Statement<Row>): Work<Row | undefined> {
  const [row] = yield* rowsOf(statement);
  return row;
}

/** The rows of statements that do not wait for each other, in their order. */
export function* rowsOfAll<Rows extends readonly unknown[]>(
  ...statements: { readonly [Place in keyof Rows]: Statement<Rows[Place]> }
): Work<{ -readonly [Place in keyof Rows]: Rows[Place][] }> {
  return (yield statements) as { -readonly [Place in keyof Rows]: Rows[Place][] };
}

/** A row without the columns that are null. */
export function withoutNulls<Row extends object>(row: Row): WithoutNulls<Row> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as WithoutNulls<Row>;
}

/** Columns that may be null are absent then. */
type WithoutNulls<Row> = {
  readonly [Column in keyof Row as null extends Row[Column] ? never : Column]: Row[Column];
} & {
  readonly [Column in keyof Row as null extends Row[Column] ? Column : never]?: NonNullable<Row[Column]>;
};

/** Changes rows; answers how many. */
export function* change(text: string, ...parameters: Parameter[]): Work<number> {
  return (yield { text, parameters, answer: "changes" }) as number;
}

/** See `Put`; no rows are no work. */
export function* put(step: Put): Work<void> {
  if (step.rows.length > 0) yield step;
}

/** See `PutReadings`; no readings are no work. */
export function* putReadings(readings: SeriesRows, meanwhile = () => {}): Work<void> {
  if (readings.order.length > 0) yield { readings, meanwhile };
}

/** See `Reach`; no homes are no work. */
export function* reach(homes: readonly number[]): Work<void> {
  if (homes.length > 0) yield { reach: homes };
}

export function* hold(lock: Lock["lock"]): Work<void> {
  yield { lock };
}

/** A database that work is done on. */
export interface Database {
  /** Reads with statements that each see a moment of their own. The work may be begun anew where a connection was lost. */
  read<Result>(work: () => Work<Result>): Promise<Result>;
  /** Reads with statements that all see the same moment. */
  snapshot<Result>(work: () => Work<Result>): Promise<Result>;
  /** As `snapshot`, for pages of series: along the key, never by sorting. */
  page<Result>(work: () => Work<Result>): Promise<Result>;
}

/** A database that is written to. */
export interface WritableDatabase extends Database {
  /** Changes something in one transaction, which is on disk when it resolves; nothing is changed when it rejects. */
  write<Result>(work: () => Work<Result>): Promise<Result>;
}

/** A known fault of a store, recognised by the code of the database or the system. */
export interface KnownFault {
  readonly codes: RegExp;
  /** The fault, as words that follow the name of the thing, and the remedy. */
  readonly what: string;
  readonly remedy: string;
  /** Present where it passes by itself, or once somebody has made room. */
  readonly outage?: OutageReason;
  /** Where a `StoreDamaged` says it. */
  readonly damaged?: true;
}

/**
 * The OperatorError for an error thrown while working on `name`: the first of `faults` that has its code. An
 * OperatorError passes unchanged.
 */
export function faultOf(
  thrown: unknown,
  { name, code, faults }: { name: string; code: string; faults: readonly KnownFault[] },
): OperatorError {
  if (thrown instanceof OperatorError) return thrown;
  const fault = faults.find(({ codes }) => codes.test(code));
  const what = fault?.what ?? `could not be worked on (${messageOf(thrown)})`;
  const remedy = fault?.remedy ?? unforeseen;
  if (fault?.damaged) return new StoreDamaged(`${name} ${what}`, remedy, { cause: thrown });
  return fault?.outage === undefined
    ? new OperatorError(`${name} ${what}`, remedy, { cause: thrown })
    : new StoreOutage(`${name} ${what}`, remedy, fault.outage, { cause: thrown });
}

const unforeseen = "nobody foresaw this; please report it with the log";
