import type { RecordType } from "../records/record-table.ts";

/** A value as a file gives it, and the line on which it begins. */
export interface RawValue {
  readonly value: unknown;
  readonly line: number;
}

/** A record as a file gives it, before anything about it is known to be right. */
export interface RawRecord {
  readonly type: RecordType;
  /** The line on which it begins. */
  readonly line: number;
  /** Fields by name: JSON values, or texts where `textual`. */
  readonly fields: ReadonlyMap<string, RawValue>;
  /** Values are cells of text, to be read as what the field holds; the empty one is no value. */
  readonly textual: boolean;
}

/** Receiver of the records and faults that a reader finds in one file. */
export interface RawReceiver {
  record(record: RawRecord): void;
  /** Something that keeps a record from being read. */
  fault(line: number, fault: { record?: RecordType; field?: string; given?: string; expected: string }): void;
  /** No record of the file was read, or not all of them were. */
  brokenOff(): void;
  /** How many bytes of the file have been read so far. */
  progress(bytesRead: number): void;
}

/** The line of a field, or that of its record where the field is not given. */
export function lineOf({ fields, line }: RawRecord, field: string): number {
  return fields.get(field)?.line ?? line;
}
