import { numbersGiven } from "../central/sources.ts";
import {
  arrays,
  type DatabaseStep,
  firstOf,
  type Lock,
  type Put,
  type PutReadings,
  type Statement,
  type Work,
  type WritableDatabase,
} from "../database.ts";
import type { Overview } from "../store.ts";
import type { StoreDatabase } from "../store-on-database.ts";
import type { Nearby } from "./cluster-workers.ts";
import type { PageAt, PostgresConnections } from "./connections.ts";
import { copyReadings } from "./copy.ts";
import { metAt } from "./faults.ts";
import type { SqlRunner } from "./pool.ts";
import { isSpread } from "./schema.ts";

/** A database on a server. Every call rejects with an OperatorError that names it where it or the way to it is at fault. */
export class PostgresDatabase implements StoreDatabase, WritableDatabase {
  readonly #connections: PostgresConnections;

  constructor(connections: PostgresConnections) {
    this.#connections = connections;
  }

  read<Result>(work: () => Work<Result>): Promise<Result> {
    return this.#connections.read((sql) => run({ sql, connections: this.#connections }, work()));
  }

  snapshot<Result>(work: () => Work<Result>): Promise<Result> {
    return this.#connections.snapshot((sql) => run({ sql, connections: this.#connections }, work()));
  }

