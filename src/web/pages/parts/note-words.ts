import type { TimeSpan } from "../../../base/time.ts";
import type { NoteKind } from "../../../domain/note-kinds.ts";

/** A note on time as pages show it. */
export interface ShownNote {
  readonly noteid: number;
  readonly kind: NoteKind;
  readonly from_ms: number;
  /** Null: it lasts. */
  readonly to_ms: number | null;
  readonly words: string | null;
  /** The name of the device that it is about; null: all of the home. */
  readonly device: string | null;
  /** Whether the reader may remove it. */
  readonly removable: boolean;
}

/** Kinds of notes, in the words of people. */
export const kindWords: Readonly<Record<NoteKind, string>> = {
  visitor: "Visitors",
  away: "Away",
  hospital: "In hospital",
  furniture: "Furniture moved",
  sensor_moved: "Sensor moved or fallen",
  other: "Something else",
};

/** The part of a span in which a note holds; one without an end holds until now. */
export function partOf(
  { from_ms, to_ms }: Pick<ShownNote, "from_ms" | "to_ms">,
  span: TimeSpan,
  now_ms: number,
): TimeSpan {
  return { from_ms: Math.max(from_ms, span.from_ms), to_ms: Math.min(to_ms ?? now_ms, span.to_ms) };
}

/** Whether a note is about a moment. */
export function isMoment({ from_ms, to_ms }: Pick<ShownNote, "from_ms" | "to_ms">): boolean {
  return to_ms !== null && to_ms - from_ms <= moment_ms;
}

/** Notes of all of the home, and of one device by its name. */
export function notesAbout(notes: readonly ShownNote[], name: string): ShownNote[] {
  return notes.filter(({ device }) => device === null || device === name);
}

/** The notes of a moment, in words: `; noted: visitors`. */
export function notedAt(notes: readonly ShownNote[], at_ms: number): string {
  const then = notes.filter(({ from_ms, to_ms }) => from_ms <= at_ms && at_ms < (to_ms ?? at_ms + 1));
  return then.length === 0
    ? ""
    : `; noted: ${then.map(({ kind }) => kindWords[kind].toLowerCase()).join(", ")}`;
}

/** A note of a moment lasts so long. */
const moment_ms = 1_000;
