import { arrays, change, objects, rowsOf, type Work, withoutNulls } from "../database.ts";
import { type Erasure, everyDevice } from "../erasure.ts";
import { type Pause, type PausedSpan, type PauseReason, type PauseRequest, pausePlace } from "../pause.ts";
import { erasedIn, holdHomes, removeSpan } from "./erasing.ts";
import { notesFrom } from "./erasure-plan.ts";
import type { Homes } from "./homes.ts";
import { normalAddress } from "./item-names.ts";

/** Pauses of some homes, or of all, the oldest first. */
export function* pausesIn(homes?: readonly number[]): Work<Pause[]> {
  // All columns: those of an older store that is asked for what a restore has to keep are fewer.
  const where = homes === undefined ? "" : "WHERE home = ANY ($1::bigint[])";
  const text = `SELECT * FROM pauses ${where} ORDER BY from_ms, id, home`;
  const rows = homes === undefined ? objects<Pause>(text) : objects<Pause>(text, homes);
  return (yield* rowsOf(rows)).map(withoutNulls);
}

/**
 * Keeps pauses, and removes what was recorded in them already. Of one that is known the earlier end counts, so that stores that have heard of it in any order
 * agree. Answers how many readings were removed.
 */
export function* takePauses(homes: Homes, asked: readonly PauseRequest[]): Work<number> {
  const pauses = asked.map((pause) => (homes.one ? { ...pause, home: 0 } : pause));
  if (pauses.length === 0) return 0;
  yield* holdHomes(pauses.map(({ home }) => home));
  let removed = 0;
  for (const pause of pauses)
    if (yield* keep(pause)) {
      if (pause.why !== undefined && pause.kind === undefined)
        yield* change(`DELETE FROM records WHERE ${notesFrom(homes, pause)}`, pause.home);
      removed += yield* removeSpan(homes, pause.home, { ...everyDevice, ...pause });
    }
  return removed;
}

/** Keeps the pauses that the gateway of a home tells. Central removes nothing because a gateway says so: its token may have been stolen with the box. */
export function* takeToldPauses(home: number, told: readonly PausedSpan[]): Work<void> {
  if (told.length === 0) return;
  yield* holdHomes([home]);
  const known = yield* pausesIn([home]);
  const ids = new Map(known.map((pause) => [pause.id, pause]));
  let room = pauses_max - known.length;
  for (const pause of told) {
    const { own, why } = ids.get(pause.id) ?? {};
    if (own === undefined) room -= 1;
    // What central has stopped no box begins again, and no box hides its home from a study.
    if ((own === 1 && why !== undefined) || (own === undefined && pause.why === "restricted")) continue;
    if (room >= 0 || own !== undefined) yield* keep({ ...pause, home, own: 0 });
  }
}

/** Whether a pause is new. */
function* keep(pause: PauseRequest): Work<boolean> {
  const { id, home, at_ms, own, from_ms, before_ms, why, kind, address, itemid } = pause;
  const [known] = yield* rowsOf(
    arrays<[number]>("SELECT before_ms FROM pauses WHERE home = $1 AND id = $2", home, id),
  );
  if (known === undefined)
    yield* change(
      `INSERT INTO pauses (id, home, at_ms, own, from_ms, before_ms, why, kind, address, itemid)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      ...[id, home, at_ms, own, from_ms, before_ms],
      ...[why ?? null, kind ?? null, (address && normalAddress(address)) ?? null, itemid ?? null],
    );
  else if (before_ms < known[0])
    yield* change(
      "UPDATE pauses SET before_ms = $3 WHERE home = $1 AND id = $2",
      ...[home, id, Math.max(before_ms, from_ms)],
    );
  return known === undefined;
}

/** Of a home, as far as its gateway tells them: one an hour for a year. */
const pauses_max = 10_000;

/** The times of which nothing of a home is kept: what was erased, and pauses (`place` is -1). They hold until the transaction ends where the inventory is held. */
export function* unkeptIn(home: number): Work<Unkept[]> {
  const erased = yield* erasedIn(home);
  const paused = yield* pausesIn([home]);
  const whole = { subject: null, ...everyDevice, readings: 0, place: pausePlace };
  return [...erased, ...paused.map((pause) => ({ ...whole, ...pause }))];
}

/** A time of which nothing is kept; `why` as pauses have it. */
export type Unkept = Erasure & { readonly why?: PauseReason | undefined };

/** Counts readings that came of such times and were not kept; answers how many those are. */
export function* countRefused(refused: ReadonlyMap<Pick<Erasure, "id" | "place">, number>): Work<number> {
  for (const [{ id, place }, count] of refused) {
    if (place === pausePlace)
      yield* change("UPDATE pauses SET refused = refused + $2 WHERE id = $1", id, count);
    else
      yield* change(
        "UPDATE erasures SET refused = refused + $3 WHERE id = $1 AND place = $2",
        ...[id, place, count],
      );
  }
  return refused.values().reduce((sum, count) => sum + count, 0);
}
