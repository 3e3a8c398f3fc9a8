import postgres from "postgres";
import type { Clock } from "../../base/clock.ts";
import { OperatorError, StoreOutage } from "../../base/errors.ts";
import { type ClaimKind, StoreClaim } from "./claim.ts";
import { answersOf, type Nearby, NearbyWorkers, Workers, workersOfHomes } from "./cluster-workers.ts";
import { databaseFault, isConnectionLost, isReadOnly, urlName, workerOf } from "./faults.ts";
import { type ClientEvents, Pool, type SqlRunner, servedText, storedText } from "./pool.ts";

/** Where a page of a cluster asks for rows that are spread. */
export interface PageAt {
  readonly nearby: NearbyWorkers;
  /** Has statements by way of the coordinator see one moment, and follow the index at the workers too. */
  begin(): Promise<void>;
}

/** A database by its URL. Every call rejects with an OperatorError that names the database where it or the way to it is at fault. */
export class PostgresConnections {
  /** Name in messages: host, port and database, never the password. */
  readonly name: string;
  readonly #reads: Pool;
  readonly #pages: Pool;
  readonly #writes: Pool;
  #settingsOfPages: readonly string[] = [];
  /** Asks a coordinator for its workers. */
  readonly #coordinator: Pool;
  readonly #clock: Clock;
  #workers: Workers | undefined;
  /** Present on a cluster. */
  #nearby: { readonly writes: NearbyWorkers; readonly pages: NearbyWorkers } | undefined;
  readonly #url: string;
  #claim: StoreClaim | undefined;

  /** @throws OperatorError where `url` is none of a PostgreSQL database */
  constructor(url: string, clock: Clock) {
    this.name = urlName(url);
    this.#clock = clock;
    this.#url = url;
    const readOnly = { default_transaction_read_only: "on" };
    const pool = (connections_max: number, settings: Record<string, string>) =>
      this.#pool(url, connections_max, settings);
    this.#reads = pool(reads_max, readOnly);
    // Plans that follow the index in its order are taken wherever there is one, so that a page costs what it is long.
    this.#pages = pool(pages_max, { ...readOnly, ...alongTheIndex });
    this.#writes = pool(writes_max, {});
    this.#coordinator = pool(1, askingWorkers);
  }

