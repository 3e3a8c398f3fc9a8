import { OperatorError } from "../base/errors.ts";
import { Note } from "../domain/records/programme-records.ts";
import { notes_max } from "./note.ts";
import { isUnderWay } from "./pause.ts";
import type { Store } from "./store.ts";

/**
 * Writes a note of a home.
 *
 * @throws OperatorError where nothing of that time may be recorded of the home, or it has too many notes
 */
export async function addNote(
  store: Pick<Store, "pauses" | "recordsOf" | "changeNotes">,
  given: Omit<Note, "noteid">,
): Promise<Note> {
  const { homeid, start, stop } = given;
  if (stop !== null && stop < start)
    throw new OperatorError("the note ends before it begins", "give an end that is not before its start");
  // A gateway has its home as 0.
  const stopped = (await store.pauses([0, homeid])).some(
    (pause) => pause.why !== undefined && pause.kind === undefined && isUnderWay(pause, start * 1000),
  );
  if (stopped)
    throw new OperatorError(
      "nothing of that time is recorded of this home: the consent was withdrawn, or the enrollment is over",
      "note times before that",
    );
  if ((await store.recordsOf("notes", homeid)).length >= notes_max)
    throw new OperatorError(`this home has ${notes_max} notes`, "remove some with lintel note remove");
  const note = { ...given, noteid: noteid() };
  await store.changeNotes(homeid, { kept: [fieldsInOrder(note)], removed: [] });
  return note;
}

/** The number of a new note, above those that people give: no two stores draw the same. */
function noteid(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return drawn_min + (high % 2 ** 20) * 2 ** 32 + low;
}
const drawn_min = 2 ** 32;

/** The same note with its fields as they are served. */
function fieldsInOrder(note: Note): Note {
  return Object.fromEntries(
    Object.keys(Note.properties).map((name) => [name, note[name as keyof Note]]),
  ) as Note;
}
