import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { OperatorError } from "../errors.ts";

/**
 * Replaces a file so that a power cut leaves the old content or the new one, never a part: a temporary file,
 * synced, renamed, and its directory synced. Only the owner may read it: it can hold the network's key.
 *
 * @param readers a group that may read it too, by its number
 */
export function writeDurably(path: string, content: string | Uint8Array, readers?: number): void {
  const temporary = `${path}.new`;
  // What a power cut left, or what another user put there: nothing is written through a link.
  rmSync(temporary, { force: true });
  const file = openSync(temporary, "wx", 0o600);
  try {
    if (readers !== undefined) {
      fchownSync(file, process.getuid?.() ?? 0, readers);
      fchmodSync(file, 0o640);
    }
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  syncToDisk(dirname(path));
}

/** Brings a file, or the names in a directory, to disk, where its file system can do that: some of boot partitions cannot. */
export function syncToDisk(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EINVAL") throw thrown;
  } finally {
    closeSync(handle);
  }
}

/** The text of a file; undefined when there is none. Throws when it cannot be read, and at once where it is a pipe or a device. */
export function readIfThere(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!fstatSync(file).isFile()) throw new Error("it is no regular file");
    return readFileSync(file, "utf8");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw thrown;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The value of a JSON text; undefined when it is damaged. */
export function parseIfWhole(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value of a JSON file; undefined where there is none, or none that can be read: for what is then begun anew. */
export function jsonIfReadable(path: string): unknown {
  try {
    return parseIfWhole(readIfThere(path));
  } catch {
    return undefined;
  }
}

/**
 * Reads a file in a directory that another user may write in, as the commands of root do in the data directory. There a name may lead to anything: what
 * is a link, a pipe, a device or a socket, has a second name elsewhere, or is larger than it can be, is refused before a byte of it is read, and
 * nothing is waited for.
 *
 * @returns its text; undefined where there is none
 * @throws OperatorError that names it
 */
export function readPlainFile(path: string, bytes_max: number): string | undefined {
  const file = opened(path);
  if (file === undefined) return undefined;
  try {
    const { size, nlink } = requireFile(path, fstatSync(file));
    if (nlink > 1) throw notPlain(path, "has a second name elsewhere");
    if (size > bytes_max) throw notPlain(path, `has ${size} bytes, more than ${bytes_max}`);
    return textOf(file, bytes_max);
  } finally {
    closeSync(file);
  }
}

/** Refuses a path at which a program would open something else than a file: a pipe or a device, and for root what another user has linked there. @throws OperatorError */
export function requirePlainFile(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  const isOwnLink = found.isSymbolicLink() && (process.getuid?.() !== 0 || found.uid === 0);
  if (!isOwnLink) requireFile(path, found);
}

function opened(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP") throw notPlain(path, "is a symbolic link");
    // A socket, or a device that is not there.
    if (code === "ENXIO" || code === "ENODEV") throw notPlain(path, "is no regular file");
    throw thrown;
  }
}

function requireFile(path: string, found: ReturnType<typeof fstatSync>): { size: number; nlink: number } {
  if (found.isSymbolicLink()) throw notPlain(path, "is a symbolic link of another user");
  if (!found.isFile()) throw notPlain(path, "is no regular file");
  return { size: Number(found.size), nlink: Number(found.nlink) };
}

/** At most so many bytes, also of a file that grows meanwhile. */
function textOf(file: number, bytes_max: number): string {
  const bytes = new Uint8Array(Math.min(bytes_max, Number(fstatSync(file).size) + 1));
  let length = 0;
  for (;;) {
    const read = length === bytes.length ? 0 : readSync(file, bytes, length, bytes.length - length, null);
    if (read === 0) return new TextDecoder().decode(bytes.subarray(0, length));
    length += read;
  }
}

function notPlain(path: string, what: string): OperatorError {
  return new OperatorError(`${path} ${what}`, "see who put it there, and remove it");
}
