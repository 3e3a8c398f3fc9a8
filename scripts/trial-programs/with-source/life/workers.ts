import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { ConsentSize } from "./consent/plan.ts";
import type { Lived } from "./diary.ts";

/** A life to live: that of a seed, or of some of its steps, by their places in its plan. */
export interface Job {
  readonly seed: number;
  /** A life of so many days of a home from the bytes of its devices; absent: one of homes and their central. */
  readonly devices_days?: number;
  /** A life in which people ask that nothing is recorded. */
  readonly consent?: ConsentSize;
  readonly keep?: readonly number[];
  readonly trace?: boolean;
}

/** Where lives are lived: the shim that is preloaded, and a directory for their disks, in memory where there is such a place. */
export class Ground implements Disposable {
  readonly directory = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "lintel-life-"));
  readonly library = join(this.directory, "disk.so");

  /** Compiles the shim. @throws where there is no C compiler, or it refuses */
  constructor() {
    const made = Bun.spawnSync(
      ["cc", "-shared", "-fPIC", "-O2", "-o", `${this.library}.new`, sourceOfDisk, "-ldl"],
      {
        stderr: "pipe",
      },
    );
    if (made.exitCode !== 0) {
      this[Symbol.dispose]();
      throw new Error(`the simulated disk could not be compiled: ${made.stderr.toString().trim()}`);
    }
    renameSync(`${this.library}.new`, this.library);
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** A process that lives one life after the other. */
export class LifeWorker {
  readonly #ground: Ground;
  readonly #program: string;
  readonly #disks: string;
  #process: Process | undefined;
  #lines: AsyncIterator<string> | undefined;

  /** @param program the worker.ts that is run: of this checkout, or of a copy with a fault in it */
  constructor(ground: Ground, program = join(import.meta.dir, "worker.ts")) {
    this.#ground = ground;
    this.#program = program;
    this.#disks = mkdtempSync(join(ground.directory, "worker-"));
  }

  /** Lives a life. One that does not end in time, or ends the process, is broken too. */
  async live(job: Job, onTrace: (line: string) => void = () => undefined): Promise<Lived> {
    const lines = this.#start();
    (this.#process as Process).stdin.write(`${JSON.stringify(job)}\n`);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.#process?.kill("SIGKILL");
    }, life_ms_max);
    try {
      for (;;) {
        const { value, done } = await lines.next();
        if (done) break;
        const told = JSON.parse(value) as { trace?: string; lived?: Lived };
        if (told.lived !== undefined) return told.lived;
        onTrace(told.trace ?? "");
      }
    } finally {
      clearTimeout(timer);
    }
    await this.end();
    const broken = late ? `it does not end within ${life_ms_max / 1_000} s` : processEnded;
    return { broken, counts: {}, digest: "" };
  }

  async end(): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    process?.kill("SIGKILL");
    await process?.exited;
    rmSync(this.#disks, { recursive: true, force: true });
  }

  #start(): AsyncIterator<string> {
    if (this.#process !== undefined && this.#lines !== undefined) return this.#lines;
    mkdirSync(this.#disks, { recursive: true });
    this.#process = Bun.spawn([process.execPath, this.#program, this.#ground.library, this.#disks], {
      env: { ...process.env, LD_PRELOAD: this.#ground.library },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    const input = Readable.fromWeb(this.#process.stdout as never);
    this.#lines = createInterface({ input })[Symbol.asyncIterator]();
    return this.#lines;
  }
}

/** Said of a life whose process ended by itself. */
export const processEnded = "its process ended";

type Process = Bun.Subprocess<"pipe", "pipe", "inherit">;

const sourceOfDisk = join(import.meta.dir, "disk.c");
/** A life of homes takes a second or two, one of devices a minute. */
const life_ms_max = 7_200_000;
