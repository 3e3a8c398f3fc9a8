import { spawn } from "node:child_process";
import { join } from "node:path";
import postgres from "postgres";
import type { TestDatabase, TestServer } from "./test-server.ts";

/** URL of the maintenance database of a server that tests are to use, with a superuser. */
export const givenUrl = process.env["LINTEL_TEST_POSTGRES"] || undefined;

/**
 * A server that somebody else runs. Where its maintenance database has the Citus extension with workers, each database of the tests is a cluster
 * of its own: a database on each node, put together by the extension in it.
 */
export class GivenServer implements TestServer {
  readonly place: string;
  /** The server itself, and then its workers. */
  readonly #nodes: readonly Node[];
  /** Of the names of all databases that this process makes. */
  readonly #prefix = `test_${crypto.getRandomValues(new Uint8Array(4)).toHex()}`;
  readonly #templates = new Map<string, Promise<string>>();
  #databases = 0;

  private constructor(nodes: readonly Node[]) {
    this.#nodes = nodes;
    this.place = nodes[0]?.host ?? "";
  }

  /** The server of a maintenance database, with the workers that Citus knows there. What this process makes goes when it ends, however it ends. */
  static async at(url: string): Promise<GivenServer> {
    const server = new GivenServer(await nodesOf(url));
    server.#watchOver();
    return server;
  }

  get isCluster(): boolean {
    return this.#nodes.length > 1;
  }

