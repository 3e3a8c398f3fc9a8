import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { freeBytes } from "../../disk/free-bytes.ts";
import { OperatorError } from "../../errors.ts";
import { knownTimeFile } from "../../guarded-clock.ts";
import { isOfProcess } from "../../store/sqlite/lock.ts";
import { bytesText } from "../spans.ts";

/** Size and digest of a file, to compare two copies. */
export interface FileContent {
  readonly bytes: number;
  /** 64 hex digits. */
  readonly sha256: string;
}

/** Called with the number of bytes that were read since the last call. */
export type OnBytes = (count: number) => void;

/** Copies a file, closed to everybody else, with the directories above it; on disk when it resolves. */
export async function copyDurably(from: string, to: string, onBytes?: OnBytes): Promise<FileContent> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await using target = await open(to, "wx", 0o600);
  const content = await contentOf(from, onBytes, target);
  await target.sync();
  return content;
}

/** Reads a file from end to end, and appends what it reads to `target` where there is one. */
export async function contentOf(path: string, onBytes?: OnBytes, target?: FileHandle): Promise<FileContent> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const part of createReadStream(path, { highWaterMark: piece_bytes }) as AsyncIterable<Buffer>) {
    hash.update(part);
    await target?.appendFile(part);
    bytes += part.length;
    onBytes?.(part.length);
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

export async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, "r");
  await handle.sync();
}

/**
 * Files of a data directory to back up besides the database: those of drivers, and single files. Paths are relative to it.
 *
 * @param but a directory to leave out
 */
export function filesToKeep(data: string, but: string): string[] {
  const drivers = join(data, "drivers");
  const below = existsSync(drivers) ? readdirSync(drivers, { recursive: true, withFileTypes: true }) : [];
  const top = readdirSync(data, { withFileTypes: true }).filter(
    ({ name }) => !isOfProcess(name) && !name.startsWith("lintel.db"),
  );
  return (
    [...top, ...below]
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      // A file that is still being written ends in `.new`; a momentary state would be wrong after a restore.
      .filter((path) => !path.endsWith(".new") && !momentary.has(relative(data, path)))
      .filter((path) => !path.startsWith(`${resolve(but)}/`))
      .map((path) => relative(data, path))
  );
}

/**
 * The last status of each sensor: restored, it would make a later event look like a heartbeat, which is not recorded;
 * without it, at worst a heartbeat is recorded as an event. And the time that was known, by which a clock is judged: of a backup of long ago it would be wrong.
 */
const momentary = new Set(["drivers/zigbee/at-rest.json", knownTimeFile]);
const piece_bytes = 1024 * 1024;
/** Free space that is left to other programs on the disk. */
const free_bytes_min = 4 * 1024 * 1024;
