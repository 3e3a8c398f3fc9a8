import { resolve } from "node:path";
import type { Command } from "commander";
import { OperatorError } from "../base/errors.ts";
import { certificateIn, isToken, tokenIn } from "../config/server-access.ts";
import { type Downloaded, download } from "../export/download.ts";
import { citationOf } from "../export/package/package-contents.ts";
import { absences } from "../export/standards/write-standard.ts";
import { addHelp, type CommandContext } from "./command.ts";
import {
  type AskedAt,
  addAtOption,
  addFileOptions,
  addIdentifierOptions,
  compared,
  type FileOptions,
  formatOf,
  type IdentifierOptions,
  momentsOf,
  pseudonymsOf,
  requireSameKey,
  spanOf,
  usesOf,
  withAt,
} from "./package-options.ts";
import { downloadMeter, interruptible } from "./progress.ts";
import type { Terminal } from "./terminal.ts";
import { printTable, spanText, type TableColumns } from "./terminal-text.ts";

/** `lintel fetch`: a researcher's download of everything that a token can see. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel fetch --url https://gateway:8080 --token-file token": "everything, as CSV in ./lintel-data",
      "lintel fetch … --format parquet --since 2026-01-01": "this year's, for pandas, R or DuckDB",
      "lintel fetch … --timezone home --since 2026-11-01 --until 2026-12-01": "November as each home had it",
      "lintel fetch … --at ./lintel-data --output again": "the readings of a package again, byte for byte",
      "lintel fetch … --series wirelesssensor_events --items hall-wall,front-door": "two sensors",
    },
    notes: [
      "One file for each series with the readings of all items, and one for each list of records. Stopped or",
      "cut off, the same command goes on where it ended; run again later, it fetches what is new. Each run ends",
      "with every reading once that was there when it began, also those that arrived late: docs/download.md.",
    ],
    exits: {
      1: "--at: not all of those readings are here; the command lists the missing ones",
      2: "refused, unreachable or bad arguments: what was received is kept",
      130: "interrupted",
    },
  });
  addIdentifierOptions(addAtOption(addFileOptions(command)), " (an admin token)")
    .requiredOption(
      "--url <url>",
      "the gateway or central server, as it prints it: https://gateway:8080/v0.9",
    )
    .option(
      "--token <token>",
      "a read token; other users of this machine may see it in the list of processes",
    )
    .option("--token-file <file>", "a file that holds the token")
    .option("--certificate <file>", "the server's own certificate, where no authority vouches for it")
    .option("--output <dir>", "where the files go", "lintel-data")
    .option("--json", "print what was downloaded as JSON")
    .action(async (given: FetchCommandOptions) => {
      const { options, asked } = await withAt(given, command);
      return fetchAll(options, asked, context);
    });
}

interface FetchCommandOptions extends FileOptions, IdentifierOptions {
  readonly url: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly certificate?: string;
  readonly at?: string;
  readonly output: string;
  readonly json?: boolean;
}

async function fetchAll(
  options: FetchCommandOptions,
  asked: AskedAt | undefined,
  context: CommandContext,
): Promise<void> {
  const { terminal, clock } = context;
  const token = tokenOf(options);
  const certificate = options.certificate && certificateIn(options.certificate);
  const pseudonyms = pseudonymsOf(options, context);
  requireSameKey(asked, pseudonyms);
  const { series, items } = options;
  const started_ms = clock.now().monotonic_ms;
  const elapsed_ms = () => clock.now().monotonic_ms - started_ms;
  const interrupted = "Interrupted: what was received is kept, and the same command goes on from there.";
  const done = await interruptible(context, { interrupted }, (stop) =>
    download({
      url: options.url,
      token,
      certificate,
      directory: resolve(options.output),
      ...formatOf(options),
      stamp: options.stamp,
      timezone: options.timezone,
      span: spanOf(options),
      asked: momentsOf(options),
      series,
      items,
      at: asked?.epochs,
      saved: asked?.saved,
      pseudonyms,
      uses: usesOf(options),
      byWhom: "admin",
      clock,
      random: Math.random,
      stop,
      onWarning: (warning) => terminal.say(warning),
      onProgress: downloadMeter(terminal, elapsed_ms, formatOf(options).format),
      onRetry: (reason, delay_ms, left_ms) => {
        const end = new Date(clock.now().unix_ms + left_ms).toTimeString().slice(0, 8);
        const again = `asking again in ${(delay_ms / 1000).toFixed(1)} s`;
        terminal.say(`${reason}: ${again}, and giving up at about ${end}`);
      },
    }),
  );
  if (done === undefined) return;
  const seconds = elapsed_ms() / 1000;
  const again = asked && compared(done, asked);
  if (options.json)
    terminal.printJson({
      ...(({ contents: _, ...told }) => told)(done),
      citation: citationOf(done.contents),
      ...again,
      seconds: Math.round(seconds * 10) / 10,
    });
  else {
    printSummary(done, seconds, terminal);
    for (const line of again?.lines ?? []) terminal.print(line);
  }
  if (again?.same === false) context.exitWith(1);
}

function printSummary(done: Downloaded, seconds: number, terminal: Terminal): void {
  printTable(terminal, columns, Object.entries(done.files));
  terminal.print("");
  terminal.print(
    `${done.received} readings received in ${seconds < 60 ? `${seconds.toFixed(1)} s` : spanText(seconds * 1000)}, everything is in ${done.directory}`,
  );
  if (done.standard !== undefined) {
    printTable(terminal, standardColumns, Object.entries(done.standard.files));
    for (const sentence of absences(done.standard)) terminal.say(sentence);
  }
  const citation = citationOf(done.contents);
  if (citation !== undefined) terminal.print(`To cite it: ${citation}`);
  if (done.absent.length > 0) terminal.say(`This server has no list of: ${done.absent.join(", ")}.`);
}

const standardColumns: TableColumns<[path: string, lines: number]> = {
  file: ([path]) => path,
  lines: ([, lines]) => lines,
};

const columns: TableColumns<[name: string, file: Downloaded["files"][string]]> = {
  file: ([name]) => name,
  rows: ([, { rows }]) => rows,
  state: ([, { written }]) => (written ? "written" : "unchanged"),
};

function tokenOf({ token, tokenFile }: FetchCommandOptions): string {
  if ((token === undefined) === (tokenFile === undefined))
    throw new OperatorError("a token is needed, once", "give --token TOKEN or --token-file FILE");
  if (tokenFile !== undefined) return tokenIn(tokenFile, "`lintel token create` printed");
  const text = token?.trim() ?? "";
  if (isToken(text)) return text;
  throw new OperatorError("--token has no token", "give the text that `lintel token create` printed");
}
