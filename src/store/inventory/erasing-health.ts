import { change, firstOf, objects, put, rowsOf, type Work } from "../database.ts";
import { type Gap, gapOutside, historyOutside, type Silence, silenceOutside } from "../erased-health.ts";
import { isUnderWay } from "../pause.ts";
import type { Between } from "../series/time-spans.ts";
import type { HomeStream } from "./erasure-plan.ts";

/** Removes what was learned of a device in some times besides its readings. What was before them stays, and what came later. */
export function* removeHealth(of: HomeStream, times: readonly Between[]): Work<void> {
  for (const span of times) {
    yield* removeState(of, span, yield* removeSilences(of, span));
    yield* removeGaps(of, span);
  }
}

/** Answers since when the device was silent when the span began; undefined: it was not. */
function* removeSilences({ stream, home }: HomeStream, span: Between): Work<number | undefined> {
  const condition = "stream = $1 AND home = $4 AND start_ms < $3 AND (stop_ms > $2 OR start_ms >= $2)";
  const given = [stream, span.from_ms, span.before_ms, home] as const;
  const silences = yield* rowsOf(
    objects<Silence>(`SELECT start_ms, stop_ms FROM silences WHERE ${condition}`, ...given),
  );
  if (silences.length === 0) return undefined;
  yield* change(`DELETE FROM silences WHERE ${condition}`, ...given);
  const left = silences.flatMap((silence) => silenceOutside(silence, span));
  yield* put({
    put: "silences",
    columns: { stream: "bigint", home: "bigint", start_ms: "bigint", stop_ms: "bigint" },
    rows: left.map(({ start_ms, stop_ms }) => [stream, home, start_ms, stop_ms]),
    // A box that was restored may have told silences that overlap: more than one then goes on at the end of the span.
    conflict: "ON CONFLICT (stream, home, start_ms) DO NOTHING",
  });
  return left.find(({ stop_ms }) => stop_ms === span.from_ms)?.start_ms;
}

function* removeGaps({ stream, home }: HomeStream, span: Between): Work<void> {
  const condition = "stream = $1 AND home = $4 AND from_ms < $3 AND (to_ms > $2 OR from_ms >= $2)";
  const given = [stream, span.from_ms, span.before_ms, home] as const;
  const gaps = yield* rowsOf(
    objects<Gap>(`SELECT from_ms, to_ms, reason, lost FROM gaps WHERE ${condition}`, ...given),
  );
  if (gaps.length === 0) return;
  yield* change(`DELETE FROM gaps WHERE ${condition}`, ...given);
  yield* put({
    put: "gaps",
    columns: { stream: "bigint", home: "bigint", from_ms: "bigint", to_ms: "bigint", reason: "text" },
    rows: gaps
      .flatMap((gap) => gapOutside(gap, span))
      .map(({ from_ms, to_ms, reason }) => [stream, home, from_ms, to_ms, reason]),
    // Two drivers may tell of one gap, or a gap may be told in parts.
    conflict: "ON CONFLICT (stream, home, from_ms, to_ms, reason) DO NOTHING",
  });
}

/**
 * A device that was heard in the span was heard until it began: where it was silent then, when that silence began. One that was
 * not heard before is not known any more.
 */
function* removeState({ stream, home }: HomeStream, span: Between, silent_ms = span.from_ms): Work<void> {
  const state = yield* firstOf(
    objects<StateRow>(
      "SELECT first_ms, heard_ms, facts FROM stream_states WHERE stream = $1 AND home = $2",
      ...[stream, home],
    ),
  );
  if (state === undefined) return;
  const { first_ms, heard_ms } = state;
  const facts = factsOutside(state, span);
  if (!isUnderWay(span, heard_ms))
    return void (yield* change(
      "UPDATE stream_states SET first_ms = $3, facts = $4 WHERE stream = $1 AND home = $2",
      ...[stream, home, isUnderWay(span, first_ms) ? span.before_ms : first_ms, facts],
    ));
  if (first_ms >= span.from_ms)
    return void (yield* change("DELETE FROM stream_states WHERE stream = $1 AND home = $2", stream, home));
  const before_ms = Math.max(first_ms, silent_ms);
  yield* change(
    `UPDATE stream_states SET heard_ms = $3, facts = $4, battery_percent = NULL, battery_mv = NULL, linkquality = NULL
     WHERE stream = $1 AND home = $2`,
    ...[stream, home, before_ms, facts],
  );
  // It is silent since then, and for how long will be known when it is heard again.
  yield* change(
    "DELETE FROM silences WHERE stream = $1 AND home = $2 AND start_ms >= $3",
    ...[stream, home, before_ms],
  );
}

interface StateRow {
  readonly first_ms: number;
  readonly heard_ms: number;
  readonly facts: string | null;
}

function factsOutside({ facts, heard_ms }: StateRow, span: Between): string | null {
  const history = historyOutside(JSON.parse(facts ?? "[]"), span, heard_ms);
  return history.length === 0 ? null : JSON.stringify(history);
}
