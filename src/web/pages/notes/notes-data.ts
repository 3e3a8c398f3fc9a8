import { OperatorError } from "../../../base/errors.ts";
import { plainLine } from "../../../base/text.ts";
import { overlap, type TimeSpan } from "../../../base/time.ts";
import { note_words_max, noteKinds } from "../../../domain/note-kinds.ts";
import { timeOf } from "../../../domain/notes-in-time.ts";
import type { Note } from "../../../domain/records/programme-records.ts";
import { addNote } from "../../../store/note-requests.ts";
import { HttpError } from "../../server/http-errors.ts";
import { askedHome, requireRecord } from "../asked-home.ts";
import type { ShownNote } from "../parts/note-words.ts";
import type { Asked } from "../site.ts";

/** The notes of a home that a page shows, and whether its reader may write some. */
export interface Noting {
  readonly notes: readonly ShownNote[];
  /** The home that the form is for; null: the reader writes none. */
  readonly form: number | null;
}

/**
 * Finds the notes of a time, the newest first.
 *
 * @param of.item only notes of all of the home, and of this item by its number; absent: all
 */
export async function notingIn(
  asked: Asked,
  of: { readonly home: number | undefined; readonly time: TimeSpan; readonly item?: number },
): Promise<Noting> {
  const { home, time, item } = of;
  if (home === undefined) return { notes: [], form: null };
  const all = await asked.store.recordsOf("notes", home);
  const notes = all.filter(
    (note) =>
      overlap(timeOf(note), time) && (item === undefined || note.itemid === null || note.itemid === item),
  );
  const isNamed = notes.some(({ itemid }) => itemid !== null);
  const items = isNamed ? await asked.store.itemsIn(home) : [];
  const names = new Map(items.map(({ itemid, itemname }) => [itemid, itemname]));
  const mayRemove = await removableBy(asked);
  return {
    notes: notes
      .reverse()
      .slice(0, notes_max)
      .map((note) => ({
        noteid: note.noteid,
        kind: note.kind,
        from_ms: timeOf(note).from_ms,
        to_ms: note.stop === null ? null : timeOf(note).to_ms,
        words: note.words,
        device: note.itemid === null ? null : (names.get(note.itemid) ?? "a device"),
        removable: mayRemove(note),
      })),
    form: mayWrite(asked) ? home : null,
  };
}

/** Takes the form of a note: writes one, or removes one. */
export async function noteForm(asked: Asked, form: URLSearchParams): Promise<void> {
  if (!mayWrite(asked)) throw new HttpError("notes_scope", {});
  const home = await askedHome({ ...asked, params: { home: form.get("home") ?? "" } });
  if (home === undefined) throw new HttpError("path_unknown", {});
  if (asked.site.role === "central") await requireRecord(asked, home);
  const { store } = asked.site;
  if (form.get("do") === "remove") {
    const noteid = Number(form.get("note"));
    const note = (await asked.store.recordsOf("notes", home)).find((one) => one.noteid === noteid);
    if (note !== undefined && (await removableBy(asked))(note))
      await store.changeNotes(home, { kept: [], removed: [noteid] });
    return;
  }
  const note = await noteIn(asked, home, form);
  await addNote(store, note).catch((thrown) => {
    throw thrown instanceof OperatorError ? malformed("from", thrown.message) : thrown;
  });
}

/** The note that a form describes. @throws HttpError 422 where it is none */
async function noteIn(asked: Asked, home: number, form: URLSearchParams): Promise<Omit<Note, "noteid">> {
  const { site, now_ms } = asked;
  const zone = await site.zoneOf(home);
  const kind = noteKinds.find((one) => one === form.get("kind"));
  if (kind === undefined) throw malformed("kind", `one of ${noteKinds.join(", ")}`);
  const start = momentIn(form.get("from") ?? "", zone);
  const until = form.get("until") ?? "";
  const stop = until === "" ? null : momentIn(until, zone);
  if (start === undefined) throw malformed("from", "a time such as 2026-11-03T08:00");
  if (stop === undefined || (stop !== null && stop < start))
    throw malformed("until", "a time that is not before the beginning, or nothing where it lasts");
  const words = plainLine(form.get("words") ?? "")
    .trim()
    .slice(0, note_words_max);
  const item = Number(form.get("item") ?? 0);
  const itemid = (await asked.store.itemsIn(home)).find((one) => one.itemid === item)?.itemid ?? null;
  const source = asked.token.scope === "admin" ? "coordinator" : "home";
  const said = Math.floor(now_ms / 1000);
  return {
    ...{ homeid: home, itemid, subjectid: null, kind, start, stop, words: words === "" ? null : words },
    ...{ source, said },
  };
}

/** Unix seconds of a local time as forms have it; undefined where it is none. */
function momentIn(text: string, zone: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text)) return undefined;
  try {
    return Math.floor(Temporal.PlainDateTime.from(text).toZonedDateTime(zone).epochMilliseconds / 1000);
  } catch {
    return undefined;
  }
}

/** Administrators may; at a gateway whose configuration says so, its people too. */
function mayWrite({ site, token }: Asked): boolean {
  return token.scope === "admin" || site.noting?.mayNote === true;
}

/** Finds which notes the reader may remove: the people of a home those of the home, and an administrator at a gateway none that central has said. */
async function removableBy(asked: Asked): Promise<(note: Note) => boolean> {
  const isAdmin = asked.token.scope === "admin";
  const ofCentral = isAdmin ? await asked.site.noting?.ofCentral() : undefined;
  return ({ noteid, source }) =>
    mayWrite(asked) && (source === "home" || (isAdmin && ofCentral?.has(noteid) !== true));
}

function malformed(parameter: string, expected: string): HttpError {
  return new HttpError("parameter_malformed", { parameter, expected });
}

/** Notes of a page. */
const notes_max = 200;
