import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SystemClock } from "../../../../src/base/clock.ts";
import { lineLog } from "../../../../src/base/log.ts";
import { day_ms, hour_ms, type LocalDay, localDays, type TimeSpan } from "../../../../src/base/time.ts";
import { curtains, demoHome, type SensorName } from "../../../../src/demo/devices.ts";
import { appendHistory, livedDay } from "../../../../src/demo/history.ts";
import type { LivedDay, TimeSpent } from "../../../../src/demo/household.ts";
import type { HomeOutages } from "../../../../src/demo/outages.ts";
import { importProgramme } from "../../../../src/demo/programme.ts";
import type { DerivedName } from "../../../../src/domain/derived/derived-table.ts";
import type { DerivedRow } from "../../../../src/domain/derived/home-data.ts";
import { derivedRows } from "../../../../src/store/derived/derived-rows.ts";
import { openGatewayStore } from "../../../../src/store/sqlite/open-store.ts";

/** A month of the demo's household: what was lived, and what the derived measures say of it. */
export interface SimulatedMonth {
  readonly seed: number;
  readonly zone: string;
  /** The data directory of its gateway, until it was used. */
  readonly directory: string;
  /** The days that are compared: whole ones, without the first and the last. */
  readonly days: readonly LocalDay[];
  readonly lived: ReadonlyMap<string, LivedDay>;
  /** One after the other, over the midnights. */
  readonly stays: readonly TimeSpent[];
  readonly outages: HomeOutages;
  /** Rows of a measure, as if there were only some items where they are named. */
  readonly rows: (name: DerivedName, only?: readonly string[]) => Promise<readonly DerivedRow[]>;
}

/**
 * Records a month in a store of its own, as the devices of the demo tell it, and hands it over.
 *
 * @param of.zone that of this process, by which the household lives
 */
export async function withMonth<Result>(
  { year, month, seed, zone }: { year: number; month: number; seed: number; zone: string },
  use: (simulated: SimulatedMonth) => Promise<Result>,
): Promise<Result> {
  const [from, until] = [0, 1].map((after) => new Date(year, month + after, 1).getTime());
  const [from_ms, until_ms] = [from ?? 0, until ?? 0];
  const directory = mkdtempSync(join(tmpdir(), "lintel-measures-"));
  const clock = new SystemClock();
  const log = lineLog({ write: () => {}, clock, least: "error", colour: false });
  const store = await openGatewayStore({ directory, clock, log, home: demoHome });
  try {
    const outages = outagesOf(month, { from_ms, to_ms: until_ms });
    await importProgramme(store, { installed_ms: from_ms, now_ms: until_ms, timezone: zone });
    await appendHistory({ store, from_ms, until_ms, seed, outages, progress: () => {} });
    const all = localDays(zone, { from_ms, to_ms: until_ms });
    const lived = new Map(all.map((day) => [day.date, livedDay(seed, day.from_ms)]));
    const walking = [{ name: "hall", sensors: curtains }];
    const asked = { store, home: demoHome, zone, walking, now_ms: until_ms };
    const days = all.slice(1, -1);
    const span = { from_ms: days[0]?.from_ms ?? 0, to_ms: days.at(-1)?.to_ms ?? 0 };
    const rows: SimulatedMonth["rows"] = (name, only) => derivedRows(asked, { name, only }, span);
    return await use({
      seed,
      zone,
      directory,
      days,
      lived,
      stays: staysOf([...lived.values()]),
      outages,
      rows,
    });
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
}

/** In each month the power is cut once, at another hour, and another sensor has an empty battery for four days. */
function outagesOf(month: number, { from_ms, to_ms }: TimeSpan): HomeOutages {
  const cut_ms = from_ms + (5 + ((month * 7) % 20)) * day_ms + ((month * 5) % 24) * hour_ms;
  const dead_ms = from_ms + (3 + ((month * 11) % 20)) * day_ms + 4.6 * hour_ms;
  const sensor = mortal[month % mortal.length] ?? "fridge-door";
  return {
    powerCut: { from_ms: cut_ms, to_ms: cut_ms + 5.7 * hour_ms },
    deadBattery: { from_ms: dead_ms, to_ms: dead_ms + 4.2 * day_ms, sensor },
    broken_ms: to_ms - 2 * day_ms,
  };
}

const mortal: readonly SensorName[] = [
  "bathroom-wall",
  "front-door",
  "hall-curtain-2",
  "bedroom-wall",
  "kitchen-wall",
  "living-wall",
  "fridge-door",
];

/** Stays of the days in one row. A day of 23 hours is lived to its end on the next, which begins before. */
function staysOf(days: readonly LivedDay[]): TimeSpent[] {
  const all: TimeSpent[] = [];
  for (const [at, { stays }] of days.entries()) {
    const until_ms = days[at + 1]?.midnight_ms ?? Number.POSITIVE_INFINITY;
    for (const stay of stays) {
      const last = all.at(-1);
      const cut = { ...stay, to_ms: Math.min(stay.to_ms, until_ms) };
      if (cut.to_ms <= cut.from_ms) continue;
      if (last?.place === cut.place && last.asleep === cut.asleep && isNext(last, cut))
        all[all.length - 1] = { ...last, to_ms: cut.to_ms };
      else all.push(cut);
    }
  }
  return all;
}

/** At midnight she sleeps on, also where the clocks are put back an hour. */
function isNext(last: TimeSpan, next: TimeSpan): boolean {
  return next.from_ms - last.to_ms <= hour_ms;
}
