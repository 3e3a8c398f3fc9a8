import { type FleetHome, fleetNeeds } from "../../domain/fleet-home.ts";
import { type Family, gauge } from "./openmetrics.ts";

/** A number of each home of the fleet: a metric, and a panel of the dashboard. */
export interface HomeFigure {
  /** Without its unit. */
  readonly name: string;
  readonly help: string;
  readonly unit?: "bytes" | "seconds" | "celsius" | "ratio";
  /** Null where central does not know it. */
  readonly of: (home: FleetHome, now_ms: number) => number | boolean | null;
}

const age_s = (at_ms: number | null, now_ms: number) =>
  at_ms === null ? null : Math.max(0, now_ms - at_ms) / 1000;

/** Everything that `lintel fleet` counts or measures. Names of what is exported stay. */
export const homeFigures: readonly HomeFigure[] = [
  {
    name: "lintel_home_upload_age",
    unit: "seconds",
    help: "How long ago readings of a home were last taken",
    of: ({ last_upload_ms }, now_ms) => age_s(last_upload_ms, now_ms),
  },
  {
    name: "lintel_home_report_age",
    unit: "seconds",
    help: "How long ago its gateway last reported",
    of: ({ last_report_ms }, now_ms) => age_s(last_report_ms, now_ms),
  },
  {
    name: "lintel_home_upload_due",
    unit: "seconds",
    help: "Time until its next upload is due; below 0 where that time has passed",
    of: ({ next_upload_ms }, now_ms) => (next_upload_ms === null ? null : (next_upload_ms - now_ms) / 1000),
  },
  {
    name: "lintel_home_awaited_age",
    unit: "seconds",
    help: "How long a token has waited for a gateway that was never heard",
    of: ({ expected_since_ms }, now_ms) => age_s(expected_since_ms, now_ms),
  },
  {
    name: "lintel_home_backlog_readings",
    help: "Readings that a gateway had and central had not when it last reported",
    of: ({ backlog }) => backlog,
  },
  {
    name: "lintel_home_undated_readings",
    help: "Readings on the disk of a gateway that wait for the time to be known",
    of: ({ waiting }) => waiting,
  },
  {
    name: "lintel_home_failed",
    help: "1 where the last upload, or reading the gateway, failed",
    of: ({ failure }) => failure !== null,
  },
  {
    name: "lintel_home_differing_days",
    help: "Days that differed at the last comparison",
    of: ({ differing_days }) => differing_days,
  },
  {
    name: "lintel_home_rivals",
    help: "Other gateways that upload for the home",
    of: ({ rivals }) => rivals.length,
  },
  { name: "lintel_home_items", help: "Items that live in the home", of: ({ items }) => items },
  {
    name: "lintel_home_items_silent",
    help: "Items that should have been heard",
    of: ({ silent }) => silent.length,
  },
  {
    name: "lintel_home_items_battery_low",
    help: "Items whose battery is nearly empty",
    of: ({ low_batteries }) => low_batteries.length,
  },
  {
    name: "lintel_home_links_poor",
    help: "Zigbee devices that are heard badly by what they hang on, or half as well as they were",
    of: ({ poor_links }) => poor_links.length,
  },
  {
    name: "lintel_home_items_replaced",
    help: "Items that another device took the place of, still in the inventory",
    of: ({ replaced }) => replaced.length,
  },
  {
    name: "lintel_home_unplaced_readings",
    help: "Readings of items that live elsewhere by the inventory",
    of: ({ strays }) => strays.reduce((sum, { readings }) => sum + readings, 0),
  },
  {
    name: "lintel_home_strangers",
    help: "Devices heard of late that nobody has admitted",
    of: ({ strangers }) => strangers,
  },
  {
    name: "lintel_home_conflicts",
    help: "Devices that claim the address of a known one",
    of: ({ conflicts }) => conflicts.length,
  },
  {
    name: "lintel_home_erasures_open",
    help: "Subjects, or the home itself, erased at the gateway and still here",
    of: ({ erased_there }) => erased_there.length,
  },
  {
    name: "lintel_home_deaf_minutes",
    help: "Minutes of the day before its last report in which the gateway or one of its drivers did not listen",
    of: ({ deaf_minutes }) => deaf_minutes,
  },
  {
    name: "lintel_home_restarts",
    help: "How often its service ended by itself on the day before its last report",
    of: ({ restarts }) => restarts,
  },
  {
    name: "lintel_home_memory_resident",
    unit: "bytes",
    help: "Memory of its gateway's process",
    of: ({ memory_bytes }) => memory_bytes,
  },
  {
    name: "lintel_home_memory_machine",
    unit: "bytes",
    help: "Memory of the machine of its gateway",
    of: ({ machine_memory_bytes }) => machine_memory_bytes,
  },
  {
    name: "lintel_home_joining_age",
    unit: "seconds",
    help: "For how long it had let devices in when it last reported",
    of: ({ joining_since_ms, last_report_ms }) => age_s(joining_since_ms, last_report_ms ?? 0),
  },
  {
    name: "lintel_home_clock_synchronised",
    help: "1 where its gateway knew the time when it last reported",
    of: ({ clock_synchronised }) => clock_synchronised,
  },
  {
    name: "lintel_home_clock_offset",
    unit: "seconds",
    help: "How far the clock of its gateway was ahead of central's",
    of: ({ clock_offset_ms }) => (clock_offset_ms === null ? null : clock_offset_ms / 1000),
  },
  {
    name: "lintel_home_disk_free",
    unit: "bytes",
    help: "Free space on its gateway",
    of: ({ disk_free_bytes }) => disk_free_bytes,
  },
  {
    name: "lintel_home_disk_written_a_day",
    unit: "bytes",
    help: "Bytes written to the disk of its gateway in a day",
    of: ({ disk_written_a_day_bytes }) => disk_written_a_day_bytes,
  },
  {
    name: "lintel_home_disk_life_used",
    unit: "ratio",
    help: "At most so much of the life of its disk is used, 1 is all of it",
    of: ({ disk_life_used_percent: percent }) => (percent === null ? null : percent / 100),
  },
  {
    name: "lintel_home_disk_worn",
    help: "1 where its disk should be replaced",
    of: ({ disk_worn }) => disk_worn,
  },
  {
    name: "lintel_home_temperature",
    unit: "celsius",
    help: "The hottest part of its gateway",
    of: ({ temperature_c }) => temperature_c,
  },
  {
    name: "lintel_home_power_low",
    help: "1 where its power supply is, or was of late, too weak",
    of: ({ power_low }) => power_low,
  },
  {
    name: "lintel_home_releases_refused",
    help: "Releases that its gateway refused or went back from",
    of: ({ update }) => update?.refusals.length ?? null,
  },
];

