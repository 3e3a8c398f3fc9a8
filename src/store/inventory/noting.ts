import type { Note } from "../../domain/records/programme-records.ts";
import { identityOf } from "../../domain/records/record-table.ts";
import { arrays, change, hold, put, rowsOf, type Work } from "../database.ts";
import { isEmpty, type NoteChanges, notes_max } from "../note.ts";
import { isUnderWay, pausePlace } from "../pause.ts";
import { holdHomes } from "./erasing.ts";
import type { Homes } from "./homes.ts";
import { lookupText } from "./item-names.ts";
import { unkeptIn } from "./pausing.ts";
import { visibleWith } from "./records.ts";

/** See `NoteStore.changeNotes`. Answers how many were removed. */
export function* changeNotes(home: number, { kept, removed }: NoteChanges): Work<number> {
  yield* hold("inventory alone");
  yield* put({
    put: "records",
    columns: { type: "text", number: "bigint", id: "text", record: "text" },
    rows: kept.map((note) => [
      "notes",
      home,
      idOf(home, note.noteid),
      JSON.stringify({ ...note, homeid: home }),
    ]),
    conflict: "ON CONFLICT (type, number, id) DO UPDATE SET record = excluded.record",
  });
  let gone = 0;
  for (const noteid of removed)
    gone += yield* change(
      "DELETE FROM records WHERE type = 'notes' AND number = $1 AND id = $2",
      home,
      idOf(home, noteid),
    );
  return gone;
}

/**
 * Takes over changes that the gateway of a home tells. It changes nothing that was said elsewhere: its token may have been stolen with the box. An item or
 * subject that is not of the home is left out of a note.
 */
export function* takeToldNotes(homes: Homes, home: number, told: NoteChanges): Work<void> {
  if (isEmpty(told)) return;
  yield* holdHomes([home]);
  const unkept = (yield* unkeptIn(home)).filter(
    ({ kind, place, why }) => kind === null && (place !== pausePlace || why !== undefined),
  );
  const known = new Map((yield* notesOf(home)).map((note) => [note.noteid, note]));
  const isTheirs = (noteid: number) => (known.get(noteid)?.source ?? "home") === "home";
  const { subjects } = yield* visibleWith(homes, { homes: [home], projects: [], studies: [] });
  const items = yield* rowsOf(
    arrays<[number]>(
      `SELECT itemid FROM items JOIN stays ON stays.item = items.key
       WHERE NOT items.provisional AND stays.home = $1 AND itemid = ANY ($2::bigint[])`,
      home,
      told.kept.flatMap(({ itemid }) => itemid ?? []),
    ),
  );
  const isItem = new Set(items.flat());
  let room = notes_max - known.size;
  const unlike = new Map(told.kept.map((note) => [note.noteid, note]));
  const kept = [...unlike.values()]
    .filter(({ noteid, start }) => {
      if (unkept.some((span) => isUnderWay(span, start * 1000)) || !isTheirs(noteid)) return false;
      if (!known.has(noteid)) room -= 1;
      return known.has(noteid) || room >= 0;
    })
    .map((note) => ({
      ...note,
      itemid: note.itemid !== null && isItem.has(note.itemid) ? note.itemid : null,
      subjectid: note.subjectid !== null && subjects.includes(note.subjectid) ? note.subjectid : null,
    }));
  yield* changeNotes(home, { kept, removed: told.removed.filter(isTheirs) });
}

function* notesOf(home: number): Work<Note[]> {
  const rows = yield* rowsOf(
    arrays<[string]>("SELECT record FROM records WHERE type = 'notes' AND number = $1", home),
  );
  return rows.map(([record]) => JSON.parse(record));
}

function idOf(homeid: number, noteid: number): string {
  return lookupText(identityOf("notes", { homeid, noteid }));
}
