import postgres from "postgres";

/** A server of a cluster: host and port. */
export interface Server {
  readonly host: string;
  readonly port: number;
}
export const nameOf = ({ host, port }: Server) => `${host}:${port}`;

/** A cluster as its coordinator knows it, and the commands that stop and start a server of it. */
export class Cluster {
  readonly #url: string;
  readonly #commands: { readonly stop: string; readonly start: string };
  readonly coordinator: Server;
  readonly workers: readonly Server[];

  private constructor(url: string, commands: { stop: string; start: string }, workers: readonly Server[]) {
    const { hostname, port } = new URL(url);
    this.#url = url;
    this.#commands = commands;
    this.coordinator = { host: hostname, port: Number(port || 5432) };
    this.workers = workers;
  }

  static async of(url: string, commands: { stop: string; start: string }): Promise<Cluster> {
    const workers = await asked<Server>(
      url,
      "SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE groupid <> 0 ORDER BY nodeport, nodename",
    );
    const [there] = await asked<{ used: boolean }>(url, "SELECT to_regclass('meta') IS NOT NULL AS used");
    if (there?.used === true) throw new Error("the database is not empty: every reading in it is counted");
    if (workers.length < 2) throw new Error(`${url} has ${workers.length} workers: it takes two at least`);
    return new Cluster(url, commands, workers);
  }

  /** The name of the worker that has the rows of each home. */
  async places(homes: number): Promise<Map<number, string>> {
    const rows = await asked<{ home: number; worker: string }>(
      this.#url,
      `SELECT home, nodename || ':' || nodeport AS worker FROM generate_series(1, ${homes}) AS home
       JOIN pg_dist_placement ON shardid = get_shard_id_for_distribution_column('sources', home)
       JOIN pg_dist_node USING (groupid)`,
    );
    return new Map(rows.map(({ home, worker }) => [home, worker]));
  }

  /** Transactions that are prepared on a worker and neither done nor undone. */
  async prepared(): Promise<number> {
    const rows = await asked<{ result: string }>(
      this.#url,
      "SELECT result FROM run_command_on_workers('SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database()')",
    );
    return rows.reduce((sum, { result }) => sum + Number(result), 0);
  }

  stop(server: Server): Promise<void> {
    return this.#run(this.#commands.stop, server);
  }

  start(server: Server): Promise<void> {
    return this.#run(this.#commands.start, server);
  }

  async #run(command: string, { host, port }: Server): Promise<void> {
    const child = Bun.spawn(["sh", "-c", `${command} "$@"`, "sh", host, String(port)], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "inherit",
    });
    const code = await child.exited;
    if (code !== 0) throw new Error(`${command} ${host} ${port} ended with ${code}`);
  }
}

async function asked<Row>(url: string, text: string): Promise<Row[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 10 });
  try {
    return [...(await sql.unsafe(text))] as Row[];
  } finally {
    await sql.end({ timeout: 5 });
  }
}