/** Name of the metric that counts needs. The rules of Prometheus ask for it. */
export const needsMetric = "lintel_home_needs";

/** Metrics of every home that has sent anything or has a token to. */
export function homeFamilies(homes: readonly FleetHome[], now_ms: number): Family[] {
  return [
    gauge("lintel_homes", "Homes that have sent anything, or have a token to", homes.length),
    gauge(
      needsMetric,
      "Needs of a home, by kind",
      homes.flatMap(({ homeid, needs }) =>
        [...Map.groupBy(needs, ({ type }) => type)].map(([need, of]) => ({
          labels: { home: homeid, need, level: fleetNeeds[need].level, duty: fleetNeeds[need].duty },
          value: of.length,
        })),
      ),
    ),
    gauge(
      "lintel_home_release",
      "1 for the release that a gateway runs",
      homes.flatMap(({ homeid, version, update }) =>
        version === null ? [] : [{ labels: { home: homeid, version, ring: update?.ring ?? "" }, value: 1 }],
      ),
    ),
    ...homeFigures.map(({ name, help, unit, of }) =>
      gauge(
        name,
        help,
        homes.flatMap((home) => {
          const value = of(home, now_ms);
          return value === null ? [] : [{ labels: { home: home.homeid }, value: Number(value) }];
        }),
        unit,
      ),
    ),
  ];
}
