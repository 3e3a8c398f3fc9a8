import { nowhere, numbersIn, type Visible } from "../../domain/records/visible-records.ts";
import { arrays, change, objects, rowsOf, rowsOfAll, type Work, withoutNulls } from "../database.ts";
import { type PauseRequest, pauseOpen_ms, restricts } from "../pause.ts";
import { type AskedUses, type JournalEntry, newJournalId, type RestrictionRequest } from "../restriction.ts";
import { withdraw } from "./consent.ts";
import type { Homes } from "./homes.ts";
import { pausesIn, takePauses } from "./pausing.ts";
import { recordsWith } from "./records.ts";
import { nobodyRefuses, refusingUses } from "./uses.ts";

/** See `Restrictions.restrict`. */
export function* restrict(homes: Homes, request: RestrictionRequest): Work<readonly number[] | undefined> {
  const wanted = yield* homesOf(homes, request);
  if (wanted === undefined) return undefined;
  const known = yield* restrictedHomes();
  const { at_ms, from_ms = at_ms } = request;
  yield* takePauses(
    homes,
    wanted
      .filter((home) => !known.has(home))
      .map((home): PauseRequest => {
        const span = { at_ms, from_ms, before_ms: pauseOpen_ms };
        return { id: newJournalId(), home, ...span, why: "restricted", own: 1 };
      }),
  );
  yield* noteRequest("restrict", request, wanted);
  return wanted;
}

/** See `Restrictions.liftRestriction`. */
export function* liftRestriction(
  homes: Homes,
  request: RestrictionRequest,
): Work<readonly number[] | undefined> {
  const wanted = yield* homesOf(homes, request);
  if (wanted === undefined) return undefined;
  const known = yield* restrictedHomes();
  const lifted = wanted.filter((home) => known.has(home));
  const { at_ms } = request;
  const open = (yield* pausesIn(lifted)).filter(restricts);
  // The withdrawal begins before the restriction ends: nothing is recorded between. By a clock that shows a time long past it would take what was kept.
  for (const { home, from_ms } of open)
    yield* withdraw(homes, { home, from_ms: Math.max(at_ms, from_ms), at_ms });
  yield* takePauses(
    homes,
    open.map((pause) => ({ ...pause, before_ms: at_ms, own: 1 })),
  );
  yield* noteRequest("lift", request, lifted);
  return lifted;
}

/** The homes of a request; at a gateway its own. Of a participant all where he is or was enrolled: undefined where none is known. */
function* homesOf(homes: Homes, { target }: RestrictionRequest): Work<readonly number[] | undefined> {
  if ("home" in target) return [homes.one ? 0 : target.home];
  const enrolled = yield* recordsWith("project_enrollments", "subjectid", [target.subject]);
  const found = [...numbersIn(enrolled, "homeid")].sort((one, other) => one - other);
  if (found.length === 0) return undefined;
  return homes.one ? [0] : found;
}

function* noteRequest(
  act: JournalEntry["act"],
  { target, at_ms, who, reason }: RestrictionRequest,
  homes: readonly number[],
): Work<void> {
  const subject = "subject" in target ? target.subject : undefined;
  for (const home of homes)
    yield* noteInJournal({ id: newJournalId(), at_ms, act, who, home, subject, words: reason });
}

/** See `Restrictions.noteInJournal`. */
export function* noteInJournal({ id, at_ms, act, who, home, subject, words }: JournalEntry): Work<void> {
  yield* change(
    "INSERT INTO journal (id, at_ms, act, who, home, subject, words) VALUES ($1, $2, $3, $4, $5, $6, $7)",
    ...[id, at_ms, act, who, home ?? null, subject ?? null, words.slice(0, words_max)],
  );
}

/** See `Restrictions.journal`. */
export function* journal(limit: number): Work<JournalEntry[]> {
  const text = "SELECT * FROM journal ORDER BY at_ms DESC, id DESC LIMIT $1";
  return (yield* rowsOf(objects<JournalEntry>(text, limit))).map(withoutNulls).reverse();
}

const words_max = 1_000;

/** Homes that are restricted now; at a gateway 0. */
export function* restrictedHomes(): Work<ReadonlySet<number>> {
  const rows = yield* rowsOf(
    arrays<[number]>(
      "SELECT DISTINCT home FROM pauses WHERE why = 'restricted' AND before_ms = $1",
      pauseOpen_ms,
    ),
  );
  return new Set(rows.flat());
}

/** The records that are seen, without those that are restricted. To be read in one snapshot. */
export function* withoutRestricted(homes: Homes, seen: Visible, asked?: AskedUses): Work<Visible> {
  const { hidden, people, refused } = yield* hiddenFor(homes, asked);
  const leftOut = asked && {
    leftOut: homes.one ? refused : refused.filter((one) => seen.homes.includes(one)),
  };
  if (hidden.size + people.size === 0) return { ...seen, ...leftOut };
  if (homes.one) return { ...nothing, ...leftOut };
  return {
    ...seen,
    ...leftOut,
    homes: seen.homes.filter((home) => !hidden.has(home)),
    subjects: seen.subjects.filter((subject) => !people.has(subject)),
  };
}

/** Homes and people that nobody sees, or not for these uses; and of the homes those that are hidden for want of consent alone. */
function* hiddenFor(homes: Homes, asked: AskedUses | undefined) {
  const restricted = yield* restrictedHomes();
  const refusing = asked === undefined ? nobodyRefuses : yield* refusingUses(homes, asked);
  const hidden = restricted.union(refusing.homes);
  const people = (yield* hiddenSubjects(hidden)).union(refusing.subjects);
  return { hidden, people, refused: inOrder(refusing.homes.difference(restricted)) };
}

/** All that there is, without what is restricted, as a token sees it that is not bound; undefined: nothing is left out. To be read in one snapshot. */
export function* unrestricted(homes: Homes, asked?: AskedUses): Work<Visible | undefined> {
  const { hidden, people, refused } = yield* hiddenFor(homes, asked);
  if (hidden.size + people.size === 0) return undefined;
  const leftOut = asked && { leftOut: refused };
  if (homes.one) return { ...nothing, ...leftOut };
  const known = yield* rowsOfAll(
    arrays<[number]>("SELECT number FROM records WHERE type = 'homes'"),
    arrays<[number]>("SELECT DISTINCT home FROM stays"),
    arrays<[number]>("SELECT DISTINCT home FROM streams"),
    arrays<[number]>("SELECT DISTINCT home FROM tokens WHERE home IS NOT NULL"),
  );
  const shown = new Set(known.flat(2)).difference(hidden);
  return {
    ...nothing,
    ...leftOut,
    homes: [nowhere, ...inOrder(shown)],
    hidden: { homes: inOrder(hidden), subjects: inOrder(people) },
  };
}

const nothing: Visible = { homes: [], subjects: [], projects: [], studies: [] };

/** People who live, or have lived, in restricted homes and in no other. */
function* hiddenSubjects(hidden: ReadonlySet<number>): Work<ReadonlySet<number>> {
  if (hidden.size === 0) return new Set();
  const there = yield* recordsWith("project_enrollments", "homeid", [...hidden]);
  const people = numbersIn(there, "subjectid");
  const all = yield* recordsWith("project_enrollments", "subjectid", [...people]);
  const elsewhere = all.filter(({ homeid }) => homeid !== null && !hidden.has(Number(homeid)));
  return people.difference(numbersIn(elsewhere, "subjectid"));
}

function inOrder(numbers: ReadonlySet<number>): number[] {
  return [...numbers].sort((one, other) => one - other);
}
