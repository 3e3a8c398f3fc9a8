import { SQLiteError } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { onReadOnlyDisk, readOnlyDisk, systemCodeOf } from "../../base/disk/disk-fault.ts";
import type { OperatorError } from "../../base/errors.ts";
import { faultOf, type KnownFault } from "../database.ts";

/**
 * The OperatorError for an error thrown while working on `path` (a database file or a directory). An OperatorError
 * passes unchanged.
 */
export function storeFault(thrown: unknown, path: string): OperatorError {
  const code = codeOf(thrown);
  const readOnly = /^SQLITE_(READONLY|CANTOPEN|IOERR)/.test(code) && onReadOnlyDisk(directoryOf(path));
  return faultOf(thrown, { name: path, code: readOnly ? "EROFS" : code, faults });
}

/** Does something to a database or a directory; an error of it becomes an OperatorError that names the path. */
export function named<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    throw storeFault(thrown, path);
  }
}

function directoryOf(path: string): string {
  return existsSync(path) && statSync(path).isDirectory() ? path : dirname(path);
}

/** True when SQLite refuses the values of one statement, not the database, the disk or the moment. */
export function isRefusedValue(thrown: unknown): boolean {
  return /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)/.test(codeOf(thrown)) || thrown instanceof TypeError;
}

/** True when another connection holds the lock. */
export function isBusy(thrown: unknown): boolean {
  return /^SQLITE_BUSY/.test(codeOf(thrown));
}

/** True when pages of the file are not what SQLite has written, or it is no database. */
export function isDamage(thrown: unknown): boolean {
  return damaged.codes.test(codeOf(thrown));
}

function codeOf(thrown: unknown): string {
  if (thrown instanceof SQLiteError) return thrown.code ?? "";
  return systemCodeOf(thrown);
}

export const damaged = {
  // SQLite tells so, too, where the disk has failed to read a part of a sound file.
  codes: /^(SQLITE_(NOTADB|CORRUPT)|BLOCK_DAMAGED)/,
  what: "is damaged, could not be read, or is not a database at all",
  remedy:
    "try again once, and look at `dmesg` for errors of the disk; if it stays so, `lintel restore --from-central --replace` sets it aside, sends what can still be read of it and brings the rest back; `lintel restore DIR --replace` does so from a backup",
  damaged: true,
} as const satisfies KnownFault;

const faults: readonly KnownFault[] = [
  {
    codes: /^(SQLITE_FULL|ENOSPC|EDQUOT)/,
    what: "cannot grow: the disk is full",
    remedy: "free some space; writing goes on by itself",
    outage: "disk_full",
  },
  damaged,
  {
    codes: /^EROFS/,
    ...readOnlyDisk,
    outage: "disk_read_only",
  },
  {
    codes: /^(SQLITE_READONLY|SQLITE_PERM|SQLITE_AUTH|EACCES|EPERM)/,
    what: "cannot be written",
    remedy: "give this user write access to it, or set another `data` directory",
  },
  {
    // SQLite does not tell why.
    codes: /^SQLITE_CANTOPEN/,
    what: "cannot be opened",
    remedy:
      "give this user write access to it, or set another `data` directory; where it has that, the disk is full or fails (`dmesg` has the details)",
  },
  {
    codes: /^(ENOTDIR|EEXIST)/,
    what: "is not a directory",
    remedy: "set `data` to a directory",
  },
  {
    codes: /^SQLITE_(BUSY|LOCKED)/,
    what: "is being written by another process that does not finish",
    remedy: "end that process (a long import, a backup, an SQLite shell); writing goes on by itself",
    outage: "unreachable",
  },
  {
    codes: /^(SQLITE_IOERR|EIO)/,
    what: "cannot be read or written: the disk reports an error",
    remedy: "check the disk or SD card and its free space (`dmesg` has the details)",
    outage: "disk_failing",
  },
];
