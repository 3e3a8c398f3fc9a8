import { dlopen, ptr } from "bun:ffi";
import { closeSync, constants, openSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

/*
 * A program of its own, which answers one query by DuckDB and ends. It is started twice as the same process: first it takes from itself every file but some folders, and
 * all that writes or connects; then it becomes itself again, so that this holds for each of its threads before DuckDB is loaded. It imports nothing but Bun's own: other
 * folders of the program are closed to it too.
 *
 * Its words: the main file of DuckDB's package, and the folders that it may read. On standard input: a `SqlJob` as JSON. Out, in lines of JSON: that it begins with the query, names of columns, rows, and a `SqlEnd`. Exit code 3: the kernel cannot restrict it.
 */

export interface SqlJob {
  readonly query: string;
  /** That DuckDB may read. */
  readonly folders: readonly string[];
  /** Statements that make the views of what is in them. */
  readonly views: string;
  /** Tables in memory: of each the types of its columns. */
  readonly lists: readonly {
    readonly name: string;
    readonly types: Readonly<Record<string, string>>;
    readonly rows: readonly object[];
  }[];
  readonly rows_max: number;
  /** For DuckDB: `256MB`. */
  readonly memory: string;
}

export interface SqlEnd {
  /** Why there is no answer, in DuckDB's words. */
  readonly fault?: string;
  /** There are more rows. */
  readonly more?: boolean;
}

async function answer({ query, folders, views, lists, rows_max, memory }: SqlJob): Promise<SqlEnd> {
  const { DuckDBInstance, StatementType } = createRequire(import.meta.url)(duckDb);
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
  const instance = await DuckDBInstance.create(":memory:", {
    ...{ threads: "2", memory_limit: memory, temp_directory: "" },
    ...{ autoinstall_known_extensions: "false", autoload_known_extensions: "false" },
  });
  const connection = await instance.connect();
  for (const { name, types, rows } of lists)
    await connection.run(
      `CREATE TABLE "${name}" AS SELECT unnest(from_json($1::JSON, ${quoted(JSON.stringify([types]))}), recursive := true)`,
      [JSON.stringify(rows)],
    );
  await connection.run(
    `SET TimeZone = 'UTC'; SET allowed_directories = [${folders.map(quoted)}]; SET enable_external_access = false; SET lock_configuration = true; ${views}`,
  );
  print("ready");
  const statements = await connection.extractStatements(query);
  const prepared = statements.count === 1 ? await statements.prepare(0) : undefined;
  if (prepared?.statementType !== StatementType.SELECT) return { fault: "Only one SELECT is answered." };
  const result = await prepared.stream();
  print(result.deduplicatedColumnNames());
  let count = 0;
  for await (const rows of result.yieldRows()) {
    const shown = rows.slice(0, rows_max - count);
    count += shown.length;
    print(...shown.map((row: unknown[]) => row.map((value) => (value === null ? null : String(value)))));
    if (shown.length < rows.length) return { more: true };
  }
  return {};
}

function print(...lines: readonly unknown[]): void {
  writeFileSync(1, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

/** Becomes this program anew, which can read some folders, and do nothing else to the machine: landlock(7) and linux/landlock.h, whose numbers all architectures share. */
function restrict(folders: readonly string[]): void {
  // The machine is to end this process, and not its parent, where memory runs out; and the parent's end is to be its own.
  writeFileSync("/proc/self/oom_score_adj", "1000");
  const { symbols: libc } = dlopen("libc.so.6", {
    syscall: { args: ["i64", "u64", "u64", "u64", "u64"], returns: "i64" },
    prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
    execve: { args: ["ptr", "ptr", "ptr"], returns: "i32" },
  });
  const call = (number: number, first: number, second = 0, third = 0, fourth = 0) =>
    Number(libc.syscall(number, first, second, third, fourth));
  const version = call(landlock.create_ruleset, 0, 0, 1);
  if (version < 1) return;
  const since = (first: number, bits: number) => (version >= first ? bits : 0);
  const files = 0x1fff | since(2, 1 << 13) | since(3, 1 << 14) | since(5, 1 << 15);
  const handled = new BigUint64Array([BigInt(files), BigInt(since(4, 0b11)), BigInt(since(6, 0b11))]);
  const ruleset = call(landlock.create_ruleset, ptr(handled), 8 + since(4, 8) + since(6, 8));
  const allow = (path: string, rights: number) => {
    const place = statSync(path, { throwIfNoEntry: false });
    if (place === undefined) return true;
    const opened = openSync(path, constants.O_RDONLY);
    const rule = new DataView(new ArrayBuffer(12));
    rule.setBigUint64(0, BigInt(place.isDirectory() ? rights | may.list : rights), true);
    rule.setInt32(8, opened, true);
    const added = call(landlock.add_rule, ruleset, 1, ptr(new Uint8Array(rule.buffer)));
    closeSync(opened);
    return added === 0;
  };
  const areAllowed =
    [...folders, import.meta.dir].every((path) => allow(path, may.read)) &&
    [...machine, process.execPath].every((path) => allow(path, may.read | may.execute));
  if (!areAllowed || libc.prctl(prctl.parent_death_signal, 9, 0, 0, 0) !== 0) return;
  if (libc.prctl(prctl.no_new_privileges, 1, 0, 0, 0) !== 0) return;
  if (call(landlock.restrict_self, ruleset) !== 0) return;
  const texts = (all: readonly string[]) => {
    const held = all.map((text) => Buffer.from(`${text}\0`));
    return { held, list: new BigUint64Array([...held.map((text) => BigInt(ptr(text))), 0n]) };
  };
  const words = texts([process.execPath, ...process.execArgv, import.meta.path, duckDb]);
  const environment = texts(
    Object.entries({ ...process.env, [restricted]: "yes" }).map(([name, value]) => `${name}=${value}`),
  );
  libc.execve(ptr(words.held[0] as Buffer), ptr(words.list), ptr(environment.list));
}

function isRestricted(): boolean {
  try {
    readdirSync("/");
    return false;
  } catch {
    return true;
  }
}

const restricted = "LINTEL_SQL_RESTRICTED";
const landlock = { create_ruleset: 444, add_rule: 445, restrict_self: 446 } as const;
const prctl = { parent_death_signal: 1, no_new_privileges: 38 } as const;
const may = { execute: 1, read: 4, list: 8 } as const;
/** Places that the loader of programs, Bun and DuckDB read of the machine as they start. */
const machine = [
  ...["/lib", "/lib64", "/usr/lib", "/etc/ld.so.cache", "/dev/null"],
  ...["/proc/self/maps", "/proc/self/cgroup", "/sys/fs/cgroup"],
];
const exit_unrestricted = 3;

const [duckDb = "", ...folders] = process.argv.slice(2);
if (process.env[restricted] === undefined) restrict(folders);
// The restriction is there, or there is no answer.
if (process.env[restricted] === undefined || !isRestricted()) process.exit(exit_unrestricted);
const job: SqlJob = JSON.parse(await Bun.stdin.text());
print(await answer(job).catch((thrown: Error): SqlEnd => ({ fault: thrown.message })));
process.exit(0);
