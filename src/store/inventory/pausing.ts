import { arrays, change, objects, rowsOf, type Work } from "../database.ts";
import type { Erasure } from "../erasure.ts";
import { type Pause, type PausedSpan, type PauseRequest, pausePlace } from "../pause.ts";
import { erasedIn, holdHomes, removeBetween } from "./erasing.ts";
import type { Homes } from "./homes.ts";

/** All pauses, the oldest first. */
export function* allPauses(): Work<Pause[]> {
  return yield* rowsOf(objects<Pause>(`${pausesText} ORDER BY from_ms, id, home`));
}

/** Pauses of some homes, in order of home and time. */
export function* pausesIn(homes: readonly number[]): Work<Pause[]> {
  const text = `${pausesText} WHERE home = ANY ($1::bigint[]) ORDER BY home, from_ms, id`;
  return yield* rowsOf(objects<Pause>(text, homes));
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
    if (yield* keep(pause)) removed += yield* removeBetween(homes, pause.home, pause);
  return removed;
}

/** Keeps the pauses that the gateway of a home tells. Central removes nothing because a gateway says so: its token may have been stolen with the box. */
export function* takeToldPauses(home: number, told: readonly PausedSpan[]): Work<void> {
  if (told.length === 0) return;
  yield* holdHomes([home]);
  const known = yield* pausesIn([home]);
  const ids = new Set(known.map(({ id }) => id));
  let room = pauses_max - known.length;
  for (const pause of told) {
    if (!ids.has(pause.id)) room -= 1;
    if (room >= 0 || ids.has(pause.id)) yield* keep({ ...pause, home, own: 0 });
  }
}

/** Whether a pause is new. */
function* keep({ id, home, at_ms, own, from_ms, before_ms }: PauseRequest): Work<boolean> {
  const [known] = yield* rowsOf(
    arrays<[number]>("SELECT before_ms FROM pauses WHERE home = $1 AND id = $2", home, id),
  );
  if (known === undefined)
    yield* change(
      "INSERT INTO pauses (id, home, at_ms, own, from_ms, before_ms) VALUES ($1, $2, $3, $4, $5, $6)",
      ...[id, home, at_ms, own, from_ms, before_ms],
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
export function* unkeptIn(home: number): Work<Erasure[]> {
  const erased = yield* erasedIn(home);
  const paused = yield* pausesIn([home]);
  const whole = { subject: null, kind: null, address: null, itemid: null, readings: 0 };
  return [...erased, ...paused.map((pause) => ({ ...pause, ...whole, place: pausePlace }))];
}

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

const pausesText = "SELECT id, home, at_ms, own, from_ms, before_ms, refused FROM pauses";
