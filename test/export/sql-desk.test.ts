import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MirroredProgramme } from "../../scripts/trial-programs/with-source/mirror/programme.ts";
import { SystemClock } from "../../src/base/clock.ts";
import { mirrorOf } from "../../src/cli/central-mirror.ts";
import { SqlDesk, type SqlQuestion, sqlTables } from "../../src/export/mirror/sql-desk.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import { visiblePart } from "../../src/store/visible-store.ts";
import { Answering } from "../../src/web/api/answering.ts";
import { nightly } from "../../testbed/nightly.ts";
import { temporaryDirectory } from "../../testbed/sample.ts";
import { sqlWorkersOf } from "../../testbed/sql-workers.ts";
import { openCentral } from "../../testbed/sqlite/opening.ts";

const clock = new SystemClock();
const directory = temporaryDirectory();
const mirror = join(directory.path, "mirror");
let store: CentralStore;
let desk: SqlDesk;
beforeAll(async () => {
  store = await openCentral(join(directory.path, "data"));
  await MirroredProgramme.small(store, mirror, clock);
  const stop = new AbortController().signal;
  await mirrorOf(store, { directory: mirror, clock, stop, onProgress: () => {} });
  desk = new SqlDesk({ directory: mirror, duckDb: undefined, clock });
});
afterAll(async () => {
  desk.stop();
  await store.close();
  directory[Symbol.dispose]();
});

/** Asks as a token of home 1 does, or of all homes. */
function ask(
  query: string,
  { homes = [1], ...more }: Partial<Omit<SqlQuestion, "homes">> & { homes?: number[] | null } = {},
) {
  const seen =
    homes === null ? store : visiblePart(store, { homes, subjects: [], projects: [], studies: [] });
  return desk.ask({
    ...{ query, token: "one", rows_max: 100, stop: new AbortController().signal },
    ...{ homes: homes ?? undefined, answers: new Answering({ store: seen, clock }) },
    ...more,
  });
}

async function rowsOf(...given: Parameters<typeof ask>) {
  const answer = await ask(...given);
  return "fault" in answer ? answer.fault : answer.rows;
}

test("a token is answered of its homes alone, in series, measures and lists", async () => {
  const homesOf = (table: string, column = "home") => `SELECT DISTINCT ${column} FROM ${table} ORDER BY 1`;
  expect(await rowsOf(homesOf("wirelesssensor_events"))).toEqual([["1"]]);
  expect(await rowsOf(homesOf("wirelesssensor_events"), { homes: null })).toEqual([["1"], ["2"]]);
  expect(await rowsOf(homesOf("coverage"))).toEqual([["1"]]);
  expect(await rowsOf(homesOf("items", "currenthomeid"))).toEqual([["1"]]);
  expect(await rowsOf(homesOf("homes", "homeid"), { homes: null })).toEqual([["1"], ["2"]]);
  expect(await rowsOf(homesOf("derived_activity"))).toEqual([["1"]]);
  expect(await rowsOf("SELECT count(*) FROM wirelesssensor_events", { homes: [] })).toEqual([["0"]]);
  expect(
    await rowsOf("SELECT typeof(stamp), strftime(stamp, '%Y') FROM wirelesssensor_events LIMIT 1"),
  ).toEqual([["TIMESTAMP WITH TIME ZONE", "2026"]]);
});

test("the example of each table is answered", async () => {
  for (const { name, example, columns } of drawn(sqlTables)) {
    const answer = await ask(example);
    expect([name, answer]).toEqual([name, expect.objectContaining({ columns: expect.any(Array) })]);
    if (example.includes("SELECT *") && "columns" in answer)
      expect([name, answer.columns]).toEqual([name, expect.arrayContaining(columns.map((one) => one.name))]);
  }
});

const other = "wirelesssensor_events/home=2/month=2026-09/readings.parquet";
const own = "wirelesssensor_events/home=1/month=2026-09/readings.parquet";
const mentioned = "/* wirelesssensor_events */";

/** DuckDB takes these for a SELECT and answers nothing: the kernel lets nothing be written. */
const logging = [mirror, `${mirror}/wirelesssensor_events/home=1`, "/tmp", "."].map(
  (folder) =>
    `SELECT * FROM enable_logging(storage = 'file', storage_path = '${folder}/lintel-written') ${mentioned}`,
);

