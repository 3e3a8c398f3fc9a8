import { nearest } from "../nearest.ts";
import { plainJson, shortLine } from "../plain-text.ts";
import type { RecordType } from "../records/record-table.ts";

/** One thing that is wrong with a file of records. */
export interface FileFault {
  /** As the file was named. */
  readonly file: string;
  /** From 1; the line on which the faulty value stands. */
  readonly line: number;
  readonly record?: RecordType;
  readonly field?: string;
  /** The value there, cut short. */
  readonly given?: string;
  /** The fault, or the value that is expected there. */
  readonly expected: string;
}

/** `items.csv:17: items itemid: "1.5" is given, a whole number expected`: one line a fault. */
export function faultText({ file, line, record, field, given, expected }: FileFault): string {
  const what = [record, field].filter((word) => word !== undefined).join(" ");
  const place = `${file}:${line}: ${what === "" ? "" : `${what}: `}`;
  return given === undefined ? `${place}${expected}` : `${place}${given} is given, ${expected} expected`;
}

/** A value as a fault shows it. */
export function givenText(value: unknown): string {
  return shortLine(value === undefined ? "nothing" : plainJson(value), given_max);
}

/** A name that a file gives, as a fault shows it. */
export function shortName(name: string): string {
  return shortLine(name, given_max);
}

/** The fault of a field that a record doesn't have, with the one that was probably meant. */
export function unknownField(name: string, known: readonly string[]): { field: string; expected: string } {
  const meant =
    nearest(name, known) ?? known.find((field) => field.startsWith(name) || name.startsWith(field));
  return {
    field: shortName(name),
    expected:
      meant === undefined ? "there is no such field" : `there is no such field: ${meant} may be meant`,
  };
}

/** Gathers faults: all are counted, the first `kept_max` that are found are kept. */
export class FileFaults {
  count = 0;
  readonly #kept: FileFault[] = [];

  add(fault: FileFault): void {
    this.count += 1;
    if (this.#kept.length < kept_max) this.#kept.push(fault);
  }

  /** The kept ones, file by file in the order given, each from its first line on. */
  inOrder(files: readonly string[]): FileFault[] {
    return this.#kept.toSorted(
      (one, other) => files.indexOf(one.file) - files.indexOf(other.file) || one.line - other.line,
    );
  }
}

/** Ends an import that has faults; `faults` lists them. */
export class ImportRefused extends Error {
  override readonly name = "ImportRefused";

  constructor(
    /** All that were found. */
    readonly count: number,
    /** The first of them, at most 1,000. */
    readonly faults: readonly FileFault[],
  ) {
    super(`${count} faults in the files`);
  }
}

const given_max = 60;
const kept_max = 1_000;
