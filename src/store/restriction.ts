import type { Use } from "../domain/uses.ts";

/** Data that are kept and that nobody sees: see docs/consent.md. */
export interface Restrictions {
  /**
   * Restricts a home, or every home where a participant is or was enrolled: nothing more is recorded, and nobody sees what was, but holders of a token
   * for that. Answers these homes, also those that were restricted before; undefined where nobody knows a home of the participant.
   */
  restrict(request: RestrictionRequest): Promise<readonly number[] | undefined>;

  /**
   * Lifts the restriction of a home. Its recording stays stopped, as after a withdrawal. Of a participant those of all his homes. Answers the homes whose restriction was
   * lifted.
   */
  liftRestriction(request: RestrictionRequest): Promise<readonly number[] | undefined>;

  /** The newest `limit` entries about restricted data, the oldest of these first. */
  journal(limit: number): Promise<readonly JournalEntry[]>;

  noteInJournal(entry: JournalEntry): Promise<void>;
}

/** Somebody's wish to restrict, or to lift that, with his name and reason. */
export interface RestrictionRequest {
  readonly target: { readonly home: number } | { readonly subject: number };
  readonly at_ms: number;
  /** From when on nothing is recorded of a home that is restricted; absent: `at_ms`. */
  readonly from_ms?: number;
  readonly who: string;
  readonly reason: string;
}

/** Uses that an answer is for, and the moment at which consent to them counts, unix milliseconds. */
export interface AskedUses {
  readonly uses: readonly Use[];
  readonly at_ms: number;
}

/** An entry of the journal of restricted data. */
export interface JournalEntry {
  /** 32 hex digits. */
  readonly id: string;
  readonly at_ms: number;
  readonly act: JournalAct;
  /** A user of the machine, a token, or the programme itself. */
  readonly who: string;
  readonly home?: number | undefined;
  readonly subject?: number | undefined;
  /** The reason, or the method and address of a request. */
  readonly words: string;
}

type JournalAct = "restrict" | "lift" | "use" | "retention";

export function newJournalId(): string {
  return crypto.getRandomValues(new Uint8Array(16)).toHex();
}
