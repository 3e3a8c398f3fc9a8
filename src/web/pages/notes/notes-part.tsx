import type { TimeSpan } from "../../../base/time.ts";
import { note_words_max, noteKinds } from "../../../domain/note-kinds.ts";
import { isMoment, kindWords, partOf, type ShownNote } from "../parts/note-words.ts";
import { Swatch } from "../parts/swatch.tsx";
import { addressMinute, momentText, type Times } from "../time-text.ts";
import type { Noting } from "./notes-data.ts";

interface NotesOf extends Noting {
  readonly times: Times;
  /** The address of the page. */
  readonly path: string;
  /** The time that the form begins with. */
  readonly chosen: TimeSpan;
  /** Somebody has chosen that time. */
  readonly isChosen?: boolean;
  /** The item that a note may be about. */
  readonly item?: { readonly itemid: number; readonly title: string } | undefined;
}

/** Notes of the time that is shown, and a form that writes one. */
export function Notes({ notes, form, times, path, chosen, isChosen = false, item }: NotesOf) {
  if (notes.length === 0 && form === null) return null;
  return (
    <section class="notes" aria-labelledby="notes">
      <h2 id="notes">Notes on time</h2>
      {notes.length === 0 ? null : (
        <ul>
          {notes.map((note) => (
            <li key={note.noteid}>
              <Swatch>
                <rect class="note" width="100%" height="4" />
              </Swatch>{" "}
              <span>
                {kindWords[note.kind]}, {spanText(note, times)}
                {note.device === null ? null : (
                  <>
                    , <bdi>{note.device}</bdi>
                  </>
                )}
                {note.words === null ? null : (
                  <>
                    : <bdi>{note.words}</bdi>
                  </>
                )}
              </span>
              {form === null || !note.removable ? null : (
                <form method="post" action="/notes">
                  <input type="hidden" name="home" value={form} />
                  <input type="hidden" name="next" value={path} />
                  <input type="hidden" name="note" value={note.noteid} />
                  <button type="submit" name="do" value="remove">
                    Remove
                  </button>
                </form>
              )}
            </li>
          ))}
        </ul>
      )}
      {form === null ? null : (
        <details open={isChosen}>
          <summary>Note something about this time</summary>
          <form
            method="post"
            action="/notes"
            key={`${chosen.from_ms} ${chosen.to_ms}`}
            // The browser refuses a note that ends before it begins, while its words are still in the form.
            onInput={({ currentTarget: form }) => {
              form["until"].min = form["from"].value;
            }}
          >
            <input type="hidden" name="home" value={form} />
            <input type="hidden" name="next" value={path} />
            <fieldset>
              <legend>What was it?</legend>
              {noteKinds.map((kind) => (
                <label key={kind}>
                  <input type="radio" name="kind" value={kind} required /> {kindWords[kind]}
                </label>
              ))}
            </fieldset>
            <label>
              From{" "}
              <input
                type="datetime-local"
                name="from"
                defaultValue={addressMinute(chosen.from_ms, times.zone)}
                required
              />
            </label>
            <label>
              until (empty: it lasts){" "}
              <input
                type="datetime-local"
                name="until"
                defaultValue={addressMinute(chosen.to_ms, times.zone)}
              />
            </label>
            {item === undefined ? null : (
              <label>
                <input type="checkbox" name="item" value={item.itemid} /> Only about <bdi>{item.title}</bdi>
              </label>
            )}
            <label>
              In your own words, if you like{" "}
              <input type="text" name="words" maxLength={note_words_max} autocomplete="off" />
            </label>
            <button type="submit">Note it</button>
          </form>
        </details>
      )}
    </section>
  );
}

/** Notes above a strip, which they leave to be seen. For an `svg` without a view box. */
export function NoteBands(of: { notes: readonly ShownNote[]; span: TimeSpan; now_ms: number }) {
  const { notes, span, now_ms } = of;
  const share = (at_ms: number) => (100 * (at_ms - span.from_ms)) / (span.to_ms - span.from_ms);
  return (
    <>
      {notes.map((note) => {
        const part = partOf(note, span, now_ms);
        if (part.from_ms >= part.to_ms) return null;
        return (
          <rect
            key={note.noteid}
            class="note"
            x={`${share(part.from_ms).toFixed(3)}%`}
            width={`${Math.max(note_share_min, share(part.to_ms) - share(part.from_ms)).toFixed(3)}%`}
            y="0"
            height="4"
          >
            <title>{kindWords[note.kind]}</title>
          </rect>
        );
      })}
    </>
  );
}

/** A note in words, behind its kind: `from Tuesday, 07:14 on`. */
function spanText(note: ShownNote, times: Times): string {
  const from = momentText(note.from_ms, times);
  if (note.to_ms === null) return `from ${from} on`;
  return isMoment(note) ? from : `${from} to ${momentText(note.to_ms, times)}`;
}

/** So much of a strip is seen of the shortest note, percent. */
const note_share_min = 0.4;
