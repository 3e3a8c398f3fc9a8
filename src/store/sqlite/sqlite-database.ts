import type { Statement as Prepared, SQLQueryBindings } from "bun:sqlite";
import { valuesAt } from "../batch.ts";
import { numbersGiven } from "../central/sources.ts";
import {
  arrays,
  type DatabaseStep,
  type Parameter,
  type Put,
  rowsOf,
  type Statement,
  type Work,
} from "../database.ts";
import type { SeriesRows } from "../series/series-rows.ts";
import type { Overview } from "../store.ts";
import type { StoreDatabase } from "../store-on-database.ts";
import { type Connection, databaseBytes, openForReading } from "./connection.ts";
import { storeFault } from "./faults.ts";
import { insertSql, versionOf } from "./schema.ts";

/** A database file that is read, on a connection of its own. Every call rejects with an OperatorError where the file is at fault. */
export class SqliteDatabase implements StoreDatabase {
  readonly #connection: Connection;
  readonly #path: string;
  readonly #runner: Runner;
  readonly #changes;

  /** `path`: of a database of this program's schema version, which exists. */
  constructor(path: string) {
    this.#path = path;
    this.#connection = openForReading(path);
    this.#changes = this.#connection.keep("PRAGMA data_version");
    this.#runner = new Runner(this.#connection, new KeptRows(() => this.changes()));
  }

  read<Result>(work: () => Work<Result>): Promise<Result> {
    return this.#named(() => this.#runner.run(work()));
  }

  snapshot<Result>(work: () => Work<Result>): Promise<Result> {
    return this.#named(() => this.#runner.snapshot(work()));
  }

  page<Result>(work: () => Work<Result>): Promise<Result> {
    return this.snapshot(work);
  }

  /** SQLite counts what other connections commit, and this one never writes. */
  changes(): number {
    return Number(this.#changes.values()[0]?.[0]);
  }

  *facts(): Work<Omit<Overview, "epoch" | "items">> {
    const dropped = yield* rowsOf(arrays<[string, number]>("SELECT name, count FROM dropped ORDER BY name"));
    const [counts] = yield* rowsOf(
      arrays<[last_seq: number, waiting: number]>(
        "SELECT (SELECT value FROM meta WHERE name = 'last_seq'), (SELECT count(*) FROM waiting)",
      ),
    );
    const [last_seq = 0, waiting = 0] = counts ?? [];
    return {
      schemaVersion: versionOf(this.#connection, this.#path),
      // A gateway has no batches, and central gives none of a gateway's numbers.
      last_seq: last_seq + (yield* numbersGiven()),
      bytesOnDisk: databaseBytes(this.#path),
      dropped: Object.fromEntries(dropped),
      waiting,
    };
  }

  async close(): Promise<void> {
    this.#connection.close();
  }

  async #named<Result>(read: () => Result): Promise<Result> {
    try {
      return read();
    } catch (thrown) {
      throw thrown instanceof RangeError ? thrown : storeFault(thrown, this.#path);
    }
  }
}

/** Does work on a connection, in one go: nothing comes between two steps. */
export class Runner {
  readonly #connection: Connection;
  readonly #kept: KeptRows | undefined;
  readonly #prepared = new Map<string, Prepared>();

  /** @param kept absent: every statement is done */
  constructor(connection: Connection, kept?: KeptRows) {
    this.#connection = connection;
    this.#kept = kept;
  }

  /** Does work in the transaction that is under way, or each statement in one of its own. */
  run<Result>(work: Work<Result>): Result {
    let next = work.next();
    while (next.done !== true) {
      let answer: unknown;
      try {
        answer = this.#answer(next.value);
      } catch (thrown) {
        next = work.throw(thrown);
        continue;
      }
      next = work.next(answer);
    }
    return next.value;
  }

  /** Does work that reads, all of it at one moment. */
  snapshot<Result>(work: Work<Result>): Result {
    this.#prepare("BEGIN").run();
    this.#kept?.begin();
    try {
      return this.run(work);
    } finally {
      this.#kept?.end();
      this.#prepare("COMMIT").run();
    }
  }

  #answer(step: DatabaseStep): unknown {
    if ("text" in step) return step.isKept === true ? this.#ofKept(step) : this.#ask(step);
    if ("put" in step) return this.#put(step);
    if ("readings" in step) {
      this.#putReadings(step.readings);
      return step.meanwhile();
    }
    // The one who writes has locked everything.
    if ("lock" in step) return undefined;
    // All is on this machine.
    if ("reach" in step) return undefined;
    return step.map((one) => this.#answer(one));
  }

  #ofKept(step: Statement): unknown {
    return this.#kept === undefined ? this.#ask(step) : this.#kept.rowsOf(step, () => this.#ask(step));
  }

  #ask({ text, parameters, answer }: Statement): unknown {
    const statement = this.#prepare(text);
    const bound = parameters.map(binding);
    if (answer === "changes") return statement.run(...bound).changes;
    return answer === "objects" ? statement.all(...bound) : statement.values(...bound);
  }

  #put({ put, columns, rows, conflict }: Put): void {
    const names = Object.keys(columns);
    const places = names.map((_, place) => `$${place + 1}`);
    const statement = this.#prepare(
      `INSERT INTO ${put} (${names.join(", ")}) VALUES (${places.join(", ")}) ${conflict}`,
    );
    for (const row of rows) statement.run(...row);
  }

  /** The newest first, as the key has them: pages that grow at the end of a stretch are filled, and those that grow at the front are left half empty. */
  #putReadings({ series, columns, order, stream, own }: SeriesRows): void {
    const statement = this.#prepare(insertSql[series]);
    for (let place = order.length - 1; place >= 0; place -= 1) {
      const index = order[place] as number;
      const key = [stream[index] as number, columns.stamp_ms[index] as number, own[index] as number];
      statement.run(...key, ...valuesAt(columns, index));
    }
  }

  #prepare(text: string): Prepared {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    if (this.#prepared.size >= prepared_max) throw new Error("a statement is made anew for each use of it");
    const prepared = this.#connection.keep(sqliteSpelling(text));
    this.#prepared.set(text, prepared);
    return prepared;
  }
}

