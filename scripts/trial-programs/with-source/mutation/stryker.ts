/** Runs Stryker, which lives with the TypeScript that it needs in a folder that the project does not look into. */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Row } from "./parts.ts";

const root = join(import.meta.dir, "../../../..");
const place = ".bun/mutation";

/** A mutant as Stryker reports it, of the file that it is in. */
export interface Mutant {
  file: string;
  /** Where it begins, counted from 1. */
  line: number;
  /** The changed source and what stands there instead, each in one line. */
  change: string;
  status:
    | "Killed"
    | "Survived"
    | "Timeout"
    | "Ignored"
    | "RuntimeError"
    | "CompileError"
    | "NoCoverage"
    | "Pending";
}

interface Position {
  line: number;
  column: number;
}

interface Report {
  files: Record<
    string,
    {
      source: string;
      mutants: {
        status: Mutant["status"];
        replacement?: string;
        mutatorName: string;
        location: { start: Position; end: Position };
      }[];
    }
  >;
}

/** Longest text of code in a line of a list. */
const code_length_max = 120;

function inOneLine(code: string): string {
  const line = code.replaceAll(/\s+/g, " ").trim();
  return line.length <= code_length_max ? line : `${line.slice(0, code_length_max)}…`;
}

function textBetween(source: string, start: Position, end: Position): string {
  const lines = source.split("\n").slice(start.line - 1, end.line);
  lines[lines.length - 1] = (lines.at(-1) ?? "").slice(0, end.column - 1);
  lines[0] = (lines[0] ?? "").slice(start.column - 1);
  return lines.join("\n");
}

async function run(command: string[], directory: string): Promise<void> {
  const child = Bun.spawn(command, { cwd: directory, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const said = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed:\n${said.join("\n")}`);
}

/** Fetches Stryker as the lock file says, where it is not there yet. */
export async function install(): Promise<void> {
  mkdirSync(join(root, place), { recursive: true });
  for (const file of ["package.json", "bun.lock"])
    copyFileSync(join(import.meta.dir, file), join(root, place, file));
  await run([process.execPath, "install", "--frozen-lockfile"], join(root, place));
}

/** The tests of a row as a command line: whole files first, together, and then the others one by one. */
function commandOf({ tests }: Row): string {
  const whole = tests.filter(({ cases }) => cases === undefined).map(({ file }) => file);
  const runs = tests.flatMap(({ file, cases }) => (cases === undefined ? [] : [`${file} -t '${cases}'`]));
  if (whole.length > 0) runs.unshift(whole.join(" "));
  return runs.map((run) => `${process.execPath} test --bail --timeout 60000 ${run}`).join(" && ");
}

/**
 * Mutates the sources of a row, and has its tests run against each mutant. What an earlier run of the same tests saw killed in
 * code that is the same since is not asked again; what survived is.
 */
export async function mutate(row: Row, fresh: boolean): Promise<Mutant[]> {
  const file = row.name.replaceAll(" ", "-");
  const command = commandOf(row);
  const texts = await Promise.all(row.tests.map((test) => Bun.file(join(root, test.file)).text()));
  const asked = Bun.hash.crc32([command, ...texts].join("\n")).toString(16);
  const seen = join(root, place, `${file}-${asked}.seen.json`);
  const report = join(root, place, `${file}.json`);
  if (existsSync(seen)) {
    const before = (await Bun.file(seen).json()) as Report;
    for (const file of Object.values(before.files))
      file.mutants = fresh ? [] : file.mutants.filter(({ status }) => status === "Killed");
    await Bun.write(seen, JSON.stringify(before));
  }
  const configuration = join(root, place, `${file}.config.json`);
  await Bun.write(
    configuration,
    JSON.stringify({
      testRunner: "command",
      commandRunner: { command },
      mutate: row.sources,
      ignorePatterns: [".bun", ".ci", "clients", "dist", "docs", "packaging", "*.md"],
      plugins: [join(import.meta.dir, "texts-for-people.js")],
      ignorers: ["texts-for-people"],
      tempDirName: `${place}/sandbox`,
      cleanTempDir: "always",
      incremental: true,
      incrementalFile: seen,
      reporters: ["json"],
      jsonReporter: { fileName: report },
      concurrency: 1,
      // Time that the tests take without a mutant is added. A mutant that loops without end is told from a busy machine by far.
      timeoutMS: 5_000,
      timeoutFactor: 4,
      allowEmpty: false,
    }),
  );
  const stryker = join(root, place, "node_modules/@stryker-mutator/core/bin/stryker.js");
  await run([process.execPath, stryker, "run", configuration], root);
  const { files } = (await Bun.file(report).json()) as Report;
  return Object.entries(files).flatMap(([file, { source, mutants }]) =>
    mutants.map(({ location: { start, end }, replacement, mutatorName, status }) => ({
      file,
      line: start.line,
      change: `${inOneLine(textBetween(source, start, end))} → ${inOneLine(replacement ?? mutatorName)}`,
      status,
    })),
  );
}
