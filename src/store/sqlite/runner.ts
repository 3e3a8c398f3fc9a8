import type { Statement as Prepared, SQLQueryBindings } from "bun:sqlite";
import { valuesAt } from "../batch.ts";
import type { SeriesRows } from "../core/series-rows.ts";
import type { DatabaseStep, Parameter, Put, Statement, Work } from "../core/work.ts";
import type { Connection } from "./connection.ts";
import { sqliteSpelling } from "./dialect.ts";
import { insertSql } from "./series-tables.ts";

/** Does work on a connection, in one go: nothing comes between two steps. */
export class Runner {
  readonly #connection: Connection;
  readonly #prepared = new Map<string, Prepared>();

  constructor(connection: Connection) {
    this.#connection = connection;
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
    try {
      return this.run(work);
    } finally {
      this.#prepare("COMMIT").run();
    }
  }

  #answer(step: DatabaseStep): unknown {
    if ("text" in step) return this.#ask(step);
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

  #ask({ text, parameters, answer }: Statement): unknown {
    const statement = this.#prepare(text);
    const bound = parameters.map(binding);
    if (answer === "changes") return statement.run(...bound).changes;
    return answer === "objects" ? statement.all(...bound) : statement.values(...bound);
  }

  #put({ put, columns, rows, conflict, returning = [] }: Put): unknown[] {
    const names = Object.keys(columns);
    const places = names.map((_, place) => `$${place + 1}`);
    const answer = returning.length === 0 ? "" : ` RETURNING ${returning.join(", ")}`;
    const statement = this.#prepare(
      `INSERT INTO ${put} (${names.join(", ")}) VALUES (${places.join(", ")}) ${conflict}${answer}`,
    );
    return rows.flatMap((row) => statement.values(...row));
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

function binding(value: Parameter): SQLQueryBindings {
  return Array.isArray(value) ? JSON.stringify(value) : (value as SQLQueryBindings);
}

/** Statements of one connection: several times as many as core/ has. */
const prepared_max = 1_000;
