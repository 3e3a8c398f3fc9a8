import { SystemClock } from "../../../../src/base/clock.ts";
import { type Log, lineLog } from "../../../../src/base/log.ts";
import type { Disks } from "./disk.ts";
import type { SimulatedHome } from "./home.ts";
import { Broken } from "./judge.ts";
import type { World } from "./world.ts";

/** The result of a life: `broken` is what never may be, with the time and step at which it was seen. */
export interface Lived {
  readonly broken?: string;
  /** Counts of what was done and seen. */
  readonly counts: Readonly<Record<string, number>>;
  /** A hash over all that happened: the same for the same plan. */
  readonly digest: string;
}

/** Lines of the events of a life, and how often each thing was done. */
export class Diary {
  readonly counts: Record<string, number> = {};
  readonly #world: World;
  /** Other lives of the process had disks before, with other numbers. */
  readonly #disks: RegExp;
  readonly #trace: ((line: string) => void) | undefined;
  #hash = 0n;
  #failure: unknown;

  /** @param trace called with each line */
  constructor(world: World, disks: Disks, trace?: (line: string) => void) {
    this.#world = world;
    this.#disks = new RegExp(`${RegExp.escape(disks.root)}(/[0-9]+)?`, "g");
    this.#trace = trace;
  }

  say(line: string): void {
    const told = `${new Date(this.#world.now_ms).toISOString()} ${line.replaceAll(this.#disks, "disk")}`;
    this.#hash = Bun.hash.xxHash64(told, this.#hash);
    this.#trace?.(told);
  }

  count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  /** Something went wrong beside the steps: `requireNoFailure` tells. */
  fail(thrown: unknown): void {
    this.#failure ??= thrown;
  }

  requireNoFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  get #digest(): string {
    return this.#hash.toString(16).padStart(16, "0");
  }

  /** The log of a life's programs, without the time of this machine. */
  log(take: (line: string) => void = (line) => this.say(line)): Log {
    const write = (line: string) => take(line.slice(25).trimEnd());
    return lineLog({ write, clock: new SystemClock(), least: "info" });
  }

  /** Lives a life to its end. What ends it before is broken, in the program or in the simulation. */
  async of(life: { run(): Promise<void>; lived?(): Lived["counts"]; end(): Promise<void> }): Promise<Lived> {
    const lived = () => ({ counts: { ...this.counts, ...life.lived?.() }, digest: this.#digest });
    try {
      await life.run();
      return lived();
    } catch (thrown) {
      const broken =
        thrown instanceof Broken ? thrown.message : `the simulation failed: ${(thrown as Error).stack}`;
      return { ...lived(), broken };
    } finally {
      await life.end();
    }
  }
}

/** Counts of readings that homes have recorded and uploaded. */
export function countsOf(homes: readonly SimulatedHome[]): Lived["counts"] {
  const sum = (of: (home: SimulatedHome) => number) => homes.reduce((total, home) => total + of(home), 0);
  return {
    readings: sum(({ happened }) => happened.length),
    uploads: sum(({ uploads }) => uploads.done),
    "failed uploads": sum(({ uploads }) => uploads.failed.length),
    sent: sum(({ uploads }) => uploads.sent),
    pruned: sum(({ uploads }) => uploads.pruned),
    repaired: sum(({ uploads }) => uploads.repaired),
  };
}
