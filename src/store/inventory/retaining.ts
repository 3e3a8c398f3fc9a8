import { arrays, change, objects, put, rowsOf, type Work } from "../database.ts";
import type { EnrollmentEnd, RetentionNotice } from "../retention.ts";
import { allOf, type Enrolled, enrollmentOf } from "./residents.ts";

/** See `Retention.enrollmentEnds`. To be read in one snapshot. */
export function* enrollmentEnds(): Work<EnrollmentEnd[]> {
  const enrolled = yield* allOf<Enrolled>("project_enrollments");
  const inHomes = Map.groupBy(enrolled, ({ homeid }) => homeid ?? 0);
  const known = yield* rowsOf(
    arrays<[string, number]>("SELECT type, number FROM records WHERE type IN ('homes', 'subjects')"),
  );
  const numbers = (type: string, more: Iterable<number>) =>
    new Set([...known.flatMap(([one, number]) => (one === type ? [number] : [])), ...more]);
  const homes = numbers("homes", inHomes.keys());
  homes.delete(0);
  const ofSubjects = Map.groupBy(enrolled, ({ subjectid }) => subjectid);
  return [
    ...[...homes].map((home) => ({ home, subject: -1, ended_ms: endOf(inHomes.get(home) ?? []) })),
    ...[...numbers("subjects", ofSubjects.keys())].map((subject) => {
      const own = ofSubjects.get(subject) ?? [];
      const last = own.toSorted((one, other) => (stopOf(other) ?? later) - (stopOf(one) ?? later));
      const home = last.find(({ homeid }) => homeid !== null)?.homeid ?? 0;
      return { home, subject, ended_ms: endOf(own) };
    }),
  ].sort((one, other) => one.home - other.home || one.subject - other.subject);
}

/** When the last of some enrollments has ended; null where one has not, or there is none. */
function endOf(enrolled: readonly Enrolled[]): number | null {
  const stops = enrolled.map(stopOf);
  return stops.length === 0 || stops.includes(null) ? null : Math.max(...stops.map(Number));
}

function stopOf(enrolled: Enrolled): number | null {
  const { before_ms = Number(enrolled.stop) * 1000 } = enrollmentOf(enrolled, later) ?? {};
  return before_ms === later ? null : before_ms;
}

const later = Number.MAX_SAFE_INTEGER;

/** See `Retention.retentionNotices`. */
export function retentionNotices(): Work<RetentionNotice[]> {
  return rowsOf(objects<RetentionNotice>("SELECT * FROM retention_notices ORDER BY home, subject"));
}

/** See `Retention.setRetentionNotices`. */
export function* setRetentionNotices(notices: readonly RetentionNotice[]): Work<void> {
  yield* change("DELETE FROM retention_notices");
  yield* put({
    put: "retention_notices",
    columns: {
      ...{ home: "bigint", subject: "bigint", due_ms: "bigint" },
      ...{ act: "text", days: "bigint", counted_ms: "bigint" },
    },
    rows: notices.map(({ home, subject, due_ms, act, days, counted_ms }) => [
      ...[home, subject, due_ms],
      ...[act, days, counted_ms],
    ]),
    conflict: "",
  });
}
