import {
  type DerivedRow,
  dayAt,
  type HomeData,
  type HomeItem,
  observedShare,
  onsetsOf,
  rounded,
} from "./home-data.ts";
import { type WalkingFindings, type WalkingLine, walkingPassesOf } from "./walking-passes.ts";

/** Each walk along a line of curtain sensors. */
export function walks(home: HomeData): DerivedRow[] {
  return home.lines.flatMap((line) => {
    const items = itemsOfLine(home, line);
    return lineFindings(home, line).walks.flatMap((walk) => {
      const { from_ms, to_ms, speed, direction, sensors: seen } = walk;
      const day = dayAt(home.days, from_ms);
      if (day === undefined) return [];
      const values = { line: line.name, speed: rounded(speed, 3), direction, sensors: seen };
      return [{ at_ms: from_ms, day: day.date, observed: observedShare(items, { from_ms, to_ms }), values }];
    });
  });
}

/** Walks along a line, and how often something was none. */
export function lineFindings(home: Pick<HomeData, "items">, line: WalkingLine): WalkingFindings {
  const sightings = itemsOfLine(home, line).flatMap((item) =>
    onsetsOf(item, "present").map((at_ms) => ({ item: item.itemname, at_ms })),
  );
  return walkingPassesOf(line.sensors, sightings);
}

function itemsOfLine({ items }: Pick<HomeData, "items">, { sensors }: WalkingLine): HomeItem[] {
  return items.filter(({ itemname }) => sensors.some(({ item }) => item === itemname));
}
