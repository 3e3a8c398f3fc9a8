/** Prints figures as they come, counts the bars that were missed, and has all of them as one table at the end. */
export class Report {
  missed = 0;
  readonly #rows: string[][] = [];

  note(line: string): void {
    console.log(line);
  }

  /**
   * A figure that must be at least or at most so much; `of` are the two that it is the ratio of.
   *
   * @param what says it without the lines around
   */
  bar(
    what: string,
    {
      value,
      least,
      most,
      of = [],
    }: { value: number; least?: number; most?: number; of?: readonly [ours?: string, other?: string] },
  ): void {
    const kept = value >= (least ?? value) && value <= (most ?? value);
    if (!kept) this.missed += 1;
    const bound = least === undefined ? `at most ${most}` : `at least ${least}`;
    console.log(`${kept ? "kept  " : "MISSED"} ${what}: ${value.toFixed(2)} (${bound})`);
    const [ours, other] = of;
    this.#rows.push(
      ours === undefined || other === undefined
        ? [what, shown(value), bound, kept ? "" : "missed"]
        : [what, ours, other, `${shown(value)} (${bound}${kept ? "" : ", missed"})`],
    );
  }

  /** A figure of Lintel beside that of another program, or beside a limit. */
  beside(what: string, ours: number, other: { readonly name: string; readonly figure: number }): void {
    const ratio = other.figure === 0 ? "" : shown(ours / other.figure);
    console.log(
      `${what}: ${shown(ours)}; ${other.name}: ${shown(other.figure)}${ratio && `; ratio ${ratio}`}`,
    );
    this.#rows.push([what, shown(ours), `${shown(other.figure)} (${other.name})`, ratio]);
  }

  /** A figure that has nothing beside it. */
  figure(what: string, value: number | string): void {
    const text = typeof value === "number" ? shown(value) : value;
    console.log(`${what}: ${text}`);
    this.#rows.push([what, text, "", ""]);
  }

  /** A program that is not on this machine, and how it comes there. */
  absent(name: string, command: string): void {
    console.log(`${name} is not here: ${command}`);
    this.#rows.push([name, "", `not here: ${command}`, ""]);
  }

  /** Prints the table of all figures; the exit code of the benchmark. */
  end(): number {
    const lines = [
      ["", "Lintel", "beside it, or the bound", "ratio"],
      ["---", "---:", "---:", "---:"],
    ];
    for (const row of [...lines, ...this.#rows]) console.log(`| ${row.join(" | ")} |`);
    return this.missed === 0 ? 0 : 1;
  }
}

/** A number with as many digits as say something. */
function shown(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
