import type { Database, Work } from "../core/work.ts";
import type { Connection } from "./connection.ts";
import { storeFault } from "./faults.ts";
import { Runner } from "./runner.ts";

/** A database file that is read, on a connection of its own. Every call rejects with an OperatorError where the file is at fault. */
export class SqliteDatabase implements Database {
  readonly #path: string;
  readonly #runner: Runner;

  constructor(options: { path: string; connection: Connection }) {
    this.#path = options.path;
    this.#runner = new Runner(options.connection);
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

  async #named<Result>(read: () => Result): Promise<Result> {
    try {
      return read();
    } catch (thrown) {
      throw thrown instanceof RangeError ? thrown : storeFault(thrown, this.#path);
    }
  }
}
