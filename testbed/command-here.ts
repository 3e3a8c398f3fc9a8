import { Writable } from "node:stream";
import { runCommandLine } from "../src/cli/command-line.ts";
import { processTerminal } from "../src/cli/terminal.ts";
import type { Ended } from "./front-door.ts";

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs `lintel` with these words in this process, with its output in pipes: for what a test needs beside its subject, and for further
 * cases of a command that some test starts as a process, which takes ten times the processor's time. No command is a server, nor
 * `fetch` or `export`, which may make a key in the home directory. One runs after another, because the directory and the mask of
 * new files are the whole process's.
 */
export function lintelHere(words: readonly string[], directory = process.cwd()): Promise<Ended> {
  const run = last.then(() => ranHere(words, directory));
  last = run.catch(() => {});
  return run;
}

async function ranHere(words: readonly string[], directory: string): Promise<Ended> {
  const [out, said] = [new Reader(), new Reader()];
  const terminal = processTerminal({ stdout: out as never, stderr: said as never, env: {} });
  const [mask, before] = [process.umask(), process.cwd()];
  try {
    process.chdir(directory);
    const code = await runCommandLine(words, terminal);
    await terminal.flushed();
    return { code, out: out.text.replace(/\n$/, ""), said: said.text };
  } finally {
    process.chdir(before);
    process.umask(mask);
  }
}

/** A pipe, and who reads it. */
class Reader extends Writable {
  text = "";

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
