import { isIn } from "../../base/time.ts";
import {
  type DerivedRow,
  dayAt,
  daysSince,
  type HomeData,
  type HomeItem,
  known,
  observedShare,
  onsetsOf,
  rounded,
} from "./home-data.ts";
import { quartilesOf } from "./quartiles.ts";
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

/** Walks of each day along each line, and the median of their speeds. A day without walks is in it: 0 where all sensors of the line were observed. */
export function walkDays(home: HomeData): DerivedRow[] {
  return home.lines.flatMap((line) => {
    const items = itemsOfLine(home, line);
    const { walks } = lineFindings(home, line);
    return daysSince(home, items).map((day) => {
      const own = walks.filter(({ from_ms }) => isIn(day, from_ms));
      const observed = Math.min(...items.map((item) => observedShare([item], day)));
      const isOver = day.to_ms <= home.now_ms;
      const median = quartilesOf(own.map(({ speed }) => rounded(speed, 3)))?.median;
      const values = {
        line: line.name,
        walks: isOver ? known(own.length, observed) : null,
        speed: median === undefined ? null : rounded(median, 3),
      };
      return { at_ms: day.from_ms, day: day.date, observed, values };
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
