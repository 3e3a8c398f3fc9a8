import { isUtf8 } from "node:buffer";
import { basename, extname } from "node:path";
import { OperatorError } from "../base/errors.ts";
import { nearest, plainJson, shortLine } from "../base/text.ts";
import { isRecordType, type RecordType, recordTypes } from "../domain/records/record-table.ts";

/** How a file of records is to be read. */
export type FileFormat =
  | { readonly kind: "json" }
  | { readonly kind: "ndjson" }
  | { readonly kind: "csv"; readonly type: RecordType };

/** The format that a file's name tells. Throws OperatorError where it tells none. */
export function formatOf(path: string): FileFormat {
  const extension = extname(path).toLowerCase();
  if (extension === ".json") return { kind: "json" };
  if (extension === ".ndjson" || extension === ".jsonl") return { kind: "ndjson" };
  if (extension !== ".csv") {
    throw new OperatorError(
      `can't tell what ${path} holds`,
      "name it .json, .ndjson or, as the records in it are called, items.csv, subjects.csv and so on",
    );
  }
  const name = basename(path, extname(path)).toLowerCase();
  if (isRecordType(name)) return { kind: "csv", type: name };
  const meant = nearest(name, recordTypes);
  throw new OperatorError(
    `can't tell what records ${path} holds`,
    meant === undefined
      ? `name it after one of ${recordTypes.join(", ")}`
      : `it may be meant as ${meant}.csv; the names are ${recordTypes.join(", ")}`,
  );
}

/** A part of a file, as text. */
export interface TextBlock {
  readonly text: string;
  /** Number of its first line, from 1. */
  readonly line: number;
  /** Bytes of the file up to the end of this block. */
  readonly bytesRead: number;
}

/** The file can't be read on: from `line` it is not what it should be. */
export class UnreadableFile extends Error {
  override readonly name = "UnreadableFile";

  constructor(
    readonly line: number,
    readonly expected: string,
  ) {
    super(expected);
  }
}

/**
 * A file of UTF-8 text in blocks of whole lines, without its byte order mark. Throws UnreadableFile at the first line that
 * is not UTF-8 or is longer than 1 MiB, OperatorError where the file can't be opened.
 */
export async function* textBlocks(path: string): AsyncGenerator<TextBlock> {
  let carry = Buffer.alloc(0);
  let line = 1;
  let bytesRead = 0;
  const block = (bytes: Uint8Array): TextBlock => {
    bytesRead += bytes.length;
    return { text: decoded(bytes, line, bytesRead === bytes.length), line, bytesRead };
  };
  for await (const chunk of chunksOf(path)) {
    const bytes = Buffer.concat([carry, chunk]);
    const end = bytes.lastIndexOf(newline) + 1;
    carry = bytes.subarray(end);
    if (carry.length > line_bytes_max) {
      throw new UnreadableFile(line + newlinesIn(bytes), `lines of at most ${line_bytes_max} bytes expected`);
    }
    if (end === 0) continue;
    yield block(bytes.subarray(0, end));
    line += newlinesIn(bytes);
  }
  if (carry.length > 0) yield block(carry);
}

/**
 * The whole of such a file. Throws UnreadableFile where it is not UTF-8 or larger than 256 MiB, OperatorError where it
 * can't be opened.
 */
export async function wholeText(path: string): Promise<string> {
  if ((await bytesOf(path)) > document_bytes_max) {
    throw new UnreadableFile(1, `a document of at most ${document_bytes_max} bytes, or NDJSON, expected`);
  }
  const bytes = await Bun.file(path)
    .bytes()
    .catch((cause) => {
      throw unopened(path, cause);
    });
  return decoded(bytes, 1, true);
}

/** Bytes in a file. Throws OperatorError where there is no such file. */
export async function bytesOf(path: string): Promise<number> {
  try {
    const { size } = await Bun.file(path).stat();
    return size;
  } catch (cause) {
    throw unopened(path, cause);
  }
}

async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of Bun.file(path).stream()) yield chunk;
  } catch (cause) {
    throw unopened(path, cause);
  }
}

function unopened(path: string, cause: unknown): OperatorError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "there is no such file",
    EACCES: "this user may not read it",
    EISDIR: "it is a directory",
  };
  return new OperatorError(`can't read ${path}`, reasons[code] ?? (code || String(cause)), { cause });
}

/** `first`: the bytes begin the file, and may begin with a byte order mark. */
function decoded(bytes: Uint8Array, line: number, first: boolean): string {
  if (isUtf8(bytes)) return new TextDecoder("utf-8", { ignoreBOM: !first }).decode(bytes);
  let lines = 0;
  for (let start = 0; start < bytes.length; lines++) {
    const end = bytes.indexOf(newline, start) + 1 || bytes.length;
    if (!isUtf8(bytes.subarray(start, end))) break;
    start = end;
  }
  throw new UnreadableFile(line + lines, "text in UTF-8 expected, and these bytes are none");
}

function newlinesIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) count++;
  return count;
}

const newline = 0x0a;
const line_bytes_max = 1_048_576;
const document_bytes_max = 268_435_456;

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