  /** Says that the database is the coordinator of a cluster: a worker of it may be away while others are there, and settings have to reach them. */
  expectWorkers(): void {
    // Citus sends them along with the BEGIN, each statement as it stands in its message, so that they have messages of their own.
    this.#settingsOfPages = ["SET LOCAL citus.propagate_set_commands = 'local'", ...settingsOfTransaction];
    this.#workers ??= new Workers({
      name: this.name,
      clock: this.#clock,
      ask: () => this.#askCoordinator(answersOf),
      // Citus does so once a minute by itself, and where this user may not ask for it.
      finishPrepared: () => this.#askCoordinator((sql) => sql`SELECT recover_prepared_transactions()`),
    });
    const clock = this.#clock;
    const nearby = (kind: string, connections_max: number, settings: Record<string, string>) =>
      new NearbyWorkers({
        clock,
        kind,
        open: (worker) => this.#pool(urlAt(this.#url, worker), connections_max, settings),
        ask: async (home) => (await this.#reads.use((sql) => workersOfHomes(sql, [home]))).get(home),
      });
    this.#nearby ??= {
      writes: nearby("", writes_max, {}),
      pages: nearby(oneMoment, pages_max, alongTheIndex),
    };
  }

  /**
   * Says whose rows are asked for next on a connection.
   *
   * @throws StoreOutage where they are on a worker that is away
   */
  async reach(sql: SqlRunner, homes: readonly number[]): Promise<void> {
    if (this.#workers === undefined) return;
    for (const pool of [this.#reads, this.#pages, this.#writes]) pool.note(sql, homes);
    // Asked on the same connection: who has one never waits for another.
    await this.#workers.require(homes, (unknown) => workersOfHomes(sql, unknown));
  }

  #pool(url: string, connections_max: number, settings: Record<string, string>): Pool {
    return new Pool({
      open: (events) => clientOf(url, settings, events),
      connections_max,
      clock: this.#clock,
      onSlow: () => void this.#giveUpSilent(),
    });
  }

  /** All that ask for rows. */
  get #asking(): readonly Pool[] {
    const { writes, pages } = this.#nearby ?? {};
    return [this.#reads, this.#pages, this.#writes, ...(writes?.pools ?? []), ...(pages?.pools ?? [])];
  }

  /** Reads with statements that each see a moment of their own. */
  read<Result>(work: (sql: SqlRunner) => Promise<Result>): Promise<Result> {
    return this.#again(() => this.#reads.use(work));
  }

  /** Reads with statements that all see the same moment. */
  snapshot<Result>(work: (sql: SqlRunner) => Promise<Result>): Promise<Result> {
    return this.#again(() => this.#reads.transaction(oneMoment, work));
  }

  /**
   * As `snapshot`, for pages. On a cluster what is spread is asked of the worker that has it, or by way of the coordinator after `begin`; what the coordinator itself has, a
   * statement or two, is of a moment just before.
   */
  snapshotPage<Result>(work: (sql: SqlRunner, at?: PageAt) => Promise<Result>): Promise<Result> {
    const nearby = this.#nearby?.pages;
    if (nearby === undefined) return this.#again(() => this.#pages.transaction(oneMoment, work));
    const page = async (sql: SqlRunner) => {
      let begun: Promise<unknown> | undefined;
      const begin = async () => {
        begun ??= Promise.all(
          [`BEGIN ${oneMoment}`, ...this.#settingsOfPages].map((text) => sql.unsafe(text)),
        );
        await begun;
      };
      try {
        return await work(sql, { begin, nearby });
      } finally {
        // What has failed is undone by it as well.
        if (begun !== undefined) await sql.unsafe("COMMIT").catch(() => {});
      }
    };
    return this.#again(() => this.#pages.use(page));
  }

  /**
   * Changes something in one transaction that is on disk when it resolves; when it rejects nothing has changed, unless the
   * connection was lost during the commit.
   */
  write<Result>(work: (sql: SqlRunner) => Promise<Result>): Promise<Result> {
    return this.#named(async () => {
      await this.#claim?.renew();
      return await this.#writes.transaction("", work);
    });
  }

  /** Does what no transaction may have in it, on a connection that writes. */
  outside<Result>(work: (sql: SqlRunner) => Promise<Result>): Promise<Result> {
    return this.#named(async () => {
      await this.#claim?.renew();
      return await this.#writes.use(work);
    });
  }

  get isCluster(): boolean {
    return this.#workers !== undefined;
  }

  /**
   * As `write`, of what a home sends. On a cluster its rows are changed at the worker that has them, which commits them before the coordinator lets go of the locks that
   * the work holds there. So nothing at the coordinator may be changed with them: where that is wanted all of it is done by way of the coordinator, anew.
   */
  writeOf<Result>(home: number, work: (sql: SqlRunner, nearby?: Nearby) => Promise<Result>): Promise<Result> {
    return this.#named(async () => {
      await this.#claim?.renew();
      const nearby = this.#nearby?.writes;
      const near = () =>
        this.#writes.transaction("READ ONLY", async (sql) => {
          return await nearby?.transaction(home, (there) => work(sql, there));
        });
      try {
        const done = nearby === undefined ? undefined : await near();
        if (done !== undefined) return done.result;
      } catch (thrown) {
        if (!isReadOnly(thrown)) throw thrown;
      }
      return await this.#writes.transaction("", work);
    });
  }

  /**
   * Claims the database until it is closed: to use it beside others, or alone.
   *
   * @throws OperatorError where it is claimed otherwise
   */
  async claim(kind: ClaimKind): Promise<void> {
    const settings = { idle_in_transaction_session_timeout: "0" };
    const open = (onClose: () => void) =>
      clientOf(this.#url, settings, { onClose, onNotice: () => {} }, forEver);
    const claim = new StoreClaim({ kind, name: this.name, open });
    this.#claim = claim;
    await this.#named(() => claim.renew());
  }

  /** Keeps these tables as they are until it is closed; it has to be claimed alone. */
  freeze(tables: readonly string[]): Promise<void> {
    return this.#named(async () => this.#claim?.freeze(tables));
  }

  async close(): Promise<void> {
    this.#workers?.close();
    const pools = [...this.#asking, this.#coordinator];
    await Promise.all(pools.map((pool) => pool.close(close_max_s)));
    await this.#claim?.release(close_max_s);
  }

  /**
   * Gives up what waits for a worker that stands still: one that does so neither answers nor ends a connection, and a coordinator that is told to
   * cancel what it has asked of it waits for that too.
   */
  async #giveUpSilent(): Promise<void> {
    const workers = this.#workers;
    if (workers === undefined) return;
    await workers.look();
    const silent = workers.silent();
    const pools = this.#asking;
    if (silent.size === 0) return;
    const slow = pools.flatMap((pool) => pool.slowHomes());
    const ask = (homes: readonly number[]) => this.#askCoordinator((sql) => workersOfHomes(sql, homes));
    const places = await workers.placesOf(slow, ask).catch(() => undefined);
    const outages = new Map<number, StoreOutage>();
    for (const [home, worker] of places ?? []) {
      const outage = silent.get(worker);
      if (outage !== undefined) outages.set(home, outage);
    }
    for (const pool of pools) pool.giveUp(outages);
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
      throw thrown instanceof RangeError ? thrown : this.#faultOf(thrown);
    }
  }

  async #askCoordinator<Answer>(question: (sql: SqlRunner) => Promise<Answer>): Promise<Answer> {
    const outage = new StoreOutage(`${this.name} does not answer`, "look into its log", "unreachable");
    const cancel = this.#clock.after(asking_max_ms, () => this.#coordinator.giveUpAll(outage));
    return this.#coordinator.use(question).finally(cancel);
  }

  #faultOf(thrown: unknown): OperatorError {
    const fault = databaseFault(thrown, this.name);
    const worker = workerOf(thrown);
    if (!(fault instanceof StoreOutage)) return fault;
    if (worker !== undefined) return this.#workers?.met(worker, fault) ?? fault;
    if (fault.reason === "unreachable") this.#workers?.coordinatorLost();
    return fault;
  }
}

