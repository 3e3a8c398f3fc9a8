import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { TObject } from "@sinclair/typebox";
import { type Clock, repeat } from "../../base/clock.ts";
import { Place, placesPath } from "../../domain/derived/places.ts";
import { seriesNames, seriesOf } from "../../domain/series.ts";
import { query_max, type SqlAnswer, type SqlTable } from "../../domain/sql-answer.ts";
import { type InterfaceReader, type ListRecord, pagesOf } from "../answers.ts";
import { columnsOfSchema, type FileCell, type FileColumn, type FileColumnType, rowOf } from "../columns.ts";
import { derivedTables, measuredHomes, placesList, placesTable } from "../derived-tables.ts";
import { coverageList, recordLists, recordsOf } from "../tables.ts";
import { duckDbFile } from "./duckdb.ts";
import { columnsOf, foldersOf, partitioned, viewsOf } from "./mirror-files.ts";
import type { SqlEnd, SqlJob } from "./sql-worker.ts";

/** A query, and what whoever asks may see. */
export interface SqlQuestion {
  readonly query: string;
  /** The token that asks: of each one query is under way. */
  readonly token: string;
  /** Absent: all. */
  readonly homes: readonly number[] | undefined;
  /** The interface over what the token sees: the lists of records are those that it answers now. */
  readonly answers: InterfaceReader;
  readonly rows_max: number;
  /** Ends the query. */
  readonly stop: AbortSignal;
}

/**
 * Answers SQL over a mirror. Each query has a process of its own (sql-worker.ts), which may read the folders of the homes that the token sees, and nothing else; it has a time, some memory and a
 * number of rows. Lists of records are not read from the mirror, whose files have all homes: the process is given the token's own.
 */
export class SqlDesk {
  readonly #options: SqlDeskOptions;
  /** The processes at work, by token. */
  readonly #running = new Map<string, AbortController>();
  /** The answer of `off`, once it was asked. */
  #tried: Promise<string | undefined> | undefined;

  constructor(options: SqlDeskOptions) {
    this.#options = options;
  }

  /** Why no query is answered here at all; undefined where they are. */
  off(): Promise<string | undefined> {
    // One process for all who ask meanwhile.
    this.#tried ??= this.#try();
    return this.#tried;
  }

  async #try(): Promise<string | undefined> {
    const nothing = { folders: [], views: "", lists: [], memory, rows_max: 1 };
    const answer = await this.#run({ query: "SELECT 1", ...nothing }, new AbortController().signal);
    if (!("fault" in answer)) return undefined;
    // What is missing may come.
    this.#tried = undefined;
    return answer.fault;
  }

  async ask(question: SqlQuestion): Promise<SqlAnswer> {
    const off = await this.off();
    if (off !== undefined) return { fault: off };
    const { token, query, stop } = question;
    if (query.length > query_max) return { fault: `A query has at most ${query_max} characters.` };
    if (this.#running.has(token))
      return { fault: "The query before this one is still under way. Wait for its end.", busy: true };
    if (this.#running.size >= queries_max)
      return { fault: "Other people's queries are under way. Try again in some seconds.", busy: true };
    const ending = new AbortController();
    this.#running.set(token, ending);
    try {
      const { directory } = this.#options;
      const named = (name: string) => query.toLowerCase().includes(name);
      const folders = new Map(
        partitioned
          .filter(named)
          .map((table) => [table, foldersOf(directory, table, question.homes)] as const),
      );
      const lists = await listsOf(question.answers, named);
      return await this.#run(
        {
          ...{ query, lists, memory, rows_max: question.rows_max },
          folders: [...folders.values()].flat(),
          views: viewsOf(directory, folders),
        },
        AbortSignal.any([stop, ending.signal]),
      );
    } finally {
      this.#running.delete(token);
    }
  }

  /** Ends what is under way. */
  stop(): void {
    for (const ending of this.#running.values()) ending.abort();
  }

  async #run(job: SqlJob, stop: AbortSignal): Promise<SqlAnswer> {
    const { clock, directory, duckDb } = this.#options;
    const file = duckDbFile(duckDb);
    if (typeof file === "string") return { fault: file };
    // Its package, and those that it needs, stand beside each other.
    const packages = file.path.slice(0, file.path.lastIndexOf("/node_modules/") + "/node_modules".length);
    const begun_ms = clock.now().monotonic_ms;
    const child = Bun.spawn([process.execPath, ...bunOptions, worker, file.path, packages, ...job.folders], {
      ...{ cwd: "/", stdout: "pipe", stderr: "ignore", stdin: Buffer.from(JSON.stringify(job)) },
      env: { NODE_PATH: packages },
    });
    let ended: string | undefined;
    const end = (why: string) => {
      ended ??= why;
      child.kill("SIGKILL");
    };
    const onStop = () => end("The query was ended.");
    stop.addEventListener("abort", onStop);
    if (stop.aborted) onStop();
    // A busy machine may take a while to start it: that is not the query's time.
    let cancel = clock.after(start_max_ms, () => end("The machine is too busy. Try again in a while."));
    const onReady = () => {
      cancel();
      cancel = clock.after(time_max_ms, () => end(tooLong));
    };
    const cancelWatch = repeat(clock, watch_interval_ms, () => {
      if (residentBytes(child.pid) > resident_bytes_max) end(tooMuchMemory);
    });
    try {
      const lines = await linesOf(child.stdout, onReady, () => end(tooLarge));
      const code = await child.exited;
      if (ended !== undefined) return { fault: ended };
      if (code === exit_unrestricted) return { fault: unrestricted };
      const last = lines.at(-1) as SqlEnd | undefined;
      if (code !== 0 || last === undefined) return { fault: "DuckDB broke off. Ask in another way." };
      if (last.fault !== undefined) return { fault: plainWords(last.fault, directory) };
      return {
        columns: lines[1] as string[],
        rows: lines.slice(2, -1) as (string | null)[][],
        more: last.more === true,
        took_ms: clock.now().monotonic_ms - begun_ms,
      };
    } finally {
      cancel();
      cancelWatch();
      stop.removeEventListener("abort", onStop);
      child.kill("SIGKILL");
      await child.exited;
    }
  }
}

