import { day_ms, hour_ms } from "../../../../src/base/time.ts";
import { type FleetNeedType, fleetNeeds } from "../../../../src/domain/fleet-home.ts";
import { nothingNoted } from "../../../../src/store/exchange.ts";
import type { GatewayReport, ReportBody } from "../../../../src/transfer/protocol.ts";
import { sensor } from "../../../../testbed/sample.ts";
import { wellReport } from "../../../../testbed/simulated-gateway.ts";

/** A trouble of a home: from when to when, and whether every other report is without it. */
export interface Trouble {
  readonly home: number;
  readonly need: FleetNeedType;
  readonly from_ms: number;
  readonly to_ms: number;
  readonly flapping: boolean;
  /** It ends before anybody should hear of it. */
  readonly short: boolean;
  /** Somebody deals with it as soon as it is told. */
  readonly claimed: boolean;
}

/** Reports of a gateway that has a trouble, as far as they differ from one that is well; of two troubles there is no report. */
const reported: Readonly<
  Partial<Record<FleetNeedType, (now_ms: number, trouble: Trouble) => Partial<GatewayReport>>>
> = {
  never_heard: () => ({}),
  upload_overdue: () => ({}),
  data_differ: () => ({ differing_days: 3, unmended_days: 1 }),
  disk_nearly_full: () => ({ disk_free_bytes: 1e6 }),
  crash_loop: () => ({ restarts: 40 }),
  went_back: (_, { from_ms }) => ({
    update: {
      ring: 5,
      refusals: [{ version: "2", reason: "went_back", message: "deaf", at_ms: from_ms, times: 1 }],
    },
  }),
  joining_open: (now_ms) => ({ joining_since_ms: now_ms - 5 * hour_ms }),
  power_low: () => ({ machine: { power_low: true } }),
  disk_worn: () => ({ machine: { life_used_percent: 99 } }),
  gateway_hot: () => ({ machine: { temperature_c: 90 } }),
  memory_high: () => ({ memory_bytes: 3e8, machine_memory_bytes: 1e9 }),
  clock_wrong: (now_ms) => ({ now_ms: now_ms - hour_ms }),
  clock_doubted: (now_ms) => ({ doubts: [{ from_ms: now_ms - 3 * hour_ms, to_ms: now_ms - 2 * hour_ms }] }),
  minutes_missing: () => ({ deaf_minutes: 90 }),
  item_silent: () => ({}),
  burn_in_due: (now_ms) => ({
    burn_in: { ended_ms: now_ms - day_ms, failed: ["disk"], skipped: [], changed: [] },
  }),
  link_poor: () => ({ poor_links: [{ name: "TS011F (ab:cd)", item: false, fallen: true }] }),
  battery_low: () => ({}),
};

/** Needs that no report tells of: a gateway without one has them. */
export const unreported: readonly FleetNeedType[] = ["never_heard", "upload_overdue"];

/** Troubles of homes over a span, at most one in a home, each kind as often as the others. */
export function plant(options: {
  readonly homes: number;
  readonly troubles: number;
  readonly from_ms: number;
  readonly to_ms: number;
  readonly random: () => number;
}): Trouble[] {
  const { homes, troubles, from_ms, to_ms, random } = options;
  const needs = Object.keys(reported) as FleetNeedType[];
  const planted = new Map<number, Trouble>();
  while (planted.size < troubles) {
    const home = 1 + Math.floor(random() * homes);
    if (planted.has(home)) continue;
    const need = needs[planted.size % needs.length] as FleetNeedType;
    const { after_h, over_h } = fleetNeeds[need];
    const short = after_h > 0 && random() < 0.3;
    const began_ms = from_ms + 3 * day_ms + Math.floor(random() * (to_ms - from_ms - 15 * day_ms));
    const noticed_ms = reportAfter(home, began_ms + silence_h * hour_ms);
    planted.set(home, {
      ...{ home, need, short, from_ms: began_ms, claimed: random() < 0.5 },
      to_ms: short
        ? noticed_ms + (after_h - 3) * hour_ms
        : began_ms + Math.floor((80 + random() * 140) * hour_ms),
      // A report a night: what is away for one must not be over then.
      flapping: !short && after_h === 0 && over_h > 24 && random() < 0.3,
    });
  }
  return [...planted.values()];
}

/** When the gateway of a home reports next: each at a minute of the day of its own. */
export function reportAfter(home: number, at_ms: number): number {
  const minute_ms = ((home * 7_919) % 1_440) * 60_000;
  return Math.ceil((at_ms - minute_ms) / day_ms) * day_ms + minute_ms;
}

/** A sensor that was heard this long ago is silent. */
const silence_h = 6;

export function isThere({ from_ms, to_ms }: Trouble, now_ms: number): boolean {
  return now_ms >= from_ms && now_ms < to_ms;
}

/** The report of a gateway at its hour, or after a short trouble; the next one is due after `due_in_ms`. */
export function reportOf(
  home: number,
  trouble: Trouble | undefined,
  { now_ms, begun_ms, due_in_ms }: { now_ms: number; begun_ms: number; due_in_ms: number },
): ReportBody {
  const there = trouble !== undefined && isThere(trouble, now_ms) ? trouble : undefined;
  const isAway = there?.flapping === true && Math.floor((now_ms - there.from_ms) / day_ms) % 2 === 1;
  const told = isAway ? undefined : there;
  const epoch = home.toString(16).padStart(32, "0");
  return {
    epochs: [{ epoch, first_seq: 1, last_seq: 0 }],
    condition: {
      ...nothingNoted,
      devices: [sensor(home)],
      listeners: [{ name: "zigbee", first_ms: begun_ms, last_ms: now_ms }],
      states: [
        {
          ...{ device: 0, listener: "zigbee", first_ms: begun_ms },
          battery_percent: told?.need === "battery_low" ? 3 : 90,
          heard_ms: told?.need === "item_silent" ? told.from_ms : now_ms,
        },
      ],
    },
    report: {
      ...wellReport({ now_ms, last_seq: 0, upload_due_in_ms: due_in_ms }),
      ...(told === undefined ? {} : reported[told.need]?.(now_ms, told)),
    },
  };
}
