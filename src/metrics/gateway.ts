import type { Overview } from "../store/store.ts";
import type { Histogram } from "./histogram.ts";
import type { Family } from "./openmetrics.ts";

/** Facts of a running gateway, for its metrics. */
export interface GatewayFigures {
  readonly now_ms: number;
  readonly clock_synchronised: boolean;
  readonly disk_free_bytes: number;
  readonly drivers: readonly { readonly name: string; readonly state: string }[];
  readonly ingest: { readonly queued: number; readonly committed: number; readonly refused: number };
  readonly store: Overview;
  /** How long commits took, seconds. */
  readonly commits: Histogram;
}

/** Steps of the time that a commit takes, seconds: a good SD card takes hundredths, a worn one whole ones. */
export const commitSteps_s: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function gatewayFamilies(figures: GatewayFigures): Family[] {
  const { store, ingest, drivers, now_ms } = figures;
  return [
    {
      name: "lintel_readings",
      type: "counter",
      help: "Readings committed since the start",
      values: [{ value: ingest.committed }],
    },
    {
      name: "lintel_readings_refused",
      type: "counter",
      help: "Readings refused since the start",
      values: [{ value: ingest.refused }],
    },
    {
      name: "lintel_readings_stored",
      type: "gauge",
      help: "Readings on disk, by series",
      values: [...storedBySeries(store)].map(([series, value]) => ({ labels: { series }, value })),
    },
    {
      name: "lintel_commit",
      unit: "seconds",
      type: "histogram",
      help: "How long a commit took until it was on disk",
      histogram: figures.commits,
    },
    {
      name: "lintel_queue_readings",
      type: "gauge",
      help: "Readings in memory that wait for the disk",
      values: [{ value: ingest.queued }],
    },
    {
      name: "lintel_undated_readings",
      type: "gauge",
      help: "Readings and signs of life on disk that wait for the time to be known",
      values: [{ value: store.waiting }],
    },
    {
      name: "lintel_dropped",
      type: "counter",
      help: "What was thrown away since the store was made, by name",
      values: Object.entries(store.dropped).map(([what, value]) => ({ labels: { what }, value })),
    },
    {
      name: "lintel_driver",
      type: "stateset",
      help: "What each driver is doing",
      states: driverStates,
      values: drivers.map(({ name, state }) => ({ labels: { driver: name }, state })),
    },
    {
      name: "lintel_item_heard_age",
      unit: "seconds",
      type: "gauge",
      help: "How long ago each item was last heard",
      values: store.items.flatMap(({ record, heard_ms }) =>
        heard_ms === undefined
          ? []
          : [{ labels: labelsOf(record), value: Math.max(0, now_ms - heard_ms) / 1000 }],
      ),
    },
    {
      name: "lintel_item_overdue",
      type: "gauge",
      help: "1 where an item should have been heard by now",
      values: store.items.map(({ record, overdue }) => ({
        labels: labelsOf(record),
        value: overdue ? 1 : 0,
      })),
    },
    {
      name: "lintel_disk_free",
      unit: "bytes",
      type: "gauge",
      help: "Free space where the data are",
      values: [{ value: figures.disk_free_bytes }],
    },
    {
      name: "lintel_store",
      unit: "bytes",
      type: "gauge",
      help: "What the store takes on disk",
      values: [{ value: store.bytesOnDisk }],
    },
    {
      name: "lintel_clock_synchronised",
      type: "gauge",
      help: "1 where the system clock is known to be right",
      values: [{ value: figures.clock_synchronised ? 1 : 0 }],
    },
  ];
}

/** As `DriverStatus` has them. */
const driverStates = ["starting", "listening", "retrying", "stopped"];

function labelsOf({ itemname, typename }: Overview["items"][number]["record"]) {
  return { item: itemname, type: typename };
}

function storedBySeries({ items }: Overview): Map<string, number> {
  const stored = new Map<string, number>();
  for (const item of items)
    for (const { series, count } of item.series) stored.set(series, (stored.get(series) ?? 0) + count);
  return stored;
}
