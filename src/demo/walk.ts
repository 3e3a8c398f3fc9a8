import { curtains, type SensorName, zonestatus } from "./devices.ts";
import type { Random } from "./random.ts";

export type FlatPlace = "bedroom" | "bathroom" | "kitchen" | "living" | "away";

/** An event `after_ms` after the walk began. */
export interface WalkEvent {
  readonly after_ms: number;
  readonly sensor: SensorName;
  readonly zonestatus: number;
}

/**
 * Sensor events of a walk from one place to another at about `pace_m_s`. A walk between the bedroom or bathroom and the
 * rest of the flat leads along the hall, past the curtain sensors one after the other.
 */
export function walk(from: FlatPlace, to: FlatPlace, random: Random, pace_m_s = usualPace_m_s): WalkEvent[] {
  const steps: WalkEvent[] = [];
  const add = (after_ms: number, sensor: SensorName, status: number) =>
    steps.push({ after_ms: Math.round(after_ms), sensor, zonestatus: status });
  if (from === to) return steps;
  let after_ms = 0;
  if (alongHall(from, to)) {
    const speed_m_s = pace_m_s * random.between(0.92, 1.08);
    const passed = quietSide(from) ? curtains : curtains.toReversed();
    const start_m = passed[0]?.metres ?? 0;
    add(0, "hall-wall", zonestatus.wall.alarm);
    const first_ms = random.between(400, 900);
    for (const { item, metres } of passed) {
      // A sensor fires where its narrow view is first crossed, now a bit earlier and now a bit later.
      after_ms = first_ms + (Math.abs(metres - start_m) / speed_m_s) * 1_000 + random.between(-60, 60);
      add(after_ms, item, zonestatus.curtain.alarm);
      add(after_ms + random.between(2_000, 4_000), item, zonestatus.curtain.idle);
    }
    add(after_ms + random.between(15_000, 25_000), "hall-wall", zonestatus.wall.idle);
  }
  if (from === "away" || to === "away") {
    after_ms += random.between(2_000, 6_000);
    add(after_ms, "front-door", zonestatus.door.alarm);
    add(after_ms + random.between(4_000, 15_000), "front-door", zonestatus.door.idle);
  }
  return steps.sort((one, other) => one.after_ms - other.after_ms);
}

/** Whether the way leads past the curtain sensors. */
export function alongHall(from: FlatPlace, to: FlatPlace): boolean {
  return quietSide(from) !== quietSide(to);
}

function quietSide(place: FlatPlace): boolean {
  return place === "bedroom" || place === "bathroom";
}

export const usualPace_m_s = 0.85;
