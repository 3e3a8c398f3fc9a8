import { clockQuality } from "../../clock.ts";
import type { Device } from "../../reading.ts";
import { type SeriesName, seriesOf } from "../../series.ts";
import { knownStream } from "../core/items.ts";
import { arrays, firstOf, objects, rowsOf, rowsOfAll, type Work } from "../core/work.ts";
import type { UncertainTime } from "../doubts.ts";
import type { BootTime, HeldFact, WaitingFact } from "../store.ts";
import type { Connection } from "./connection.ts";

/** Stores facts that wait for their time, and the known time of each boot. Works inside the caller's transaction. */
export class TimeKeeper {
  readonly #putBoot;
  readonly #hold;
  readonly #release;

  constructor(database: Connection) {
    this.#putBoot = database.keep(
      `INSERT INTO boots (boot, timeline, seen_ms, bound_ms) VALUES (?, ?, ?, ?)
       ON CONFLICT (boot) DO UPDATE SET
         timeline = coalesce(excluded.timeline, timeline),
         seen_ms = max(seen_ms, excluded.seen_ms),
         bound_ms = excluded.bound_ms`,
    );
    this.#hold = database.keep("INSERT INTO waiting (boot, monotonic_ms, fact) VALUES (?, ?, ?)");
    this.#release = database.keep("DELETE FROM waiting WHERE id = ?");
  }

  keep(notes: {
    readonly boots?: readonly BootTime[];
    readonly held?: readonly HeldFact[];
    readonly released?: readonly number[];
  }): void {
    for (const { boot, timeline, seen_ms, bound_ms } of notes.boots ?? []) {
      const known = timeline === undefined ? null : JSON.stringify(timeline);
      this.#putBoot.run(boot, known, seen_ms, bound_ms ?? null);
    }
    for (const { boot, monotonic_ms, fact } of notes.held ?? [])
      this.#hold.run(boot, monotonic_ms, JSON.stringify(fact, withoutFacts));
    for (const id of notes.released ?? []) this.#release.run(id);
  }
}

/** Facts of a device are told again with each sign of life, and need not wait. */
function withoutFacts(name: string, value: unknown): unknown {
  return name === "facts" ? undefined : value;
}

/** See `GatewayStore.timeKnown`. */
export function* timeKnown(): Work<{ boots: BootTime[]; waiting: number }> {
  const [rows, [waiting]] = yield* rowsOfAll(
    objects<BootRow>("SELECT boot, timeline, seen_ms, bound_ms FROM boots ORDER BY ordinal"),
    arrays<[number]>("SELECT count(*) FROM waiting"),
  );
  const boots = rows.map(({ timeline, bound_ms, ...boot }) => ({
    ...boot,
    timeline: timeline === null ? undefined : JSON.parse(timeline),
    bound_ms: bound_ms ?? undefined,
  }));
  return { boots, waiting: waiting?.[0] ?? 0 };
}

/** See `Doubts`. */
export function* uncertainTimes(): Work<UncertainTime[]> {
  const { boots } = yield* timeKnown();
  return boots.flatMap(({ timeline, seen_ms, bound_ms }) => {
    if (timeline === undefined || bound_ms === undefined) return [];
    const from_ms = Math.round(timeline.offset_ms);
    return [{ from_ms, to_ms: Math.round(from_ms + seen_ms) }];
  });
}

interface BootRow {
  readonly boot: string;
  readonly timeline: string | null;
  readonly seen_ms: number;
  readonly bound_ms: number | null;
}

/** See `GatewayStore.deviceOffset`. */
export function* deviceOffset(series: SeriesName, device: Device): Work<number | undefined> {
  if (seriesOf(series).deviceClock !== true) return undefined;
  const stream = yield* knownStream(device, 0);
  if (stream === undefined) return undefined;
  const row = yield* firstOf(
    arrays<[number]>(
      `SELECT offset_ms FROM ${series}
       WHERE stream = $1 AND clock = ${clockQuality.device} ORDER BY stamp DESC, seq DESC LIMIT 1`,
      stream,
    ),
  );
  return row?.[0];
}

/** See `GatewayStore.waiting`. */
export function* waitingFacts(limit: number): Work<WaitingFact[]> {
  const rows = yield* rowsOf(
    objects<Omit<WaitingFact, "fact"> & { fact: string }>(
      `SELECT id, boot, monotonic_ms, fact FROM boots JOIN waiting USING (boot)
       ORDER BY ordinal, monotonic_ms, id LIMIT $1`,
      limit,
    ),
  );
  return rows.map(({ fact, ...row }) => ({ ...row, fact: JSON.parse(fact) }));
}
