import { type Static, Type } from "@sinclair/typebox";
import { closed, Kind, number, time_ms } from "./exchange.ts";

/** Why nothing is recorded where nobody has just asked for a pause. */
export const PauseReason = Type.Union([
  Type.Literal("consent_withdrawn"),
  Type.Literal("enrollment_ended"),
  /** Of a home: what was collected is kept, and nobody sees it, as long as the pause is open. */
  Type.Literal("restricted"),
]);
export type PauseReason = Static<typeof PauseReason>;

/** A time in which nothing is recorded of a home, of the devices of a kind, or of a device (`address` or `itemid`), as stores hand it to each other. */
export const PausedSpan = Type.Object(
  {
    /** 32 hex digits. */
    id: Type.String({ pattern: "^[0-9a-f]{32}$" }),
    /** When it was asked for. */
    at_ms: time_ms,
    /** Unix milliseconds, the end not included. The end is `pauseOpen_ms` as long as nobody has resumed; it never moves up. */
    from_ms: number,
    before_ms: number,
    /** Absent: somebody asked for a pause. Such a one ends with `lintel resume`, others with `--again` alone. */
    why: Type.Optional(PauseReason),
    kind: Type.Optional(Kind),
    address: Type.Optional(Type.String({ maxLength: 1_000 })),
    itemid: Type.Optional(number),
  },
  closed,
);
export type PausedSpan = Static<typeof PausedSpan>;

/** Pauses that a document may hand over. */
export const PausedSpans = Type.Array(PausedSpan, { maxItems: 10_000 });

/** The end of a pause that nobody has ended. */
export const pauseOpen_ms = Number.MAX_SAFE_INTEGER;

/** The same as a store keeps it. */
export interface Pause extends PausedSpan {
  readonly home: number;
  /** 1: it was asked for here. 0: it was taken over from another store. */
  readonly own: 0 | 1;
  /** Readings that came of it and were not kept. */
  readonly refused: number;
}

/** A pause of a home that is asked for, or one that is known with an end that comes earlier. */
export interface PauseRequest extends PausedSpan {
  readonly home: number;
  readonly own: 0 | 1;
}

/** A withdrawal of the consent, of a home or of a participant; `devices`: only what the devices that he alone holds record is meant. */
export type Withdrawal = { readonly from_ms: number; readonly at_ms: number } & (
  | { readonly home: number }
  | { readonly subject: number; readonly devices: boolean }
);

/** The part of a pause that other stores are told. */
export function pausedSpanOf({ home: _, own: __, refused: ___, ...span }: Pause): PausedSpan {
  return span;
}

/** Pauses that another store has told, as a gateway takes them over. */
export function takenOver(pauses: readonly PausedSpan[]): PauseRequest[] {
  return pauses.map((pause) => ({ ...pause, home: 0, own: 0 }));
}

/** A moment by a clock of which is known whether it is right. */
export interface PauseTime {
  readonly now_ms: number;
  readonly isKnown: boolean;
}

/** The pauses that are not over, the one that ends last first. While nobody knows the time, one that has an end may be over. */
export function pausesNotOver<Of extends PausedSpan>(
  pauses: readonly Of[],
  { now_ms, isKnown }: PauseTime,
): Of[] {
  return pauses
    .filter((pause) => (isKnown ? now_ms < pause.before_ms : isOpen(pause)))
    .sort((one, other) => other.before_ms - one.before_ms);
}

/** Those of them that have begun. */
export function pausesUnderWay<Of extends PausedSpan>(pauses: readonly Of[], time: PauseTime): Of[] {
  return pausesNotOver(pauses, time).filter(({ from_ms }) => !time.isKnown || from_ms <= time.now_ms);
}

/** Whether a moment lies in a pause, or in any time that ends before `before_ms`. */
export function isUnderWay(
  { from_ms, before_ms }: Pick<PausedSpan, "from_ms" | "before_ms">,
  now_ms: number,
): boolean {
  return from_ms <= now_ms && now_ms < before_ms;
}

/** Whether a pause restricts its home now. */
export function restricts({ why, before_ms }: PausedSpan): boolean {
  return why === "restricted" && before_ms === pauseOpen_ms;
}

/** Homes that are restricted now. */
export async function restrictedHomesIn(store: Pick<Pauses, "pauses">): Promise<ReadonlySet<number>> {
  return new Set((await store.pauses()).filter(restricts).map(({ home }) => home));
}

/** Whether a pause has begun and nobody has ended it: what comes now is of it, whatever time it is. */
export function isOpen({
  why,
  from_ms,
  before_ms,
  at_ms,
}: Pick<PausedSpan, "why" | "from_ms" | "before_ms" | "at_ms">): boolean {
  // The end of an enrollment may be still to come.
  return before_ms === pauseOpen_ms && (why !== "enrollment_ended" || from_ms <= at_ms);
}

/** Names by which a gateway counts what came of a time of which nothing is kept. */
export const unkeptNames = {
  erased: "of an erased time",
  withdrawn: "after consent was withdrawn",
  ended: "after the enrollment had ended",
  paused: "while recording was paused",
} as const;

/** Stands for the `place` of an erased span where times of which nothing is kept are one list. */
export const pausePlace = -1;

/** Times in which a home has asked that nothing is recorded: see docs/consent.md. */
export interface Pauses {
  /** All of them, or those of these homes, the oldest first. */
  pauses(of?: readonly number[]): Promise<readonly Pause[]>;

  /**
   * Begins pauses, ends those that are known where the end comes earlier, and takes over those of other stores. What was recorded in them already is removed, and its
   * bytes from the files of a database of its own. Answers how many readings those were.
   */
  takePauses(pauses: readonly PauseRequest[]): Promise<number>;

  /** Begins a pause for good; answers what is stopped by it, or was before. Undefined where nobody knows the participant. */
  withdraw(withdrawal: Withdrawal): Promise<readonly PauseRequest[] | undefined>;

  /**
   * Begins and ends pauses as the enrollments of homes say, from `now_ms` on; to be called when these have changed. Answers those that are new. A store without
   * enrollments of a home lets it record.
   */
  followEnrollments(now_ms: number): Promise<readonly PauseRequest[]>;
}
