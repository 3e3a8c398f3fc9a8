import type { RecordType } from "../records/record-table.ts";

/** A record as a file gives it, before anything about it is known to be right. */
export interface RawRecord {
  readonly type: RecordType;
  /** The line on which it begins. */
  readonly line: number;
  /** Names of the fields given. */
  readonly names: readonly string[];
  /** The value of each, in the same order: JSON values, or texts where `textual`. */
  readonly values: readonly unknown[];
  /** Values are cells of text, to be read as what the field holds; the empty one is no value. */
  readonly textual: boolean;
  /** The line on which the value at this index begins. */
  lineOf(index: number): number;
}

/** Receiver of the records and faults that a reader finds in one file. */
export interface RawReceiver {
  record(record: RawRecord): void;
  /** Something that keeps a record from being read. */
  fault(line: number, fault: { type?: RecordType; field?: string; given?: string; expected: string }): void;
  /** No record of the file was read, or not all of them were. */
  brokenOff(): void;
}
