import { day_ms } from "../../durations.ts";
import type { AsOf, ComparedDays, DailyArrivals, Sender } from "../central-store.ts";
import { arrays, firstOf, hold, objects, put, reach, rowsOf, rowsOfAll, type Work } from "./work.ts";

/**
 * Notes of a home, which is held, up to which day all that its gateway had is here. Central learns that with a report: where the numbers that it
 * names are held, or those that the report before named. Call it before the new report is kept.
 */
export function* noteArrived(epoch: string, { home, at_ms }: Sender, as_of: AsOf | undefined): Work<void> {
  const known = yield* firstOf(
    objects<Told>(
      `SELECT held_seq, told_seq, told_day, reported_ms, uploaded_ms FROM sources WHERE home = $1 AND epoch = $2`,
      home,
      epoch,
    ),
  );
  if (known === undefined) return;
  const { held_seq, told_seq, told_day, reported_ms, uploaded_ms } = known;
  const arrived = new Map<number, number>();
  if (as_of !== undefined && held_seq >= as_of.last_seq) arrived.set(as_of.day, at_ms);
  // What was on its way then has come with a batch after that report, at the latest with the last one.
  if (told_seq !== null && told_day !== null && held_seq >= told_seq)
    arrived.set(told_day, Math.max(reported_ms ?? 0, uploaded_ms ?? 0));
  yield* put({
    put: "nights",
    columns: { home: "bigint", day: "bigint", arrived_ms: "bigint" },
    rows: [...arrived].map(([day, arrived_ms]) => [home, day, arrived_ms]),
    conflict:
      "ON CONFLICT (home, day) DO UPDATE SET arrived_ms = coalesce(nights.arrived_ms, excluded.arrived_ms)",
  });
}

interface Told {
  readonly held_seq: number;
  readonly told_seq: number | null;
  readonly told_day: number | null;
  readonly reported_ms: number | null;
  readonly uploaded_ms: number | null;
}

/** Of compared days those that are kept otherwise: a day that never differed has nothing to be kept, and one long ago is not looked at. */
export function* newlyCompared(compared: ComparedDays, { home, at_ms }: Sender): Work<[number, number][]> {
  const today = Math.floor(at_ms / day_ms);
  const days = [...compared.keys()].filter((day) => day <= today + 1 && day > today - compared_days_max);
  const rows = yield* rowsOf(
    arrays<[day: number, differing: number]>(
      "SELECT day, differing FROM nights WHERE home = $1 AND day = ANY ($2::bigint[])",
      home,
      days,
    ),
  );
  const kept = new Map(rows);
  return days
    .map((day): [number, number] => [day, compared.get(day) ?? 0])
    .filter(([day, differing]) => differing !== (kept.get(day) ?? 0));
}

/** See `CentralStore.noteCompared`. */
export function* noteCompared(compared: ComparedDays, sender: Sender): Work<void> {
  yield* hold({ home: sender.home });
  yield* put({
    put: "nights",
    columns: { home: "bigint", day: "bigint", differing: "bigint" },
    rows: (yield* newlyCompared(compared, sender)).map(([day, differing]) => [sender.home, day, differing]),
    conflict: "ON CONFLICT (home, day) DO UPDATE SET differing = excluded.differing",
  });
}

/** See `CentralStore.nights`. */
export function* dailyArrivalsOf(homes: readonly number[], from_day: number): Work<DailyArrivals[]> {
  yield* reach(homes);
  const [rows, first] = yield* rowsOfAll(
    objects<NightRow>(
      "SELECT home, day, arrived_ms, differing FROM nights WHERE home = ANY ($1::bigint[]) AND day >= $2 ORDER BY home, day",
      homes,
      from_day,
    ),
    arrays<[home: number, day: number]>(
      "SELECT home, min(day) FROM nights WHERE home = ANY ($1::bigint[]) AND arrived_ms IS NOT NULL GROUP BY home",
      homes,
    ),
  );
  const first_days = new Map(first);
  const byHome = Map.groupBy(rows, ({ home }) => home);
  return homes.map((home) => ({
    home,
    first_day: first_days.get(home),
    days: (byHome.get(home) ?? []).map(({ day, arrived_ms, differing }) => ({
      day,
      differing,
      ...(arrived_ms === null ? {} : { arrived_ms }),
    })),
  }));
}

interface NightRow {
  readonly home: number;
  readonly day: number;
  readonly arrived_ms: number | null;
  readonly differing: number;
}

/** Rows that comparisons may make of a home; arrivals make one a day. */
const compared_days_max = 400;
