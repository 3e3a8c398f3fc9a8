import { messageOf, OperatorError } from "../errors.ts";
import { readOnlyDisk } from "./read-only-disk.ts";

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
