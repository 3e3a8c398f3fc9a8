import { readFileSync } from "node:fs";

/** Memory of a process in MB of a million bytes. */
export interface Memory {
  /** Resident, with what it shares. */
  readonly rss_mb: number;
  /** Its own alone: what would come free if it ended. */
  readonly private_mb: number;
}

/** From `/proc/PID/smaps_rollup`, proc(5). */
export function memoryOf(pid: number): Memory {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const mb = (name: string) =>
    (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(rollup)?.[1]) * 1024) / 1e6;
  return { rss_mb: mb("Rss"), private_mb: mb("Private_Clean") + mb("Private_Dirty") };
}

/** Memory at the start and after each day of a run. */
export class Samples {
  readonly #days: Memory[] = [];

  constructor(readonly name: string) {}

  take(pid: number): void {
    this.#days.push(memoryOf(pid));
  }

  /** Resident in the last quarter of the run, MB: what a month comes to. */
  get settled_mb(): number {
    return this.#median(0.75, 1);
  }

  /** How much the last quarter has above the quarter before, MB. */
  get growth_mb(): number {
    return this.settled_mb - this.#median(0.5, 0.75);
  }

  print(): void {
    const last = this.#days.length - 1;
    for (const [when, at] of [
      ["at the start", 0],
      ["after a quarter", Math.round(last / 4)],
      ["after half", Math.round(last / 2)],
      ["at the end", last],
    ] as const) {
      const { rss_mb, private_mb } = this.#days[at] ?? { rss_mb: Number.NaN, private_mb: Number.NaN };
      console.log(
        `${this.name}, ${when}: ${rss_mb.toFixed(1)} MB resident, ${private_mb.toFixed(1)} MB its own`,
      );
    }
    const most = Math.max(...this.#days.map(({ rss_mb }) => rss_mb));
    console.log(
      `${this.name}: ${this.settled_mb.toFixed(1)} MB in the last quarter, ${most.toFixed(1)} MB at most`,
    );
  }

  #median(from: number, to: number): number {
    const last = this.#days.length - 1;
    const sorted = this.#days
      .slice(Math.ceil(last * from), Math.ceil(last * to) + 1)
      .map(({ rss_mb }) => rss_mb)
      .toSorted((one, other) => one - other);
    return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  }
}
