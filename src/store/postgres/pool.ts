import type postgres from "postgres";
import { type Clock, repeat } from "../../base/clock.ts";
import { OperatorError, StoreOutage } from "../../base/errors.ts";
import { isConnectionLost, workerOf } from "./faults.ts";

/** Runs statements on one connection, inside of a transaction or not. BIGINT and NUMERIC come as numbers. */
export type SqlRunner = postgres.ISql<Types>;
export type Types = {
  bigint: number;
  numeric: number;
  bigints: SentList;
  floats: SentList;
  texts: SentList;
  text: string;
};
type SentList = readonly (string | number | null)[];

/**
 * A bounded number of connections, each opened when it is first needed. The `postgres` library has a pool of its own, but it goes on to use a
 * connection that was lost: it sends the rest of a transaction on the new one, or writes to the old and ends the process. So
 * each connection here is a client of its own with just one, and a client that has lost it is never used again.
 */
export class Pool {
  readonly #open: Open;
  readonly #connections_max: number;
  readonly #clock: Clock;
  readonly #onSlow: () => void;
  readonly #free: Client[] = [];
  readonly #waiting: ((client: Client) => void)[] = [];
  readonly #clients = new Set<Client>();
  #closed = false;

  /** @param options.onSlow called whenever a connection has been in one use for another `patience_ms` */
  constructor(options: { open: Open; connections_max: number; clock: Clock; onSlow?: () => void }) {
    this.#open = options.open;
    this.#connections_max = options.connections_max;
    this.#clock = options.clock;
    this.#onSlow = options.onSlow ?? (() => {});
  }

  /** Does something on a connection that nobody else uses meanwhile. */
  async use<Result>(work: (sql: SqlRunner) => Promise<Result>): Promise<Result> {
    const client = await this.#lease();
    const endWait = this.#waitFor(client);
    try {
      return await work(client.guarded);
    } catch (thrown) {
      // The server may be gone before the client notices: what is sent now would never be answered.
      if (isConnectionLost(thrown)) client.lost = true;
      throw client.givenUp ?? withNotice(thrown, client.notice);
    } finally {
      endWait();
      this.#release(client);
    }
  }

