import pc from "picocolors";
import { plainJson, plainLine } from "../base/text.ts";

/**
 * Standard output and error as the commands use them: coloured on a terminal, plain in a pipe. What is put there may quote anybody, so
 * of all that acts on a terminal only our own colours get through.
 */
export interface Terminal {
  /** One line of the answer, on standard output. */
  print(line: string): void;
  /** One value as a line of JSON, on standard output. */
  printJson(value: unknown): void;
  /** One line on standard error: progress, warnings, hints. */
  say(line: string): void;
  /**
   * Text that replaces itself at the foot of standard error; shown on a terminal only. The empty string takes
   * it away.
   */
  progress(text: string): void;
  /** One line of a log on standard error, with its end. */
  log(line: string): void;
  /** Columns of standard output where somebody sits at it; undefined in a pipe, where lines are as long as they are. */
  readonly width: number | undefined;
  /** Lines of the same; undefined in a pipe. */
  readonly rows: number | undefined;
  /** Whether text at the foot of standard error can replace itself: not in a pipe, nor on a dumb terminal. */
  readonly redraws: boolean;
  /** Columns of standard error that text at its foot may take. */
  readonly columns: number;
  readonly colours: Colours;
  readonly errorColours: Colours;
  /** Resolves when all that was printed has been handed to the system. */
  flushed(): Promise<void>;
}

/** Where a process prints, and what says how. */
export type Outputs = Pick<NodeJS.Process, "stdout" | "stderr" | "env">;

export type Colours = ReturnType<typeof pc.createColors>;

/** The terminal of this process. A reader that goes away ends the process quietly, as it does `cat`. */
export function processTerminal({ stdout, stderr, env }: Outputs = process): Terminal {
  let gone = false;
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    if (gone) return;
    gone = true;
    // A server stops cleanly, as it does on a signal; a command has nothing left to do.
    if (process.listenerCount("SIGTERM") > 0) process.kill(process.pid, "SIGTERM");
    else process.exit(0);
  });
  stderr.on("error", (error: NodeJS.ErrnoException) => {
    // The reader of the log has gone. The process goes on.
    if (error.code !== "EPIPE") throw error;
  });
  // Bun's streams report the end of each write, and not the end of all.
  const writing = new Set<Promise<void>>();
  const write = (stream: NodeJS.WriteStream, text: string) => {
    const taken: Promise<void> = new Promise<void>((done) => stream.write(text, () => done())).then(() => {
      writing.delete(taken);
    });
    writing.add(taken);
  };
  const onOutput = { coloured: coloured(stdout, env) };
  const onError = { coloured: coloured(stderr, env) };
  const redraws = stderr.isTTY === true && env["TERM"] !== "dumb";
  const footColumns = () => Math.max(10, (stderr.columns || 80) - 1);
  let foot = "";
  // A line written over the foot would leave its tail behind: clear, write, draw the foot again.
  const above = (stream: NodeJS.WriteStream, text: string) => {
    if (foot !== "") write(stderr, clearLine);
    write(stream, text);
    if (foot !== "") write(stderr, foot);
  };
  return {
    print: (line) => above(stdout, `${shownLine(line, onOutput)}\n`),
    printJson: (value) => above(stdout, `${plainJson(value)}\n`),
    say: (line) => above(stderr, `${shownLine(line, onError)}\n`),
    log: (line) => above(stderr, `${shownLine(line.trimEnd(), onError)}\n`),
    progress: (words) => {
      const text = shownLine(words, onError);
      if (!redraws || text === foot) return;
      const width_max = footColumns();
      if (foot !== "") write(stderr, clearLine);
      foot = Bun.stringWidth(text) > width_max ? text.slice(0, width_max) : text;
      write(stderr, foot);
    },
    get width() {
      return stdout.isTTY === true ? stdout.columns || 80 : undefined;
    },
    get rows() {
      return stdout.isTTY === true ? stdout.rows || 24 : undefined;
    },
    redraws,
    get columns() {
      return footColumns();
    },
    colours: pc.createColors(onOutput.coloured),
    errorColours: pc.createColors(onError.coloured),
    flushed: async () => {
      await Promise.all(writing);
    },
  };
}

/** Whether a stream gets colours. NO_COLOR and FORCE_COLOR win over the kind of stream; see no-color.org and force-color.org. */
export function coloured(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (env["NO_COLOR"]) return false;
  if (env["FORCE_COLOR"]) return env["FORCE_COLOR"] !== "0";
  return stream.isTTY === true && env["TERM"] !== "dumb";
}

/** A line without anything that acts on a terminal, but for the colours of this program where it is coloured. */
export function shownLine(line: string, { coloured }: { coloured: boolean }): string {
  if (!coloured) return plainLine(line);
  return line
    .split(ownColours)
    .map((part, at) => (at % 2 === 0 ? plainLine(part) : part))
    .join("");
}

/** The end of all, bold, dim, the end of both, black, red, green, yellow, cyan, their end, a white ground, and its end. */
const ownColours = new RegExp(`(${"\u001b"}\\[(?:0|1|2|22|30|31|32|33|36|39|47|49)m)`);
const clearLine = "\r\u001b[2K";
