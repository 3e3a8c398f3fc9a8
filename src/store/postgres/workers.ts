import type { Clock } from "../../clock.ts";
import { StoreOutage, type StorePart } from "../../errors.ts";
import { workerAway } from "./faults.ts";
import type { SqlRunner } from "./pool.ts";

/** Whether each worker of the cluster answers its coordinator, by host and port. */
export type WorkerAnswers = ReadonlyMap<string, boolean>;
/** Asks the coordinator on which worker the rows of homes are. */
export type AskPlaces = (homes: readonly number[]) => Promise<ReadonlyMap<number, string>>;

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
