import { numbersGiven } from "../core/sources.ts";
import type { StoreDatabase } from "../core/store.ts";
import { arrays, rowsOf, type Work } from "../core/work.ts";
import type { Overview } from "../store.ts";
import { type Connection, databaseBytes, openForReading } from "./connection.ts";
import { storeFault } from "./faults.ts";
import { versionOf } from "./migrations.ts";
import { Runner } from "./runner.ts";

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
    this.#runner = new Runner(this.#connection);
    this.#changes = this.#connection.keep("PRAGMA data_version");
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
