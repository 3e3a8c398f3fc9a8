import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { freeBytes } from "../../disk/free-bytes.ts";
import { OperatorError } from "../../errors.ts";
import { bytesText } from "../spans.ts";

/** Size and digest of a file, to compare two copies. */
export interface Content {
  readonly bytes: number;
  /** 64 hex digits. */
  readonly sha256: string;
}

/** Copies a file, closed to everybody else, with the directories above it; on disk when it resolves. */
export async function copyDurably(
  from: string,
  to: string,
  onBytes: (count: number) => void = () => {},
): Promise<Content> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await using target = await open(to, "wx", 0o600);
  const content = await contentOf(from, onBytes, target);
  await target.sync();
  return content;
}

/** Reads a file from end to end, and writes what it reads into `target` where there is one. */
export async function contentOf(
  path: string,
  onBytes: (count: number) => void = () => {},
  target?: FileHandle,
): Promise<Content> {
  await using file = await open(path, "r");
  const hash = createHash("sha256");
  const piece = Buffer.allocUnsafe(piece_bytes);
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await file.read(piece, 0, piece_bytes, null);
    if (bytesRead === 0) break;
    const part = piece.subarray(0, bytesRead);
    hash.update(part);
    if (target !== undefined) await writeAll(target, part);
    bytes += bytesRead;
    onBytes(bytesRead);
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** @throws OperatorError where the disk of a directory has no room for so many bytes */
export async function requireSpace(directory: string, bytes: number): Promise<void> {
  const free = await freeBytes(directory);
  if (free >= bytes + free_bytes_min) return;
  throw new OperatorError(
    `${directory} has ${bytesText(free)} free, and ${bytesText(bytes)} are needed`,
    "free some space there, or name a directory on another disk; nothing has changed",
  );
}

/** Puts what a directory names, and what those below it name, on disk. */
export async function syncTree(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true }))
    if (entry.isDirectory()) await syncTree(join(directory, entry.name));
  await syncDirectory(directory);
}

export async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, "r");
  await handle.sync();
}

async function writeAll(file: FileHandle, part: Uint8Array): Promise<void> {
  for (let at = 0; at < part.length; ) {
    const { bytesWritten } = await file.write(part, at, part.length - at);
    at += bytesWritten;
  }
}

const piece_bytes = 1024 * 1024;
/** Free space that is left to other programs on the disk. */
const free_bytes_min = 4 * 1024 * 1024;
