import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

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
  const directory = openSync(dirname(path), "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
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
