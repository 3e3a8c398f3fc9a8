import type { Clock } from "../../base/clock.ts";
import { StoreOutage, type StorePart } from "../../base/errors.ts";
import { metAt, workerAway } from "./faults.ts";
import type { Pool, SqlRunner } from "./pool.ts";

/** Whether each worker of the cluster answers its coordinator, by host and port. */
type WorkerAnswers = ReadonlyMap<string, boolean>;
/** Asks the coordinator on which worker the rows of homes are. */
type AskPlaces = (homes: readonly number[]) => Promise<ReadonlyMap<number, string>>;

/**
 * The workers of a cluster that are away. What has met one says so by `met`; from then on the coordinator is asked every second which workers answer, and
 * requests of homes on one that does not are refused before they wait for it, so that those of other homes have all connections for themselves.
 */
export class Workers {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #ask: () => Promise<WorkerAnswers>;
  readonly #finishPrepared: () => Promise<unknown>;
  readonly #away = new Map<string, Away>();
  /** The workers of homes that were asked for while one was away. */
  readonly #places = new Map<number, string>();
  /** Until when it is asked for transactions that are prepared, monotonic; without end until the coordinator answers. */
  #doubtful_until_ms = 0;
  #looking: Promise<void> | undefined;
  #cancel: (() => void) | undefined;
  #closed = false;

  /**
   * @param options.name of the database
   * @param options.ask asks the coordinator which workers answer
   * @param options.finishPrepared has it commit or undo what it had prepared on workers that went away
   */
  constructor(options: {
    name: string;
    clock: Clock;
    ask: () => Promise<WorkerAnswers>;
    finishPrepared: () => Promise<unknown>;
  }) {
    this.#name = options.name;
    this.#clock = options.clock;
    this.#ask = options.ask;
    this.#finishPrepared = options.finishPrepared;
  }

  /** Notes what a statement met at a worker, and answers it as an outage of that worker. */
  met(worker: string, fault: StoreOutage): StoreOutage {
    const away = this.#note(worker);
    // A worker whose disk is full still answers readers.
    if (fault.reason === "unreachable") away.since_answered_ms = undefined;
    else away.since_answered_ms = this.#now_ms();
    this.#lookSoon();
    return new StoreOutage(fault.what, fault.remedy, fault.reason, { cause: fault.cause, part: away.part });
  }

  /** Notes that the coordinator went away, so that what it had prepared on workers is finished when it is back. */
  coordinatorLost(): void {
    this.#doubtful_until_ms = Number.POSITIVE_INFINITY;
    this.#lookSoon();
  }

  /** Asks nobody while all workers are there. @throws StoreOutage where the worker that has the rows of one of `homes` is away */
  async require(homes: readonly number[], places: AskPlaces): Promise<void> {
    const silent = this.silent();
    if (silent.size === 0) return;
    for (const worker of (await this.placesOf(homes, places)).values()) {
      const outage = silent.get(worker);
      if (outage !== undefined) throw outage;
    }
  }

