import { plainLine, shortLine } from "./plain-text.ts";

/**
 * A fault that a person can correct. Everything that reaches an operator, on the terminal, in the log or in
 * `lintel status`, is one line made of these two halves: what happened (and to which device, file or peer)
 * and what to do about it. Both may quote what somebody else has told: they are plain lines.
 */
export class OperatorError extends Error {
  override readonly name = "OperatorError";

  readonly what: string;
  readonly remedy: string;

  constructor(what: string, remedy: string, options?: { cause?: unknown }) {
    super(plainLine(`${what}: ${remedy}`), options);
    this.what = plainLine(what);
    this.remedy = plainLine(remedy);
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
  return shortLine(plainLine(text).replace(/\s+/g, " ").trim(), length_max);
}