  /** Notes that what is under way on a connection asks for rows of these homes. */
  note(sql: SqlRunner, homes: readonly number[]): void {
    const client = [...this.#clients].find(({ guarded }) => guarded === sql);
    for (const home of homes) client?.homes.add(home);
  }

  /** The homes that are asked for by what has lasted longer than `patience_ms`. */
  slowHomes(): number[] {
    return [...this.#clients].flatMap(({ slow, homes }) => (slow ? [...homes] : []));
  }

  /** Gives up what has lasted longer than `patience_ms` and asks for one of these homes: it rejects with their outage. */
  giveUp(outages: ReadonlyMap<number, StoreOutage>): void {
    for (const client of this.#clients) {
      const outage = [...client.homes].map((home) => outages.get(home)).find((one) => one !== undefined);
      if (client.slow && outage !== undefined) client.giveUp(outage);
    }
  }

  /** Gives up whatever is under way. */
  giveUpAll(outage: StoreOutage): void {
    for (const client of this.#clients) client.giveUp(outage);
  }

  /** Does something in a transaction: committed when it resolves, and undone when it rejects. */
  async transaction<Result>(kind: string, work: (sql: SqlRunner) => Promise<Result>): Promise<Result> {
    // A connection that was lost while nobody used it shows at the first statement, and nothing is lost by beginning anew.
    for (let attempt = 1; ; attempt += 1) {
      let begun = false;
      try {
        return await this.use(async (sql) => {
          await sql.unsafe(`BEGIN ${kind}`);
          begun = true;
          return await this.#finish(kind, sql, work);
        });
      } catch (thrown) {
        if (begun || !isConnectionLost(thrown) || attempt > this.#connections_max) throw thrown;
      }
    }
  }

  async close(timeout_s: number): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#clients].map(({ sql }) => sql.end({ timeout: timeout_s })));
  }

  async #finish<Result>(
    kind: string,
    sql: SqlRunner,
    work: (sql: SqlRunner) => Promise<Result>,
  ): Promise<Result> {
    let result: Result;
    try {
      result = await work(sql);
    } catch (thrown) {
      if (!isConnectionLost(thrown)) await sql.unsafe("ROLLBACK");
      throw thrown;
    }
    const committed = sql.unsafe("COMMIT");
    // Where nothing is written there is nothing to wait for: whoever has the connection next does.
    if (kind.endsWith("READ ONLY")) committed.catch(() => {});
    else await committed;
    return result;
  }

  async #lease(): Promise<Client> {
    if (this.#closed) throw new OperatorError("the store is closed", "open it again");
    for (let client = this.#free.pop(); client !== undefined; client = this.#free.pop()) {
      if (!client.lost) return client;
      this.#discard(client);
    }
    if (this.#clients.size < this.#connections_max) return this.#make();
    if (this.#waiting.length >= waiting_max) {
      throw new StoreOutage(
        `${waiting_max} requests wait for a connection to the database`,
        "ask less at once, or give the database a faster machine",
        "unreachable",
      );
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Tells whenever what is under way has lasted another while; the returned function ends that. */
  #waitFor(client: Client): () => void {
    return repeat(this.#clock, patience_ms, () => {
      client.slow = true;
      this.#onSlow();
    });
  }

  #release(client: Client): void {
    client.slow = false;
    client.notice = "";
    client.homes.clear();
    if (client.lost) this.#discard(client);
    const next = this.#waiting.shift();
    if (next !== undefined) next(client.lost ? this.#make() : client);
    else if (!client.lost) this.#free.push(client);
  }

  #make(): Client {
    const client = new Client(this.#open);
    this.#clients.add(client);
    return client;
  }

  #discard(client: Client): void {
    this.#clients.delete(client);
    // Whatever comes of it, nothing is done with it any more.
    client.sql.end({ timeout: 0 }).catch(() => {});
  }
}

class Client {
  readonly sql: postgres.Sql<Types>;
  /** Refuses statements once the connection is lost. */
  readonly guarded: SqlRunner;
  lost = false;
  /** The homes that its use asks for, whether that has lasted longer than `patience_ms`, and why it was given up. */
  readonly homes = new Set<number>();
  slow = false;
  givenUp: StoreOutage | undefined;
  /** Words of a coordinator, beside its answers, that name a worker. */
  notice = "";

  constructor(open: Open) {
    this.sql = open({
      onClose: () => {
        this.lost = true;
      },
      onNotice: (notice) => {
        if (workerOf(new Error(notice)) !== undefined) this.notice = notice;
      },
    });
    const refuseLost = () => {
      if (this.lost) throw Object.assign(new Error("the connection was lost"), { code: "CONNECTION_CLOSED" });
    };
    this.guarded = new Proxy(this.sql, {
      apply: (sql, _self, given) => {
        refuseLost();
        return Reflect.apply(sql, undefined, given);
      },
      get: (sql, name) => {
        if (name === "unsafe") refuseLost();
        return Reflect.get(sql, name);
      },
    });
  }

  /** Ends the connection, so that what is under way rejects. */
  giveUp(outage: StoreOutage): void {
    this.givenUp = outage;
    this.lost = true;
    this.sql.end({ timeout: 0 }).catch(() => {});
  }
}

/** Makes a client of one connection. */
type Open = (events: ClientEvents) => postgres.Sql<Types>;
/** `onClose` is called when the connection has ended, `onNotice` with what the server says beside its answers. */
export interface ClientEvents {
  readonly onClose: () => void;
  readonly onNotice: (message: string) => void;
}

/** A coordinator says in a notice at which worker a commit has failed, and not in the error. */
function withNotice(thrown: unknown, notice: string): unknown {
  return thrown instanceof Error && notice !== "" ? Object.assign(thrown, { notice }) : thrown;
}

/** Most of what is asked takes milliseconds; imports and repairs of whole days take longer, and are left alone where all machines answer. */
const patience_ms = 3_000;

const waiting_max = 10_000;

/**
 * A text of a reading as a column holds it. PostgreSQL takes neither NUL nor halves of surrogate pairs, and a reading is kept as it is:
 * such a text is stored as JSON behind a mark of our own, and so is one that begins with that mark.
 */
export function storedText(text: string): string {
  return text.includes("\0") || text.startsWith(mark) || !text.isWellFormed()
    ? mark + JSON.stringify(text)
    : text;
}

/** The text that was given to `storedText`. */
export function servedText(stored: string): string {
  return stored.startsWith(mark) ? JSON.parse(stored.slice(mark.length)) : stored;
}

/** A code point for private use. */
const mark = "\ue000";
