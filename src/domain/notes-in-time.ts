import { overlap, type TimeSpan } from "../base/time.ts";
import { type NoteKind, noteKinds } from "./note-kinds.ts";
import type { Note } from "./records/programme-records.ts";

/** The time of a note, unix milliseconds; one of a moment lasts a second, and one without an end for ever. */
export function timeOf({ start, stop }: Pick<Note, "start" | "stop">): TimeSpan {
  const to_ms = stop === null ? Number.POSITIVE_INFINITY : Math.max(stop, start + 1) * 1_000;
  return { from_ms: start * 1_000, to_ms };
}

/** Kinds of the notes that overlap a time, each once, with spaces between; empty where there are none. */
export function kindsIn(notes: readonly Pick<Note, "kind" | "start" | "stop">[], time: TimeSpan): string {
  const found = new Set(notes.filter((note) => overlap(timeOf(note), time)).map(({ kind }) => kind));
  return noteKinds.filter((kind) => found.has(kind)).join(" ");
}

/** Times in which, by what people say, nobody who lives in the home was there. */
export function timesAway(notes: readonly Note[]): TimeSpan[] {
  const away: readonly NoteKind[] = ["away", "hospital"];
  return notes.filter(({ kind, itemid }) => itemid === null && away.includes(kind)).map(timeOf);
}

/** The meaning of a column of such kinds. */
export const kindsMeaning = `kinds of the notes that overlap the day, with spaces between: ${noteKinds.join(", ")}; empty where there are none`;
