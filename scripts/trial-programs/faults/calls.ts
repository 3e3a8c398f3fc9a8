import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, lintel } from "../../../testbed/front-door.ts";

/** Kinds of system calls, and how each may fail: see nth.c. EINTR only where the kernel may give it. */
export const faultsOf = {
  write: ["EIO", "ENOSPC", "EINTR", "short"],
  sync: ["EIO", "ENOSPC", "EINTR"],
  open: ["EIO", "ENOSPC", "EINTR"],
  read: ["EIO", "EINTR", "short"],
  rename: ["EIO", "ENOSPC"],
  unlink: ["EIO"],
  mkdir: ["EIO", "ENOSPC"],
  truncate: ["EIO", "EINTR"],
} as const;

/** A fault that a program is given: its Nth call of a kind below a directory fails. */
export interface Fault {
  readonly call: keyof typeof faultsOf;
  readonly error: string;
  /** From 1. */
  readonly nth: number;
}

/** How many such calls there were, and the path at which it was given; no path: there were fewer calls. */
export interface Given {
  readonly calls: number;
  readonly path: string | undefined;
}

/** The program that has a call of another one fail, compiled. */
export class Nth implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), "lintel-nth-"));
  readonly #program = join(this.directory, "nth");
  #reports = 0;

  /** @throws where there is no C compiler, or it refuses */
  constructor() {
    const { exitCode, stderr } = Bun.spawnSync(["cc", "-O2", "-o", this.#program, source], {
      stderr: "pipe",
    });
    if (exitCode === 0) return;
    this[Symbol.dispose]();
    throw new Error(`nth.c could not be compiled: ${stderr.toString().trim()}`);
  }

  /** The words before a command that has it run with a fault below a directory, and what will have become of it once all its processes have ended. */
  around(directory: string, { call, error, nth }: Fault): { words: string[]; given: () => Promise<Given> } {
    this.#reports += 1;
    const report = join(this.directory, String(this.#reports));
    const given = async () => {
      await eventually(() => existsSync(report) || undefined, "the report of a fault");
      const [, calls, path] = /^(\d+) (.*)\n$/.exec(readFileSync(report, "utf8")) ?? [];
      rmSync(report);
      return { calls: Number(calls), path: path === "" ? undefined : path };
    };
    return { words: [this.#program, call, error, String(nth), report, directory], given };
  }

  /** The words before a command that has what it does to a directory recorded into a file, which is whole once `done` resolves. */
  recorded(directory: string, into: string): { program: readonly string[]; done: () => Promise<void> } {
    const done = async () => {
      await eventually(() => existsSync(into) || undefined, "a recording");
    };
    return { program: [this.#program, "record", "-", "0", into, directory, lintel], done };
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

const source = join(import.meta.dir, "nth.c");
