import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";

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
