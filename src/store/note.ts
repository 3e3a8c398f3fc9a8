import { type Static, Type } from "@sinclair/typebox";
import { Note } from "../domain/records/programme-records.ts";
import { closed } from "./exchange.ts";

/** Notes of a home that a gateway tells at once. */
const notes_told_max = 1_000;
/** Notes of a home that are taken of other than an import. */
export const notes_max = 10_000;

/** Changes of the notes of one home: notes that are new or others than before, and the numbers of those that are gone. */
export const NoteChanges = Type.Object(
  {
    kept: Type.Array(Type.Object(Note.properties, closed), { maxItems: notes_told_max }),
    removed: Type.Array(Type.Integer(), { maxItems: notes_told_max }),
  },
  closed,
);
export type NoteChanges = Static<typeof NoteChanges>;

/** Notes on time that are written and removed here: see docs/notes.md. */
export interface NoteStore {
  /** Keeps and removes notes of a home in one transaction; answers how many were removed. */
  changeNotes(home: number, changes: NoteChanges): Promise<number>;
}

/** The changes that make some notes of others, as many as may be told at once. */
export function changesBetween(before: readonly Note[], after: readonly Note[]): NoteChanges {
  const [known, left] = [byNumber(before), byNumber(after)];
  const kept = after.filter((note) => !Bun.deepEquals(note, known.get(note.noteid)));
  const removed = [...known.keys()].filter((noteid) => !left.has(noteid));
  return { kept: kept.slice(0, notes_told_max), removed: removed.slice(0, notes_told_max) };
}

/** Notes once changes are made to them. */
export function changed(notes: readonly Note[], { kept, removed }: NoteChanges): Note[] {
  const all = byNumber([...notes, ...kept]);
  for (const noteid of removed) all.delete(noteid);
  return [...all.values()];
}

export function isEmpty({ kept, removed }: NoteChanges): boolean {
  return kept.length === 0 && removed.length === 0;
}

function byNumber(notes: readonly Note[]): Map<number, Note> {
  return new Map(notes.map((note) => [note.noteid, note]));
}