  /** Outages of the workers that do not answer, by host and port. */
  silent(): Map<string, StoreOutage> {
    const silent = [...this.#away].filter(([, away]) => away.since_answered_ms === undefined);
    return new Map(silent.map(([worker, { part }]) => [worker, this.#outageOf(part)]));
  }

  /** On which workers the rows of homes are. */
  async placesOf(homes: readonly number[], ask: AskPlaces): Promise<Map<number, string>> {
    const unknown = homes.filter((home) => !this.#places.has(home));
    if (unknown.length > 0) for (const [home, worker] of await ask(unknown)) this.#places.set(home, worker);
    return new Map(homes.map((home) => [home, this.#places.get(home) ?? ""]));
  }

  /** Asks the coordinator now which workers answer; who asks meanwhile is answered with this. */
  look(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
      this.#lookSoon();
    });
    return this.#looking;
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  async #look(): Promise<void> {
    const answers = await this.#ask().catch(() => undefined);
    // The coordinator is away too, or busy: nothing is known of the workers.
    if (answers === undefined) return;
    for (const [worker, answered] of answers) if (!answered) this.#note(worker).since_answered_ms = undefined;
    // One that was taken out of the cluster is missed by nobody.
    const there = [...this.#away].filter(([worker]) => answers.get(worker) !== false);
    const back = there.some(([, { since_answered_ms }]) => since_answered_ms === undefined);
    if (back || this.#doubtful_until_ms === Number.POSITIVE_INFINITY)
      this.#doubtful_until_ms = this.#now_ms() + settled_ms;
    // A batch that is prepared holds its rows: whoever came before it is finished would wait for that. One may be under way still when the worker answers.
    if (this.#isDoubtful()) await this.#finishPrepared().catch(() => {});
    const now_ms = this.#now_ms();
    for (const [worker, away] of there) {
      away.since_answered_ms ??= now_ms;
      if (now_ms - away.since_answered_ms < settled_ms) continue;
      this.#away.delete(worker);
      away.end(away.since_answered_ms);
    }
    if (this.#away.size === 0) this.#places.clear();
  }

  #lookSoon(): void {
    if (this.#closed || this.#looking !== undefined) return;
    if (this.#away.size === 0 && !this.#isDoubtful()) return;
    this.#cancel ??= this.#clock.after(look_every_ms, () => void this.look());
  }

  #isDoubtful(): boolean {
    return this.#now_ms() < this.#doubtful_until_ms;
  }

  #note(worker: string): Away {
    const known = this.#away.get(worker);
    if (known !== undefined) return known;
    const { promise: back, resolve: end } = Promise.withResolvers<number>();
    const away = { part: { name: `worker ${worker}`, back }, end, since_answered_ms: undefined };
    this.#away.set(worker, away);
    return away;
  }

  #outageOf(part: StorePart): StoreOutage {
    const { what, remedy, outage } = workerAway;
    return new StoreOutage(`${part.name} of ${this.#name} ${what}`, remedy, outage, { part });
  }

  #now_ms(): number {
    return this.#clock.now().monotonic_ms;
  }
}

/** Asks a coordinator which of its workers answer; one that does not takes as long as `citus.node_connection_timeout`. */
export async function answersOf(sql: SqlRunner): Promise<WorkerAnswers> {
  const workers = await sql<{ name: string; answers: boolean }[]>`
    SELECT nodename || ':' || nodeport AS name, citus_check_connection_to_node(nodename, nodeport) AS answers
    FROM pg_dist_node WHERE isactive AND noderole = 'primary' AND groupid <> 0`;
  return new Map(workers.map(({ name, answers }) => [name, answers]));
}

/** Asks a coordinator on which worker the rows of homes are. */
export async function workersOfHomes(sql: SqlRunner, homes: readonly number[]): Promise<Map<number, string>> {
  const places = await sql<{ home: number; worker: string }[]>`
    SELECT home, nodename || ':' || nodeport AS worker
    FROM unnest(${[...homes]}::bigint[]) AS home
    JOIN pg_dist_placement ON shardid = get_shard_id_for_distribution_column('sources', home)
    JOIN pg_dist_node USING (groupid)`;
  return new Map(places.map(({ home, worker }) => [home, worker]));
}

/** A worker that does not answer, or has answered again for less than `settled_ms`: until then what is met is the same outage. */
interface Away {
  readonly part: StorePart;
  readonly end: (at_ms: number) => void;
  /** Monotonic; undefined while it does not answer. */
  since_answered_ms: number | undefined;
}

const look_every_ms = 1_000;
const settled_ms = 15_000;

/** A connection to the worker of a home, in a transaction. */
export interface Nearby {
  readonly sql: SqlRunner;
  /** Host and port. */
  readonly worker: string;
}

/**
 * Connections to the workers of a cluster themselves. A worker does what is asked of its own rows by itself: no coordinator plans it first, hands it on and
 * commits it in two phases, which is more work than the statement where few rows are concerned.
 */
export class NearbyWorkers {
  readonly #clock: Clock;
  readonly #kind: string;
  readonly #open: (worker: string) => Pool;
  readonly #ask: (home: number) => Promise<string | undefined>;
  readonly #pools = new Map<string, Pool>();
  /** The worker of each home that has sent something lately. */
  readonly #places = new Map<number, string>();
  /** Until when a worker that could not be reached from here is left alone, monotonic. */
  readonly #away = new Map<string, number>();
  #asked_ms = Number.NEGATIVE_INFINITY;

  /**
   * @param options.kind of their transactions
   * @param options.open connects to a worker, by host and port
   * @param options.ask asks the coordinator on which worker the rows of a home are
   */
  constructor(options: {
    clock: Clock;
    kind: string;
    open: (worker: string) => Pool;
    ask: (home: number) => Promise<string | undefined>;
  }) {
    this.#clock = options.clock;
    this.#kind = options.kind;
    this.#open = options.open;
    this.#ask = options.ask;
  }

  get pools(): readonly Pool[] {
    return [...this.#pools.values()];
  }

  /**
   * Does something in a transaction at the worker of a home, which is committed when it resolves.
   *
   * @returns undefined where the worker cannot be reached from here, and nothing has been done
   */
  async transaction<Result>(
    home: number,
    work: (nearby: Nearby) => Promise<Result>,
  ): Promise<{ readonly result: Result } | undefined> {
    const worker = await this.#workerOf(home);
    if (worker === undefined || this.#now_ms() < (this.#away.get(worker) ?? 0)) return undefined;
    const pool = this.#pools.get(worker) ?? this.#open(worker);
    this.#pools.set(worker, pool);
    const at = { stage: "begins" as "begins" | "works" | "commits" };
    try {
      const result = await pool.transaction(this.#kind, async (sql) => {
        at.stage = "works";
        pool.note(sql, [home]);
        const done = await work({ sql, worker });
        at.stage = "commits";
        return done;
      });
      return { result };
    } catch (thrown) {
      if (at.stage === "works") throw thrown;
      if (at.stage === "commits") throw metAt(worker, thrown);
      this.#away.set(worker, this.#now_ms() + away_ms);
      return undefined;
    }
  }

  async #workerOf(home: number): Promise<string | undefined> {
    // What is spread anew goes on working by way of the worker that had it, which is slower.
    if (this.#now_ms() - this.#asked_ms > places_ms) {
      this.#places.clear();
      this.#asked_ms = this.#now_ms();
    }
    const known = this.#places.get(home) ?? (await this.#ask(home));
    if (known !== undefined) this.#places.set(home, known);
    return known;
  }

  #now_ms(): number {
    return this.#clock.now().monotonic_ms;
  }
}

/** A worker that lets nobody but its coordinator in is asked again after so long. */
const away_ms = 60_000;
const places_ms = 10 * 60_000;