/** The same database at a worker, by host and port. */
function urlAt(url: string, worker: string): string {
  const at = new URL(url);
  at.host = worker;
  return at.href;
}

function clientOf(
  url: string,
  settings: Record<string, string>,
  { onClose, onNotice }: ClientEvents,
  lasting: LastingOptions = { idle_timeout: idle_max_s },
) {
  return postgres(url, {
    max: 1,
    onclose: onClose,
    connect_timeout: connect_max_s,
    ...lasting,
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
    onnotice: ({ message }) => onNotice(message ?? ""),
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
/** A worker that stands still is not waited for, and each question makes a connection of its own: one of before may be dead unnoticed. */
const askingWorkers = { "citus.node_connection_timeout": "3000", "citus.max_cached_conns_per_worker": "0" };
/** Workers are asked one after the other. */
const asking_max_ms = 30_000;
/** How long a connection is kept, seconds; 0 is for ever. */
type LastingOptions = { readonly idle_timeout: number; readonly max_lifetime?: number };
const forEver: LastingOptions = { idle_timeout: 0, max_lifetime: 0 };
const connect_max_s = 10;
const idle_max_s = 60;
const close_max_s = 5;
const statement_max_ms = 10 * 60 * 1000;
const lock_max_ms = 60 * 1000;
const idle_transaction_max_ms = 5 * 60 * 1000;
