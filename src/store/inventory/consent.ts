import type { Work } from "../database.ts";
import { type PausedSpan, type PauseRequest, pauseOpen_ms, type Withdrawal } from "../pause.ts";
import { type Between, joined, parts, without } from "../series/time-spans.ts";
import { holdHomes } from "./erasing.ts";
import { heldSpans } from "./erasure-plan.ts";
import { type Homes, ownHome } from "./homes.ts";
import { pausesIn, takePauses } from "./pausing.ts";
import { allOf, type Enrolled, enrollmentOf, heldBy } from "./residents.ts";

/** A device, or all of a home where no kind is named, and a time. */
type Scope = Pick<PausedSpan, "kind" | "address" | "itemid">;
type Span = Scope & Between & { readonly home: number };

/**
 * Stops the recording of a home for good; of a participant, that of the homes where he is enrolled, or of the devices that he holds alone. Answers all that is stopped
 * by it now; undefined where nobody knows the participant.
 */
export function* withdraw(homes: Homes, asked: Withdrawal): Work<readonly PauseRequest[] | undefined> {
  const { from_ms, at_ms } = asked;
  const before_ms = pauseOpen_ms;
  let wanted: readonly Span[];
  if ("home" in asked) wanted = [{ home: homes.one ? 0 : asked.home, from_ms, before_ms }];
  else {
    const own = (yield* enrolledByHome(homes)).flatMap(([home, of]) => {
      const theirs = of.filter(({ subjectid }) => subjectid === asked.subject);
      return theirs.length === 0 ? [] : [{ home, times: timesOf(theirs) }];
    });
    const held = yield* devicesOf(homes, asked.subject);
    if (own.length === 0 && held.length === 0) return undefined;
    const lives = own.filter(({ times }) => times.some((time) => time.before_ms > at_ms));
    const whole = asked.devices ? [] : lives.map(({ home }) => ({ home, from_ms, before_ms }));
    wanted = [
      ...whole,
      ...held
        .filter((span) => span.before_ms > from_ms && !whole.some(({ home }) => home === span.home))
        .map((span) => ({ ...span, from_ms: Math.max(span.from_ms, from_ms) })),
    ];
  }
  const known = yield* pausesIn([...new Set(wanted.map(({ home }) => home))]);
  const rows = wanted.map((span): PauseRequest => {
    // By its end, because a box that does not know the time cannot tell which are over.
    const same = known.find(
      (one) =>
        one.why === "consent_withdrawn" && scopeOf(one) === scopeOf(span) && one.before_ms === span.before_ms,
    );
    return same === undefined ? { ...span, ...made(at_ms), why: "consent_withdrawn" } : { ...same, own: 1 };
  });
  yield* takePauses(homes, rows);
  return rows;
}

/**
 * Lets the recording of each home end with its last enrollment, and that of a device with the enrollment of whoever holds it, and go on with the next one. Times before `now_ms` stay as
 * they are: a date that was mistyped must not take away what was recorded. Answers the ends that are new.
 */
export function* followEnrollments(homes: Homes, now_ms: number): Work<readonly PauseRequest[]> {
  const enrolled = yield* enrolledByHome(homes);
  const named = enrolled.map(([home]) => home);
  yield* holdHomes(named);
  const known = Map.groupBy(
    (yield* pausesIn(named)).filter(({ why, before_ms }) => why === "enrollment_ended" && before_ms > now_ms),
    ({ home }) => home,
  );
  const rows: PauseRequest[] = [];
  const begun: PauseRequest[] = [];
  for (const [home, of] of enrolled) {
    const wanted = (yield* endsIn(homes, home, of)).flatMap((span) => fromNow(span, now_ms));
    const there = known.get(home) ?? [];
    const scopes = new Set([...wanted, ...there].map(scopeOf));
    for (const scope of scopes) {
      const want = wanted.filter((span) => scopeOf(span) === scope);
      const have = there.filter((span) => scopeOf(span) === scope);
      if (Bun.deepEquals(joined(want), joined(have.flatMap((span) => fromNow(span, now_ms))))) continue;
      rows.push(...have.map((span) => ({ ...span, before_ms: now_ms, own: 1 as const })));
      begun.push(...want.map((span) => ({ ...span, ...made(now_ms), why: "enrollment_ended" as const })));
    }
  }
  yield* takePauses(homes, [...rows, ...begun]);
  return begun;
}

/** The times when nobody of a home is enrolled any more, or not yet again; and for whose devices that is so while others are. */
function* endsIn(homes: Homes, home: number, enrolled: readonly Enrolled[]): Work<Span[]> {
  const whole = gapsAfter(enrolled);
  const spans: Span[] = whole.map((gap) => ({ home, ...gap }));
  for (const [subject, theirs] of Map.groupBy(enrolled, ({ subjectid }) => subjectid)) {
    const gaps = without(gapsAfter(theirs), whole);
    if (gaps.length === 0) continue;
    const held = (yield* devicesOf(homes, subject)).filter((span) => span.home === home);
    for (const span of held) for (const gap of parts([span], gaps)) spans.push({ ...span, ...gap });
  }
  return spans;
}

/** The times after each enrollment in which there is none. */
function gapsAfter(enrolled: readonly Enrolled[]): Between[] {
  const times = timesOf(enrolled);
  const [first] = times;
  return first === undefined ? [] : without([{ from_ms: first.from_ms, before_ms: pauseOpen_ms }], times);
}

function timesOf(enrolled: readonly Enrolled[]): Between[] {
  return joined(enrolled.flatMap((one) => enrollmentOf(one, pauseOpen_ms) ?? []));
}

function fromNow<Time extends Between>(time: Time, now_ms: number): Time[] {
  return time.before_ms <= now_ms ? [] : [{ ...time, from_ms: Math.max(time.from_ms, now_ms) }];
}

/** The devices that a subject holds and nobody else does, each with when, and in which home. */
function* devicesOf(homes: Homes, subject: number): Work<Span[]> {
  const spans: Span[] = [];
  for (const held of yield* heldBy(subject, pauseOpen_ms)) {
    const found = yield* heldSpans(homes, subject, held, { lived: [], end: pauseOpen_ms });
    for (const { home, kind, address, itemid, from_ms, before_ms } of found.spans)
      if (kind !== null)
        spans.push({
          ...{ home, kind, from_ms, before_ms },
          ...(address === null ? {} : { address }),
          ...(itemid === null ? {} : { itemid }),
        });
  }
  return spans;
}

/** The enrollments of each home; at a gateway those of its own. */
function* enrolledByHome(homes: Homes): Work<[home: number, enrolled: Enrolled[]][]> {
  const own = homes.one ? yield* ownHome() : undefined;
  const all = (yield* allOf<Enrolled>("project_enrollments")).filter(
    ({ homeid }) => homeid !== null && (own === undefined || homeid === own),
  );
  return [...Map.groupBy(all, ({ homeid }) => (homes.one ? 0 : Number(homeid)))];
}

function scopeOf({ home, kind, address, itemid }: Span): string {
  return `${home} ${kind} ${address} ${itemid}`;
}

function made(at_ms: number) {
  return { id: crypto.getRandomValues(new Uint8Array(16)).toHex(), at_ms, own: 1 } as const;
}
