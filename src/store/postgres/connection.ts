import postgres from "postgres";
import { OperatorError } from "../../errors.ts";
import { databaseFault, isConnectionLost, nameOf } from "./faults.ts";
import { Pool, type SqlRunner } from "./pool.ts";
import { servedText, storedText } from "./stored-text.ts";

export type { SqlRunner } from "./pool.ts";

/** A database by its URL. Every call rejects with an OperatorError that names the database where it or the way to it is at fault. */
export class Connections {
  /** Name in messages: host, port and database, never the password. */
  readonly name: string;
  readonly #reads: Pool;
  readonly #pages: Pool;
  readonly #writes: Pool;
  #settingsOfPages: readonly string[] = [];

  /** @throws OperatorError where `url` is none of a PostgreSQL database */
  constructor(url: string) {
    this.name = nameOf(url);
    const readOnly = { default_transaction_read_only: "on" };
    this.#reads = poolOf(url, reads_max, readOnly);
    // Plans that follow the index in its order are taken wherever there is one, so that a page costs what it is long.
    this.#pages = poolOf(url, pages_max, { ...readOnly, ...alongTheIndex });
    this.#writes = poolOf(url, writes_max, {});
  }

  /** Reads with statements that each see a moment of their own. */
  read<Result>(work: (sql: SqlRunner) => Promise<Result>): Promise<Result> {
    return this.#again(() => this.#reads.use(work));
  }

  /** Reads with statements that all see the same moment. */
  snapshot<Result>(work: (sql: SqlRunner) => Promise<Result>): Promise<Result> {
    return this.#again(() => this.#reads.transaction(oneMoment, work));
  }

  /** As `snapshot`, for pages. */
  snapshotPage<Result>(work: (sql: SqlRunner) => Promise<Result>): Promise<Result> {
    const page = async (sql: SqlRunner) => {
      await Promise.all(this.#settingsOfPages.map((text) => sql.unsafe(text)));
      return work(sql);
    };
    return this.#again(() => this.#pages.transaction(oneMoment, page));
  }

  /**
   * From now on the settings of pages reach the workers of a cluster: Citus sends them along with the BEGIN, each statement as it stands in its message,
   * so that they have messages of their own.
   */
  setPagesOnWorkers(): void {
    this.#settingsOfPages = ["SET LOCAL citus.propagate_set_commands = 'local'", ...settingsOfTransaction];
  }

  /**
   * Changes something in one transaction that is on disk when it resolves; when it rejects nothing has changed, unless the
   * connection was lost during the commit.
   */
  write<Result>(work: (sql: SqlRunner) => Promise<Result>): Promise<Result> {
    return this.#named(() => this.#writes.transaction("", work));
  }

  async close(): Promise<void> {
    await Promise.all([this.#reads, this.#pages, this.#writes].map((pool) => pool.close(close_max_s)));
  }

  /** Reading can be done again where a connection was lost, as when the server was started anew. */
  #again<Result>(read: () => Promise<Result>): Promise<Result> {
    return this.#named(async () => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await read();
        } catch (thrown) {
          if (!isConnectionLost(thrown) || attempt === attempts_max) throw thrown;
        }
      }
    });
  }

  async #named<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (thrown) {
      throw thrown instanceof RangeError ? thrown : databaseFault(thrown, this.name);
    }
  }
}

function poolOf(url: string, connections_max: number, settings: Record<string, string>): Pool {
  return new Pool({ open: (onClose) => clientOf(url, settings, onClose), connections_max });
}

function clientOf(url: string, settings: Record<string, string>, onClose: () => void) {
  return postgres(url, {
    max: 1,
    onclose: onClose,
    connect_timeout: connect_max_s,
    idle_timeout: idle_max_s,
    types: {
      bigint: number(20),
      numeric: number(1700),
      bigints: list(1016, numbersText),
      floats: list(1022, numbersText),
      texts: list(1009, textsText),
      text: { to: 25, from: [25], serialize: (text: unknown) => storedText(String(text)), parse: servedText },
    },
    // Asking for the types of arrays is a question of the library's own, and if it is not answered the process ends.
    fetch_types: false,
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

/** An array type of PostgreSQL, which is only ever sent. */
function list(oid: number, serialize: (values: List) => string): postgres.PostgresType<List> {
  return { to: oid, from: [], serialize, parse: (text: string) => [text] };
}

type List = readonly (string | number | null)[];

/** An array as PostgreSQL reads it: its manual has the form under "Array Input and Output Syntax". JSON writes whole numbers and null the same way. */
function numbersText(values: List): string {
  return `{${JSON.stringify(values).slice(1, -1)}}`;
}

function textsText(values: List): string {
  const texts = values.map((value) => {
    return typeof value === "string" ? `"${storedText(value).replace(/[\\"]/g, "\\$&")}"` : "NULL";
  });
  return `{${texts.join(",")}}`;
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
/** Each may meet one more connection that was lost unnoticed. */
const attempts_max = 8;
const oneMoment = "ISOLATION LEVEL REPEATABLE READ READ ONLY";
const alongTheIndex = { enable_seqscan: "off", enable_bitmapscan: "off", enable_sort: "off" };
/** A worker hears what is set in a transaction, and never what its connection was opened with. */
const settingsOfTransaction = Object.entries({ ...alongTheIndex, jit: "off" }).map(
  ([name, value]) => `SET LOCAL ${name} = ${value}`,
);
const connect_max_s = 10;
const idle_max_s = 60;
const close_max_s = 5;
const statement_max_ms = 10 * 60 * 1000;
const lock_max_ms = 60 * 1000;
const idle_transaction_max_ms = 5 * 60 * 1000;