  url(database: string, user?: string, password?: string): string {
    return urlOf(this.#coordinator, database, user, password);
  }

  async database(template?: string): Promise<TestDatabase> {
    return this.#copy(template ?? (this.isCluster ? await this.#emptyCluster() : "template1"));
  }

  /** A database on each node that has nothing in it, Citus neither. */
  plainDatabase(): Promise<TestDatabase> {
    return this.#copy("template1");
  }

  /**
   * A cluster can be copied node by node: what Citus knows of a database is in tables in it, and in none of them is its name. Its daemon
   * has to leave the template before.
   */
  template(name: string, make: (url: string) => Promise<void>): Promise<string> {
    const known = this.#templates.get(name);
    if (known !== undefined) return known;
    const made = this.database().then((database) => this.#keep(database, make));
    this.#templates.set(name, made);
    return made;
  }

  async run(text: string, database?: string): Promise<Record<string, unknown>[]> {
    return runOn(this.#coordinator, text, database);
  }

  /** Makes a cluster of a database that is on each node and has the extension at most on the coordinator. */
  async addWorkers(database: string): Promise<void> {
    await Promise.all(
      this.#nodes.map((node) => runOn(node, "CREATE EXTENSION IF NOT EXISTS citus", database)),
    );
    const [coordinator, ...workers] = this.#nodes.map(placeOf);
    const sql = connect(this.#coordinator.url);
    // Adding a node writes the roles of the server to it, which no two processes may do at once.
    await sql.begin(async (alone) => {
      await alone`SELECT pg_advisory_xact_lock(${add_node_lock})`;
      await this.run(`SELECT citus_set_coordinator_host(${coordinator})`, database);
      for (const worker of workers) await this.run(`SELECT citus_add_node(${worker})`, database);
    });
    await sql.end({ timeout: 5 });
  }

  /** Host and port of the coordinator, as functions of Citus take them. */
  get coordinator(): string {
    return placeOf(this.#coordinator);
  }

  get #coordinator(): Node {
    return this.#nodes[0] as Node;
  }

  #emptyCluster(): Promise<string> {
    const known = this.#templates.get("empty cluster");
    if (known !== undefined) return known;
    const made = this.plainDatabase().then((database) =>
      this.#keep(database, () => this.addWorkers(database.name)),
    );
    this.#templates.set("empty cluster", made);
    return made;
  }

  async #keep(database: TestDatabase, make: (url: string) => Promise<void>): Promise<string> {
    await make(database.url);
    await this.#everywhere(`ALTER DATABASE ${database.name} ALLOW_CONNECTIONS false`);
    await this.#everywhere(
      `SELECT pg_terminate_backend(pid, ${end_max_ms}) FROM pg_stat_activity WHERE datname = '${database.name}'`,
    );
    return database.name;
  }

  async #copy(template: string): Promise<TestDatabase> {
    this.#databases += 1;
    const name = `${this.#prefix}_${this.#databases}`;
    await this.#everywhere(`CREATE DATABASE ${name} TEMPLATE ${template}`);
    if (this.isCluster)
      // Each shard is a table with its indexes, and each test makes them.
      await this.run(`ALTER DATABASE ${name} SET citus.shard_count = ${test_shards}`);
    return {
      name,
      url: this.url(name),
      [Symbol.asyncDispose]: () => dropFrom(this.#nodes, name),
    };
  }

  async #everywhere(text: string): Promise<void> {
    await Promise.all(this.#nodes.map((node) => runOn(node, text)));
  }

  /** A process that drops the databases when this one is gone: it reads from a pipe that nobody writes to. */
  #watchOver(): void {
    const words = [join(import.meta.dir, "drop-databases.ts"), this.#prefix];
    const watchdog = spawn(process.execPath, words, { detached: true, stdio: ["pipe", "ignore", "ignore"] });
    watchdog.unref();
    (watchdog.stdin as unknown as { unref?: () => void } | null)?.unref?.();
  }
}

/** One PostgreSQL server, by its maintenance database. */
interface Node {
  readonly url: string;
  /** Host and port. */
  readonly host: string;
}

/** The node at `url`, and the workers that are added there. */
export async function nodesOf(url: string): Promise<Node[]> {
  const coordinator = { url, host: new URL(url).host };
  const [citus] = await runOn(coordinator, "SELECT 1 FROM pg_extension WHERE extname = 'citus'");
  if (citus === undefined) return [coordinator];
  const workers = await runOn(
    coordinator,
    "SELECT nodename, nodeport FROM pg_dist_node WHERE groupid > 0 AND isactive AND noderole = 'primary' ORDER BY groupid",
  );
  return [
    coordinator,
    ...workers.map(({ nodename, nodeport }) => {
      const worker = new URL(url);
      worker.host = `${nodename}:${nodeport}`;
      return { url: worker.href, host: worker.host };
    }),
  ];
}

export async function runOn(node: Node, text: string, database?: string): Promise<Record<string, unknown>[]> {
  const sql = connect(database === undefined ? node.url : urlOf(node, database));
  try {
    return [...(await sql.unsafe(text))];
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Drops a database from each node. Where Citus' daemon there asks the database itself or another node, it must hear no at once: it can't be ended while it waits. */
export async function dropFrom(nodes: readonly Node[], database: string): Promise<void> {
  for (const node of nodes) await allowConnections(node, database, false);
  for (const node of nodes) await drop(node, database);
}

async function drop(node: Node, database: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await runOn(node, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
      return;
    } catch (thrown) {
      const inUse = (thrown as { code?: string }).code === "55006";
      if (!inUse || attempt === drop_attempts_max) throw thrown;
      await rollBackPrepared(node, database);
    }
  }
}

/** A test may have cut something in the middle of its commit. */
async function rollBackPrepared(node: Node, database: string): Promise<void> {
  const prepared = await runOn(node, `SELECT gid FROM pg_prepared_xacts WHERE database = '${database}'`);
  if (prepared.length === 0) return;
  await allowConnections(node, database, true);
  for (const { gid } of prepared) await runOn(node, `ROLLBACK PREPARED '${gid}'`, database);
}

async function allowConnections(node: Node, database: string, allowed: boolean): Promise<void> {
  await runOn(node, `UPDATE pg_database SET datallowconn = ${allowed} WHERE datname = '${database}'`);
}

/** Host and port as functions of Citus take them. */
function placeOf({ url }: Node): string {
  const { hostname, port } = new URL(url);
  return `'${hostname}', ${port || default_port}`;
}

function connect(url: string): postgres.Sql {
  return postgres(url, { max: 1, onnotice: () => {}, connect_timeout: connect_max_s });
}

function urlOf(node: Node, database: string, user?: string, password?: string): string {
  const url = new URL(node.url);
  url.pathname = `/${database}`;
  if (user !== undefined) url.username = user;
  if (password !== undefined) url.password = password;
  return url.href;
}

/** Two on each of two workers: spread, and cheap. */
const test_shards = 4;
/** Any number that nobody else locks in the maintenance database. */
const add_node_lock = 5_468_352;
const drop_attempts_max = 5;
const default_port = 5432;
const connect_max_s = 10;
const end_max_ms = 5_000;