/** Statements of somebody who tries to read or write more than is his; each is refused. */
const attacks: readonly string[] = [
  `SELECT * FROM read_parquet('${mirror}/${other}')`,
  `SELECT * FROM '${mirror}/${other}'`,
  `SELECT * FROM read_parquet('${mirror}/wirelesssensor_events/home=1/../home=2/*/*.parquet') ${mentioned}`,
  `SELECT * FROM read_parquet('${mirror}/wirelesssensor_events/*/*/*.parquet') ${mentioned}`,
  `SELECT * FROM read_parquet(['${mirror}/${own}', '${mirror}/${other}']) ${mentioned}`,
  `SELECT * FROM parquet_metadata('${mirror}/${other}')`,
  `SELECT * FROM parquet_schema('${mirror}/records/subjects.parquet')`,
  `SELECT * FROM '${mirror}/records/homes.parquet'`,
  `SELECT * FROM glob('${mirror}/*/*/*/*')`,
  `SELECT * FROM glob('/**')`,
  "SELECT * FROM glob('/proc/self/**')",
  `SELECT * FROM read_text('${mirror}/state/home-2.json')`,
  `SELECT * FROM read_blob('${mirror}/lintel.duckdb')`,
  "SELECT * FROM read_text('/etc/passwd')",
  "SELECT * FROM read_csv('/etc/passwd')",
  "SELECT * FROM '/etc/hostname'",
  "SELECT * FROM read_text('/proc/self/environ')",
  "SELECT * FROM read_text('/proc/self/maps')",
  "SELECT * FROM read_text('/proc/1/cmdline')",
  "SELECT * FROM read_text('/dev/stdin')",
  "SELECT * FROM read_text('/sys/fs/cgroup/cgroup.procs')",
  `SELECT * FROM read_text('${import.meta.path}')`,
  `SELECT * FROM read_json('${process.cwd()}/package.json')`,
  "SELECT * FROM read_csv('https://example.org/a.csv')",
  "SELECT * FROM 's3://bucket/a.parquet'",
  "SELECT getenv('NODE_PATH')",
  `ATTACH '${mirror}/lintel.duckdb' AS other`,
  "ATTACH ':memory:' AS other",
  `ATTACH '${directory.path}/data/lintel.db' (TYPE sqlite)`,
  `COPY (SELECT 1) TO '${mirror}/written.csv'`,
  `COPY wirelesssensor_events TO '${mirror}/wirelesssensor_events/home=1/written.parquet'`,
  `EXPORT DATABASE '${mirror}/written'`,
  `CALL enable_logging(storage = 'file', storage_path = '${mirror}/written')`,
  `SELECT * FROM write_log('x')`,
  "PRAGMA enable_profiling",
  `PRAGMA profiling_output = '${mirror}/written'`,
  `SET profiling_output = '${mirror}/written'`,
  "SET enable_external_access = true",
  "RESET enable_external_access",
  "SET lock_configuration = false",
  `SET allowed_directories = ['/']`,
  `SET temp_directory = '${mirror}/written'`,
  "SET memory_limit = '100GB'",
  "SET VARIABLE a = 1",
  "INSTALL httpfs",
  "LOAD httpfs",
  `LOAD '${mirror}/written.duckdb_extension'`,
  "FORCE INSTALL sqlite FROM community",
  "CREATE TABLE t AS SELECT 1",
  "CREATE OR REPLACE VIEW items AS SELECT 1",
  "INSERT INTO items SELECT * FROM items",
  "DROP VIEW wirelesssensor_events",
  "DELETE FROM items",
  "CHECKPOINT",
  "SELECT 1; SELECT 2",
  "SELECT 1; COPY (SELECT 1) TO '/tmp/written.csv'",
  "EXPLAIN ANALYZE SELECT 1",
  "PREPARE p AS SELECT 1",
  "EXECUTE p",
  `SELECT * FROM query('COPY (SELECT 1) TO ''${mirror}/written.csv''')`,
  `SELECT * FROM query_table('${mirror}/${other}')`,
  "SELECT * FROM sniff_csv('/etc/passwd')",
  `SELECT * FROM read_duckdb('${mirror}/lintel.duckdb')`,
  "",
  ";",
  "nonsense",
];

