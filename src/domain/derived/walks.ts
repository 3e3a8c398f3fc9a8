import { type DerivedRow, dayAt, type HomeData, observedShare, onsetsOf, rounded } from "./home-data.ts";
import { walkingPassesOf } from "./walking-passes.ts";

/** Each walk along a line of curtain sensors. */
export function walks(home: HomeData): DerivedRow[] {
  return home.lines.flatMap(({ name, sensors }) => {
    const items = home.items.filter(({ itemname }) => sensors.some(({ item }) => item === itemname));
    const sightings = items.flatMap((item) =>
      onsetsOf(item, "present").map((at_ms) => ({ item: item.itemname, at_ms })),
    );
    return walkingPassesOf(sensors, sightings).walks.flatMap((walk) => {
      const { from_ms, to_ms, speed, direction, sensors: seen } = walk;
      const day = dayAt(home.days, from_ms);
      if (day === undefined) return [];
      const values = { line: name, speed: rounded(speed, 3), direction, sensors: seen };
      return [{ at_ms: from_ms, day: day.date, observed: observedShare(items, { from_ms, to_ms }), values }];
    });
  });
}