  page<Result>(work: () => Work<Result>): Promise<Result> {
    return this.#connections.snapshotPage((sql, page) =>
      run({ sql, connections: this.#connections, page }, work()),
    );
  }

  write<Result>(work: () => Work<Result>): Promise<Result> {
    return this.#connections.write((sql) => run({ sql, connections: this.#connections }, work()));
  }

  /** As `write`, of what a home sends: see `Connections.writeOf`. */
  writeOf<Result>(home: number, work: () => Work<Result>): Promise<Result> {
    const connections = this.#connections;
    return connections.writeOf(home, (sql, nearby) => run({ sql, nearby, connections }, work()));
  }

  changes(): undefined {}

  *facts(): Work<Omit<Overview, "epoch" | "items">> {
    const facts = yield* firstOf(
      arrays<[schemaVersion: number, bytesOnDisk: number]>(
        "SELECT value::bigint, pg_database_size(current_database()) FROM meta WHERE name = 'schema_version'",
      ),
    );
    const [schemaVersion = 0, bytesOnDisk = 0] = facts ?? [];
    return { schemaVersion, last_seq: yield* numbersGiven(), bytesOnDisk, dropped: {}, waiting: 0 };
  }

  close(): Promise<void> {
    return this.#connections.close();
  }
}

/** Does work on a connection, in the transaction that is under way, or each statement in one of its own. */
export function run<Result>(on: On, work: Work<Result>): Promise<Result> {
  return goOn(on, work, work.next());
}

/** Goes on with work; a page goes on at the worker of its home, if it is of one and that can be reached. */
async function goOn<Result>(on: On, work: Work<Result>, from: Next<Result>): Promise<Result> {
  let next = from;
  let nearby = on.page?.nearby;
  while (next.done !== true) {
    let answer: unknown;
    try {
      answer = await answerOf(on, next.value);
    } catch (thrown) {
      next = work.throw(thrown);
      continue;
    }
    const [home, ...others] = on.nearby === undefined && "reach" in next.value ? next.value.reach : [];
    if (nearby !== undefined && home !== undefined && others.length === 0) {
      const done = await nearby.transaction(home, (there) =>
        goOn({ ...on, nearby: there }, work, work.next(answer)),
      );
      if (done !== undefined) return done.result;
      nearby = undefined;
    }
    next = work.next(answer);
  }
  return next.value;
}

type Next<Result> = IteratorResult<DatabaseStep, Result>;

/** A connection, and those that it is one of. */
interface On {
  readonly sql: SqlRunner;
  /** Where rows that are spread are asked for; absent: by way of `sql`. */
  readonly nearby?: Nearby | undefined;
  /** Present for a page of a cluster. */
  readonly page?: PageAt | undefined;
  readonly connections: Pick<PostgresConnections, "reach">;
}

async function answerOf(on: On, step: DatabaseStep): Promise<unknown> {
  const { connections } = on;
  if ("reach" in step) return connections.reach(on.sql, step.reach);
  if ("lock" in step) return take(on, step);
  if (!("text" in step || "put" in step || "readings" in step))
    return Promise.all(step.map((one) => answerOf(on, one)));
  if (!isSpreadStep(step)) return askFor(on.sql, step);
  const { nearby } = on;
  if (nearby === undefined) {
    await on.page?.begin();
    return askFor(on.sql, step);
  }
  return askFor(nearby.sql, step).catch((thrown) => {
    throw metAt(nearby.worker, thrown);
  });
}

function isSpreadStep(step: Statement | Put | PutReadings): boolean {
  return "readings" in step || isSpread("put" in step ? `INTO ${step.put}` : step.text);
}

async function askFor(sql: SqlRunner, step: Statement | Put | PutReadings): Promise<unknown> {
  if ("text" in step) return ask(sql, step);
  if ("put" in step) return put(sql, step);
  return copyReadings(sql, step.readings, step.meanwhile);
}

async function take({ sql, connections }: On, { lock }: Lock): Promise<unknown> {
  if (lock === "inventory") return shareInventory(sql);
  if (lock === "inventory alone") return holdInventory(sql);
  // Nobody waits for a home, or makes others wait for it, whose rows are out of reach.
  await connections.reach(sql, [lock.home]);
  return holdHome(sql, lock.home);
}

async function ask(sql: SqlRunner, { text, parameters, answer }: Statement): Promise<unknown> {
  const query = sql.unsafe(text, parameters as number[], { prepare: true });
  if (answer === "arrays") return [...(await query.values())];
  const rows = await query;
  return answer === "changes" ? rows.count : [...rows];
}

/** A few rows one by one, which a coordinator hands on as they are; more of them as arrays of their columns, which is one statement for any number. */
async function put(sql: SqlRunner, { put: table, columns, rows, conflict }: Put): Promise<void> {
  const types = Object.values(columns);
  const names = Object.keys(columns)
    .map((name) => `"${name}"`)
    .join(", ");
  if (rows.length <= listed_max) {
    const places = rows.map((_, row) => {
      return `(${types.map((type, place) => `$${row * types.length + place + 1}::${type}`).join(", ")})`;
    });
    const values = rows.flat() as number[];
    const text = `INSERT INTO ${table} (${names}) VALUES ${places.join(", ")} ${conflict}`;
    await sql.unsafe(text, values);
    return;
  }
  const arrays = types.map((type, place) => `$${place + 1}::${type}[]`);
  const text = `INSERT INTO ${table} (${names}) SELECT * FROM unnest(${arrays.join(", ")}) ${conflict}`;
  const values = types.map((_, place) => rows.map((row) => row[place] ?? null)) as unknown as number[];
  await sql.unsafe(text, values, { prepare: true });
}

/** Rows that are put one by one: as many as a night of a home mostly has of anything but readings. */
const listed_max = 200;

/*
 * Advisory locks, which last until the transaction ends. On Citus they are the coordinator's alone: no worker that goes away holds one, and nobody asks for
 * one of a worker.
 */

/**
 * Shares the inventory; an import holds it alone, because it may give the readings of one stream to another. A writer takes this lock before it
 * finds the key of a stream to write under. It is taken in a statement of its own, because a statement's snapshot is taken before it waits.
 */
async function shareInventory(sql: SqlRunner): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock_shared(${inventory})`;
}

/** Holds the inventory alone; take no other lock after it. */
async function holdInventory(sql: SqlRunner): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${inventory})`;
}

/** Holds a home: others that change what is kept of it wait. Two homes whose hashes are equal wait for each other too. */
export async function holdHome(sql: SqlRunner, home: number): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('home', ${home}))`;
}

/** "lintel" in letters of a telephone's keys, 1: any number that nobody else locks in this database. */
const inventory = 5_468_351;
