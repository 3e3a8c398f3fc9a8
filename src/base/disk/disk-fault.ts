import { existsSync, mkdirSync, rmdirSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf, OperatorError } from "../errors.ts";

/**
 * The OperatorError for an error of the system with which the disk has refused to read or write a file: where it is full, takes no changes,
 * or reports a fault. Undefined for all other errors.
 */
export function diskFault(thrown: unknown): OperatorError | undefined {
  const code = systemCodeOf(thrown);
  const name = (thrown as NodeJS.ErrnoException | undefined)?.path ?? "a file";
  const cause = { cause: thrown };
  if (code === "ENOSPC" || code === "EDQUOT")
    return new OperatorError(
      `${name} cannot be written, because the disk is full (${messageOf(thrown)})`,
      "free some space, and run this again",
      cause,
    );
  if (code === "EROFS") return new OperatorError(`${name} ${readOnlyDisk.what}`, readOnlyDisk.remedy, cause);
  if (code === "EIO")
    return new OperatorError(
      `${name} cannot be read or written, because the disk reports an error (${messageOf(thrown)})`,
      "check the disk or SD card (`dmesg` has the details), and run this again",
      cause,
    );
  return undefined;
}

/** The code of an error of the system, such as `ENOSPC`; empty for other errors. A call that was interrupted has not reached the disk either: it is EIO. */
export function systemCodeOf(thrown: unknown): string {
  if (!(thrown instanceof Error) || !("code" in thrown)) return "";
  const { code, syscall } = thrown as NodeJS.ErrnoException;
  // Where files are removed Bun tells of EIO as of EFAULT.
  return code === "EINTR" || (code === "EFAULT" && syscall === "rm") ? "EIO" : String(code);
}

/**
 * Whether the file system of a directory takes no changes at all, from whomever: it was mounted so, or the kernel made it so
 * because the disk fails. It is tried out, because since Linux 6.15 ext4 does not show in any other way that it has given up.
 */
export function onReadOnlyDisk(directory: string): boolean {
  const trial = join(directory, `.trial-${process.pid}`);
  try {
    mkdirSync(trial);
    rmdirSync(trial);
    return false;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EROFS";
  }
}

/** The message about a file or directory on a read-only file system; it follows the name. */
export const readOnlyDisk = {
  what: "cannot be written: its file system is read-only",
  remedy:
    "the SD card is failing, or was mounted so (`dmesg` says which): take a copy with `lintel backup DIR`, and put in another card; a directory that only a systemd unit closes is opened by ReadWritePaths= in it",
} as const;

/** With less than this a disk is nearly full. */
export const disk_low_bytes = 256 * 1024 * 1024;

/** The directory itself, or the nearest above it that is there: on its disk the directory will be made. */
export function nearestExisting(directory: string): string {
  return existsSync(directory) ? directory : nearestExisting(dirname(directory));
}

/** How many bytes the disk of a directory has free for users other than root. Rejects where there is no such directory. */
export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
