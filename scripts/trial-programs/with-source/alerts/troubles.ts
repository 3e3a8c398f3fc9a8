import { hour_ms } from "../../../../src/base/time.ts";
import type { Needy } from "../../../../src/central/alerts/outages.ts";
import { type FleetNeedType, fleetNeeds } from "../../../../src/domain/fleet-home.ts";

/** A trouble of a home: from when to when, and whether it comes and goes. */
export interface Trouble {
  readonly id: number;
  readonly home: number;
  readonly need: FleetNeedType;
  readonly from_ms: number;
  readonly to_ms: number;
  readonly flapping: boolean;
  /** It ends before anybody should hear of it. */
  readonly short: boolean;
}

export const markOf = ({ id }: Pick<Trouble, "id">) => `trouble-${id}.`;

/** Troubles of homes over a span, at most one of a kind in a home. */
export function plant(options: {
  readonly homes: number;
  readonly troubles: number;
  readonly from_ms: number;
  readonly to_ms: number;
  readonly random: () => number;
}): Trouble[] {
  const { homes, troubles, from_ms, to_ms, random } = options;
  const needs = Object.keys(fleetNeeds) as FleetNeedType[];
  const planted = new Map<string, Trouble>();
  for (let id = 1; planted.size < troubles; id += 1) {
    const home = 1 + Math.floor(random() * homes);
    const need = needs[Math.floor(random() * needs.length)] as FleetNeedType;
    const short = fleetNeeds[need].after_h > 0 && random() < 0.3;
    const lasts_h = short ? random() * (fleetNeeds[need].after_h - 1) : 60 + random() * 100;
    const began_ms = from_ms + Math.floor(random() * (to_ms - from_ms - 170 * hour_ms));
    const ended_ms = began_ms + lasts_h * hour_ms;
    const flapping = !short && fleetNeeds[need].after_h === 0 && random() < 0.3;
    if (!planted.has(`${home} ${need}`))
      planted.set(`${home} ${need}`, { id, home, need, from_ms: began_ms, to_ms: ended_ms, flapping, short });
  }
  return [...planted.values()];
}

/** Homes with what is wrong with them at a moment. One that comes and goes is there every other hour. */
export function needyAt(troubles: readonly Trouble[], now_ms: number): Needy[] {
  const there = troubles.filter(({ from_ms, to_ms, flapping }) => {
    const hour = Math.floor((now_ms - from_ms) / hour_ms);
    return now_ms >= from_ms && now_ms < to_ms && (!flapping || hour % 2 === 0);
  });
  return [...Map.groupBy(there, ({ home }) => home)].map(([homeid, of]) => ({
    homeid,
    needs: of.map((trouble) => ({ type: trouble.need, message: `Something is wrong: ${markOf(trouble)}` })),
  }));
}
