import { plainLine, shortLine } from "./text.ts";

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

/** A store, or a part of it, that takes or answers nothing for now, through no fault of who asks: the same may be tried again. */
export class StoreOutage extends OperatorError {
  /** Absent: the whole store is out. */
  readonly part: StorePart | undefined;

  constructor(
    what: string,
    remedy: string,
    readonly reason: OutageReason,
    options: { cause?: unknown; part?: StorePart } = {},
  ) {
    super(what, remedy, options);
    this.part = options.part;
  }
}

/** The file of a store is damaged: what was read of it cannot be trusted. */
export class StoreDamaged extends OperatorError {}

/** A part of a store that is out while others work, such as one machine of a cluster. One outage is one object. */
export interface StorePart {
  readonly name: string;
  /** Resolves once it works again: since when, monotonic milliseconds. Never rejects. */
  readonly back: Promise<number>;
}

/** Why a store is out: `disk_full`, `disk_read_only`, `disk_failing`, or `unreachable`, such as a database server that restarts. */
export type OutageReason = "disk_full" | "disk_read_only" | "disk_failing" | "unreachable";

/** Text of anything that was thrown, on one line and at most `length_max` characters long. */
export function messageOf(thrown: unknown, length_max = 400): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return shortLine(plainLine(text).replace(/\s+/g, " ").trim(), length_max);
}