interface SqlDeskOptions {
  /** Of the mirror, absolute. */
  readonly directory: string;
  /** The folder in which DuckDB's package was installed; absent: beside this program. */
  readonly duckDb: string | undefined;
  readonly clock: Clock;
}

/** Every table, in the order in which people look for them. */
export const sqlTables: readonly SqlTable[] = [
  ...([...seriesNames, coverageList] as const).map((name) => {
    const title = name === coverageList ? "When each item was listened to and alive" : seriesOf(name).title;
    const example = `SELECT home, month, count(*) AS rows\nFROM ${name}\nGROUP BY ALL ORDER BY ALL`;
    return tableOf({ name, title, columns: columnsOf(name) }, example);
  }),
  ...derivedTables.map((table) => tableOf(table)),
  ...recordLists.map(({ name, title, schema }) => tableOf({ name, title, columns: columnsOfSchema(schema) })),
  tableOf(placesTable),
];

function tableOf(
  { name, title, columns }: Omit<SqlTable, "example">,
  example = `SELECT * FROM ${name} LIMIT 20`,
): SqlTable {
  return {
    name,
    title,
    example,
    columns: columns.map(({ name, meaning, unit }) => ({ name, meaning, unit })),
  };
}

/** The lists that a query names, as the interface answers them now. */
async function listsOf(answers: InterfaceReader, named: (name: string) => boolean): Promise<SqlJob["lists"]> {
  const lists: SqlJob["lists"][number][] = [];
  const add = async (name: string, schema: TObject, pages: AsyncIterable<readonly ListRecord[]>) => {
    const columns = columnsOfSchema(schema);
    const rows: object[] = [];
    for await (const page of pages)
      for (const record of page) {
        const cells = rowOf(schema, record);
        rows.push(Object.fromEntries(columns.map((one, at) => [one.name, cellOf(one, cells[at] ?? null)])));
      }
    const types = Object.fromEntries(columns.map((one) => [one.name, duckDbTypes[one.type]]));
    lists.push({ name, types, rows });
  };
  for (const list of recordLists)
    if (named(list.name)) await add(list.name, list.schema, recordsOf(answers, list));
  if (named(placesList)) await add(placesList, Place, placesOf(answers));
  return lists;
}

async function* placesOf(answers: InterfaceReader): AsyncGenerator<readonly ListRecord[]> {
  for (const home of await measuredHomes(answers, [], undefined))
    yield* pagesOf(answers, placesPath(home), Place);
}

function cellOf({ type }: FileColumn, cell: FileCell): FileCell {
  return type === "moment" && typeof cell === "number" ? new Date(cell).toISOString() : cell;
}

/** As a Parquet file of the mirror has them. */
const duckDbTypes: Readonly<Record<FileColumnType, string>> = {
  text: "VARCHAR",
  integer: "BIGINT",
  real: "DOUBLE",
  boolean: "BOOLEAN",
  moment: "TIMESTAMPTZ",
  date: "DATE",
};

/** A fault of DuckDB for somebody who wrote a query, and has no files. */
function plainWords(fault: string, directory: string): string {
  if (fault.startsWith("Permission Error"))
    return "A query reads the tables of this page, and no files or settings.";
  if (fault.startsWith("Out of Memory")) return tooMuchMemory;
  const [, unknown] = /^Catalog Error: Table with name (\S+) does not exist/.exec(fault) ?? [];
  if (unknown !== undefined) return `There is no table ${unknown}. This page lists the tables.`;
  return fault.replaceAll(`${directory}/`, "").replace(/^[\w ]+ Error: /, "");
}

/** Lines of JSON, up to a number of bytes. */
async function linesOf(
  stream: ReadableStream<Uint8Array>,
  onFirst: () => void,
  onTooLong: () => void,
): Promise<unknown[]> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of stream) {
    if (bytes === 0) onFirst();
    bytes += part.length;
    if (bytes > answer_bytes_max) {
      onTooLong();
      return [];
    }
    parts.push(part);
  }
  const text = Buffer.concat(parts).toString();
  // The last line of a process that was ended may be a part of one.
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** Memory of a process that is there; 0 of any other. */
function residentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

const worker = fileURLToPath(new URL("./sql-worker", import.meta.url));
/** As scripts/launch.sh has them: nothing is taken from where somebody stands. */
const bunOptions = ["--config=/dev/null", "--no-env-file", "--no-install"];
const exit_unrestricted = 3;
const unrestricted =
  "The kernel of this machine cannot close its files to a query (Landlock, from Linux 5.13 on, is not there or is switched off). So there is no SQL here.";

/** Of DuckDB; the whole process may have some more. */
const memory = "256MB";
const resident_bytes_max = 600 * 1024 * 1024;
const tooMuchMemory = "The query takes more memory than it may have. Ask for fewer homes, months or rows.";
const watch_interval_ms = 50;
const start_max_ms = 60_000;
const time_max_ms = 10_000;
const tooLong = `The query took longer than ${time_max_ms / 1000} seconds, and was ended. Ask for fewer homes or months.`;
const answer_bytes_max = 16 * 1024 * 1024;
const tooLarge = "The answer is larger than 16 MB. Ask for fewer rows.";
/** At once, of all tokens. */
const queries_max = 2;
