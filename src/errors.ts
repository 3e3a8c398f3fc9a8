/**
 * A fault that a person can correct. Everything that reaches an operator, on the terminal, in the log or in
 * `lintel status`, is one line made of these two halves: what happened (and to which device, file or peer)
 * and what to do about it.
 */
export class OperatorError extends Error {
  override readonly name = "OperatorError";

  constructor(
    readonly what: string,
    readonly remedy: string,
    options?: { cause?: unknown },
  ) {
    super(`${what}: ${remedy}`, options);
  }
}

/** A store that takes or answers nothing for now, through no fault of who asks: the same may be tried again. */
export class StoreOutage extends OperatorError {
  constructor(
    what: string,
    remedy: string,
    readonly reason: OutageReason,
    options?: { cause?: unknown },
  ) {
    super(what, remedy, options);
  }
}

/** Why a store is out: `disk_full`, `disk_read_only`, or `unreachable`, such as a database server that restarts. */
export type OutageReason = "disk_full" | "disk_read_only" | "unreachable";

/** Text of anything that was thrown, on one line and at most `length_max` characters long. */
export function messageOf(thrown: unknown, length_max = 400): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > length_max ? `${line.slice(0, length_max)}…` : line;
}
