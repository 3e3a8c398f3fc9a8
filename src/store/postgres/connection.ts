import postgres from "postgres";
import { OperatorError } from "../../errors.ts";
import { databaseFault, nameOf } from "./faults.ts";

/** A pool of connections: a statement runs on whichever is free. BIGINT and NUMERIC come as numbers. */
export type Sql = postgres.Sql<Numbers>;
/** Runs statements on a pool or on one connection, inside of a transaction or not. */
export type SqlRunner = postgres.ISql<Numbers>;
/** One connection of a pool, until it is released. */
export type ReservedSql = postgres.ReservedSql<Numbers>;
type Numbers = { bigint: number; numeric: number };

/** A database by its URL: bounded pools of connections, opened when they are first needed and again when they were lost. */
export class Connections {
  /** What it is called in messages: host, port and database, never the password. */
  readonly name: string;
  /** For statements that only read, each of which sees a moment of its own. */
  readonly reads: Sql;
  /** For pages: plans that follow the index in its order are taken wherever there is one, so that a page costs what it is long. */
  readonly pages: Sql;
  readonly writes: Sql;

  /** @throws OperatorError where `url` is none of a PostgreSQL database */
  constructor(url: string) {
    this.name = nameOf(url);
    const readOnly = { default_transaction_read_only: "on" };
    this.reads = pool(url, reads_max, readOnly);
    this.pages = pool(url, pages_max, { ...readOnly, ...alongTheIndex });
    this.writes = pool(url, writes_max, {});
  }

  /** Does something with the database; what it throws becomes an OperatorError that names the database. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (thrown) {
      throw thrown instanceof RangeError ? thrown : databaseFault(thrown, this.name);
    }
  }

  /** Reads with statements that all see the same moment. Faults as in `run`. */
  snapshot<Result>(work: (sql: SqlRunner) => Promise<Result>): Promise<Result> {
    return this.#transaction(this.reads, "ISOLATION LEVEL REPEATABLE READ READ ONLY", work);
  }

  /** The same for pages. */
  pageSnapshot<Result>(work: (sql: SqlRunner) => Promise<Result>): Promise<Result> {
    return this.#transaction(this.pages, "ISOLATION LEVEL REPEATABLE READ READ ONLY", work);
  }

  /**
   * Changes something in one transaction that is on disk when it resolves; when it rejects nothing has changed, unless the
   * connection was lost during the commit. Faults as in `run`.
   */
  write<Result>(work: (sql: SqlRunner) => Promise<Result>): Promise<Result> {
    return this.#transaction(this.writes, "", work);
  }

  async close(): Promise<void> {
    const timeout = close_max_s;
    await Promise.all([this.reads, this.pages, this.writes].map((sql) => sql.end({ timeout })));
  }

  async #transaction<Result>(
    sql: Sql,
    options: string,
    work: (sql: SqlRunner) => Promise<Result>,
  ): Promise<Result> {
    // Wrapped, because the library would unpack an array.
    const { result } = await this.run(() =>
      sql.begin(options, async (transaction) => ({ result: await work(transaction) })),
    );
    return result;
  }
}

function pool(url: string, connections_max: number, settings: Record<string, string>) {
  return postgres(url, {
    max: connections_max,
    connect_timeout: connect_max_s,
    idle_timeout: idle_max_s,
    types: { bigint: number(20), numeric: number(1700) },
    onnotice: () => {},
    connection: {
      application_name: "lintel",
      // Compiling a plan takes longer than any page does.
      jit: "off",
      statement_timeout: statement_max_ms,
      lock_timeout: lock_max_ms,
      idle_in_transaction_session_timeout: idle_transaction_max_ms,
      ...settings,
    } as Record<string, string | number | boolean>,
  });
}

/** A number of PostgreSQL as one of JavaScript, checked to be exact. */
function number(oid: number): postgres.PostgresType<number> {
  return { to: oid, from: [oid], serialize: String, parse: safeNumber };
}

function safeNumber(text: string): number {
  const parsed = Number(text);
  if (Math.abs(parsed) <= Number.MAX_SAFE_INTEGER) return parsed;
  throw new OperatorError(
    `the database holds the number ${text}, which is out of range`,
    "restore it from a backup",
  );
}

/** Connections at once: PostgreSQL allows 100 in all by default. */
const reads_max = 6;
const pages_max = 6;
const writes_max = 8;
const alongTheIndex = { enable_seqscan: "off", enable_bitmapscan: "off", enable_sort: "off" };
const connect_max_s = 10;
const idle_max_s = 60;
const close_max_s = 5;
const statement_max_ms = 10 * 60 * 1000;
const lock_max_ms = 60 * 1000;
const idle_transaction_max_ms = 5 * 60 * 1000;