/** The rows of statements that were read lately, all of one state of the database: whatever is committed, all are forgotten. */
class KeptRows {
  readonly #changes: () => number;
  /** By the text of the statement, and then by its parameters. */
  readonly #rows = new Map<string, Map<string, unknown>>();
  #count = 0;
  /** The state of the database that they are of. */
  #state: number | undefined;
  /** Outside of a snapshot each statement sees a state of its own, which nobody knows. */
  #snapshot: "none" | "begun" | "known" = "none";

  constructor(changes: () => number) {
    this.#changes = changes;
  }

  begin(): void {
    this.#snapshot = "begun";
  }

  end(): void {
    this.#snapshot = "none";
  }

  rowsOf({ text, parameters }: Statement, read: () => unknown): unknown {
    if (this.#snapshot === "none") return read();
    if (this.#snapshot === "begun") this.#look();
    const name = parameters.join();
    const known = this.#rows.get(text)?.get(name);
    if (known !== undefined) return known;
    const rows = read();
    if (this.#count >= kept_max) this.#forget();
    this.#count += 1;
    const ofText = this.#rows.get(text) ?? new Map<string, unknown>();
    this.#rows.set(text, ofText.set(name, rows));
    return rows;
  }

  #look(): void {
    const state = this.#changes();
    if (state !== this.#state) this.#forget();
    this.#state = state;
    this.#snapshot = "known";
  }

  #forget(): void {
    this.#rows.clear();
    this.#count = 0;
  }
}

/** Statements whose rows are kept: all of a home's series, some kilobytes. */
const kept_max = 1_000;

function binding(value: Parameter): SQLQueryBindings {
  return Array.isArray(value) ? JSON.stringify(value) : (value as SQLQueryBindings);
}

/** Statements of one connection: several times as many as core/ has. */
const prepared_max = 1_000;

/**
 * The SQL of core/ as SQLite spells it. Statements there are written for PostgreSQL, in what both have; these are the exceptions. A list is bound
 * as JSON, because SQLite has no arrays.
 */
export function sqliteSpelling(text: string): string {
  return spellings.reduce((spelt, [pattern, replacement]) => spelt.replace(pattern, replacement), text);
}

const spellings: readonly (readonly [RegExp, string])[] = [
  // A stream is of one home. An index would be searched for each stream in each of the homes.
  [/(\bstream = ANY \(\$\d+::bigint\[\]\)) AND home = ANY/g, "$1 AND +home = ANY"],
  [/= ANY \(\$(\d+)::\w+\[\]\)/g, "IN (SELECT value FROM json_each(?$1))"],
  // The number in a field of a record, which PostgreSQL finds as text.
  [/substring\(([\w.]+) FROM '"(\w+)":\(-\?\\d\+\)\[,}\]'\)/g, "$1 ->> '$$.$2'"],
  [/::(bigint|text|double precision)\b/g, ""],
  [/\$(\d+)/g, "?$1"],
  [/\bgreatest\(/g, "max("],
  [/\bleast\(/g, "min("],
  [/\bjson_agg\(/g, "json_group_array("],
  [/ COLLATE "C"/g, ""],
  // Rows are found by a key of this type without an index of its own.
  [/\bBIGINT\b/g, "INTEGER"],
  [/ FOR UPDATE$/, ""],
];
