import { day_ms } from "../../../src/base/time.ts";
import type { Activity, Block } from "../health-log.ts";

const block_ms = 600_000;

/**
 * A health log as an older person who lives alone might leave it: nights of light and deep sleep, an hour on the
 * charger in the evening, errands on foot, gymnastics on some mornings. Hours are GMT.
 */
export function plausibleLog(options: { from_ms: number; until_ms: number; random: () => number }): Block[] {
  const { from_ms, until_ms, random } = options;
  const blocks: Block[] = [];
  for (
    let end_ms = Math.ceil(from_ms / block_ms) * block_ms + block_ms;
    end_ms <= until_ms;
    end_ms += block_ms
  ) {
    const hour = ((end_ms - block_ms) % day_ms) / 3600_000;
    const weekday = Math.floor(end_ms / day_ms) % 7;
    const activity = activityAt(hour, weekday, random());
    blocks.push({ end_ms, steps: stepsOf(activity, random()), activity });
  }
  return blocks;
}

function activityAt(hour: number, weekday: number, chance: number): Activity {
  if (hour < 6.5 || hour >= 22.5) {
    // Deep sleep comes in the first half of the night.
    if (chance < (hour < 3 || hour >= 22.5 ? 0.4 : 0.12)) return "DEEP_SLEEP";
    return chance < 0.95 ? "LIGHT_SLEEP" : "UNKNOWN";
  }
  if (hour >= 20 && hour < 21) return "NOT_WORN";
  if (weekday % 3 === 0 && hour >= 9 && hour < 9.5) return "EXERCISE";
  const walks = (hour >= 10 && hour < 12) || (hour >= 15 && hour < 17);
  return chance < (walks ? 0.35 : 0.05) ? "WALKING" : "UNKNOWN";
}

function stepsOf(activity: Activity, chance: number): number {
  const [least, most] = steps[activity];
  return Math.round(least + chance * chance * (most - least));
}

const steps: Readonly<Record<Activity, readonly [least: number, most: number]>> = {
  UNKNOWN: [0, 120],
  NOT_WORN: [0, 0],
  WALKING: [250, 950],
  EXERCISE: [100, 600],
  LIGHT_SLEEP: [0, 6],
  DEEP_SLEEP: [0, 0],
};
