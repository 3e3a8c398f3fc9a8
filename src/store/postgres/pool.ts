import type postgres from "postgres";
import { OperatorError, StoreOutage } from "../../errors.ts";
import { isConnectionLost } from "./faults.ts";

/** Runs statements on one connection, inside of a transaction or not. BIGINT and NUMERIC come as numbers. */
export type SqlRunner = postgres.ISql<Types>;
export type Types = {
  bigint: number;
  numeric: number;
  bigints: List;
  floats: List;
  texts: List;
  text: string;
};
type List = readonly (string | number | null)[];

/**
 * A bounded number of connections, each opened when it is first needed. The `postgres` library has a pool of its own, but it goes on to use a
 * connection that was lost: it sends the rest of a transaction on the new one, or writes to the old and ends the process. So
 * each connection here is a client of its own with just one, and a client that has lost it is never used again.
 */
export class Pool {
  readonly #open: (onClose: () => void) => postgres.Sql<Types>;
  readonly #connections_max: number;
  readonly #free: Client[] = [];
  readonly #waiting: ((client: Client) => void)[] = [];
  readonly #clients = new Set<Client>();
  #closed = false;

  /** @param open makes a client of one connection, and tells `onClose` when that has ended */
  constructor(options: {
    open: (onClose: () => void) => postgres.Sql<Types>;
    connections_max: number;
  }) {
    this.#open = options.open;
    this.#connections_max = options.connections_max;
  }

  /** Does something on a connection that nobody else uses meanwhile. */
  async use<Result>(work: (sql: SqlRunner) => Promise<Result>): Promise<Result> {
    const client = await this.#lease();
    try {
      return await work(client.guarded);
    } catch (thrown) {
      // The server may be gone before the client notices: what is sent now would never be answered.
      if (isConnectionLost(thrown)) client.lost = true;
      throw thrown;
    } finally {
      this.#release(client);
    }
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
          return await this.#finish(sql, work);
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

  async #finish<Result>(sql: SqlRunner, work: (sql: SqlRunner) => Promise<Result>): Promise<Result> {
    let result: Result;
    try {
      result = await work(sql);
    } catch (thrown) {
      if (!isConnectionLost(thrown)) await sql.unsafe("ROLLBACK");
      throw thrown;
    }
    await sql.unsafe("COMMIT");
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

  #release(client: Client): void {
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

  constructor(open: (onClose: () => void) => postgres.Sql<Types>) {
    this.sql = open(() => {
      this.lost = true;
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
}

const waiting_max = 10_000;
