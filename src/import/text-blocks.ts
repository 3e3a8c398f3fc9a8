import { isUtf8 } from "node:buffer";
import { OperatorError } from "../errors.ts";

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
