import type { Clock } from "../../clock.ts";
import { metAt } from "./faults.ts";
import type { Pool, SqlRunner } from "./pool.ts";

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