test("nothing is written, and nothing of the machine or of another home is read", async () => {
  const before = filesIn(directory.path);
  const answered: [string, unknown][] = [];
  for (const query of drawn(attacks)) {
    const answer = await ask(query);
    if (!("fault" in answer)) answered.push([query, answer.rows]);
    else if (!query.includes(mirror))
      expect([query, answer.fault]).toEqual([query, expect.not.stringContaining(mirror)]);
  }
  expect(answered).toEqual([]);
  for (const query of logging.slice(0, nightly ? undefined : 1))
    expect([query, await rowsOf(query)]).toEqual([query, []]);
  expect(existsSync("/tmp/lintel-written")).toBe(false);
  expect(filesIn(directory.path)).toEqual(before);
  expect(await rowsOf("SELECT 1")).toEqual([["1"]]);
});

const greedy: readonly [query: string, fault: RegExp][] = [
  ["SELECT count(*) FROM range(1000000000000) a, range(1000000) b", /longer than 10 seconds/],
  ["WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r", /longer|memory/],
  ["SELECT list(a) FROM range(1000000000) t(a)", /longer|memory/],
  ["SELECT repeat('x', 1000000000)", /longer|memory|larger/],
  ["SELECT repeat('x', 1000000) FROM range(100)", /longer|larger than 16 MB/],
];
test.each(nightly ? greedy : greedy.slice(-2))("%s is ended", async (query, fault) => {
  expect(await rowsOf(query)).toMatch(fault);
  expect(sqlWorkersOf(process.pid)).toEqual([]);
});

test("an answer has at most the rows that were asked for, and says that there are more", async () => {
  const answer = await ask("SELECT * FROM range(1000000000000)", { rows_max: 3 });
  expect(answer).toMatchObject({ rows: [["0"], ["1"], ["2"]], more: true });
});

test("a token has one query under way, all have two, and one that goes away leaves no process", async () => {
  const long = "SELECT count(*) FROM range(1000000000000) a, range(1000000) b";
  const gone = new AbortController();
  const asked = Array.from({ length: 20 }, (_, place) =>
    ask(long, { token: `token ${place % 10}`, stop: gone.signal }),
  );
  const refused = await Promise.all(asked.slice(2));
  expect(refused.filter((answer) => "fault" in answer && answer.busy === true)).toHaveLength(18);
  gone.abort();
  expect(await Promise.all(asked.slice(0, 2))).toEqual(Array(2).fill({ fault: "The query was ended." }));
  expect(sqlWorkersOf(process.pid)).toEqual([]);
});

test("however many ask whether queries are answered, one process finds out", async () => {
  const fresh = new SqlDesk({ directory: mirror, duckDb: undefined, clock });
  const asked = Array.from({ length: 20 }, () => fresh.off());
  expect(sqlWorkersOf(process.pid).length).toBeLessThanOrEqual(1);
  expect(new Set(await Promise.all(asked))).toEqual(new Set([undefined]));
});

test("a process that is killed is a fault of its query alone", async () => {
  const answer = ask("SELECT count(*) FROM range(1000000000000) a, range(1000000) b");
  let killed: number | undefined;
  while (killed === undefined) {
    await Bun.sleep(10);
    killed = sqlWorkersOf(process.pid)[0];
  }
  process.kill(killed, "SIGKILL");
  expect(await answer).toEqual({ fault: "DuckDB broke off. Ask in another way." });
  expect(await rowsOf("SELECT 1")).toEqual([["1"]]);
});

/** Each takes a process: by day some of them. */
function drawn<Case>(all: readonly Case[]): readonly Case[] {
  return nightly ? all : all.filter((_, place) => place % 7 === 0);
}

/** Every file below a folder, with a digest of what is in it. */
function filesIn(path: string): string[] {
  return (readdirSync(path, { recursive: true }) as string[])
    .filter((name) => lstatSync(join(path, name)).isFile() && !name.includes("data/"))
    .map(
      (name) =>
        `${name} ${createHash("sha256")
          .update(readFileSync(join(path, name)))
          .digest("hex")}`,
    )
    .sort();
}
