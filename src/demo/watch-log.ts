import type { Activity, Block } from "../../drivers/watch/health-log.ts";
import { block_ms } from "../../drivers/watch/readings.ts";
import { hour_ms } from "../durations.ts";
import type { TimeSpan } from "../meaning/span.ts";
import type { LivedDay, TimeSpent } from "./household.ts";
import { during } from "./outages.ts";
import type { Random } from "./random.ts";
import type { FlatPlace } from "./walk.ts";

/** The watch's log of a day: a block for every ten minutes, also where nobody wore it. */
export function watchLogOf(day: LivedDay, random: Random): Block[] {
  const notWorn = takenOff(day, random);
  const blocks: Block[] = [];
  const end_ms = Math.max(...day.stays.map(({ to_ms }) => to_ms));
  let from_ms = Math.ceil(day.midnight_ms / block_ms) * block_ms;
  for (; from_ms < end_ms; from_ms += block_ms) {
    const span = { from_ms, to_ms: from_ms + block_ms };
    const worn = blockOf(day, span, random);
    const off = notWorn.some((one) => span.from_ms < one.to_ms && one.from_ms < span.to_ms);
    blocks.push(off ? { end_ms: span.to_ms, steps: 0, activity: "NOT_WORN" } : worn);
  }
  return blocks;
}

/** On its charger two evenings of three, and some mornings forgotten beside the wash-basin. */
function takenOff(day: LivedDay, random: Random): TimeSpan[] {
  const at = (hour: number) => day.midnight_ms + Math.round((hour * hour_ms) / block_ms) * block_ms;
  const spans: TimeSpan[] = [];
  const [charges, forgets] = [random.chance(0.65), random.chance(0.09)];
  if (forgets) spans.push({ from_ms: at(random.between(7, 7.6)), to_ms: at(random.between(11.5, 13.5)) });
  if (charges) spans.push({ from_ms: at(random.between(19.6, 20.2)), to_ms: at(random.between(20.9, 21.6)) });
  return spans;
}

function blockOf(day: LivedDay, span: TimeSpan, random: Random): Block {
  const end_ms = span.to_ms;
  const middle_ms = (span.from_ms + end_ms) / 2;
  const stay = day.stays.find((one) => during(middle_ms, one));
  const walks = day.walks_ms.filter((at_ms) => during(at_ms, span)).length;
  const [share, hall] = [random.next(), random.between(11, 19)];
  if (stay === undefined || (stay.asleep && walks === 0))
    return { end_ms, steps: 0, activity: sleepOf(stay, middle_ms) };
  const [low, high] = stay.asleep ? [2, 14] : stepsIn[stay.place];
  const steps = Math.round(low + (high - low) * share ** 2 + walks * hall);
  return { end_ms, steps, activity: steps >= walking_steps_min ? "WALKING" : "UNKNOWN" };
}

/** Deep sleep comes early in each cycle of about ninety minutes, and the less of it the longer the night lasts. */
function sleepOf(stay: TimeSpent | undefined, at_ms: number): Activity {
  if (stay === undefined) return "UNKNOWN";
  const slept_min = (at_ms - stay.from_ms) / 60_000;
  if (slept_min < 12) return "UNKNOWN";
  const cycle = Math.floor(slept_min / 90);
  const within = (slept_min % 90) / 90;
  return within > 0.2 && within < 0.62 - cycle * 0.1 ? "DEEP_SLEEP" : "LIGHT_SLEEP";
}

/** The ten minutes that ended last: somebody who moves about the flat. */
export function blockNow(now_ms: number, random: Random): Block {
  const end_ms = Math.floor(now_ms / block_ms) * block_ms;
  return { end_ms, steps: Math.round(random.between(15, 140)), activity: "UNKNOWN" };
}

/** Steps in ten minutes, few to many. */
const stepsIn: Readonly<Record<FlatPlace, readonly [low: number, high: number]>> = {
  bedroom: [4, 40],
  bathroom: [4, 30],
  kitchen: [12, 120],
  living: [0, 45],
  away: [40, 900],
};

const walking_steps_min = 250;
