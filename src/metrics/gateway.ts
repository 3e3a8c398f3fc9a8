import type { Overview } from "../store/store.ts";
import type { Histogram } from "./histogram.ts";
import { counter, type Family, gauge } from "./openmetrics.ts";

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
    counter("lintel_readings", "Readings committed since the start", ingest.committed),
    counter("lintel_readings_refused", "Readings refused since the start", ingest.refused),
    gauge(
      "lintel_readings_stored",
      "Readings on disk, by series",
      [...storedBySeries(store)].map(([series, value]) => ({ labels: { series }, value })),
    ),
    {
      name: "lintel_commit",
      unit: "seconds",
      type: "histogram",
      help: "How long a commit took until it was on disk",
      histogram: figures.commits,
    },
    gauge("lintel_queue_readings", "Readings in memory that wait for the disk", ingest.queued),
    gauge(
      "lintel_undated_readings",
      "Readings and signs of life on disk that wait for the time to be known",
      store.waiting,
    ),
    counter(
      "lintel_dropped",
      "What was thrown away since the store was made, by name",
      Object.entries(store.dropped).map(([what, value]) => ({ labels: { what }, value })),
    ),
    {
      name: "lintel_driver",
      type: "stateset",
      help: "What each driver is doing",
      states: driverStates,
      values: drivers.map(({ name, state }) => ({ labels: { driver: name }, state })),
    },
    gauge(
      "lintel_item_heard_age",
      "How long ago each item was last heard",
      store.items.flatMap(({ record, heard_ms }) =>
        heard_ms === undefined
          ? []
          : [{ labels: labelsOf(record), value: Math.max(0, now_ms - heard_ms) / 1000 }],
      ),
      "seconds",
    ),
    gauge(
      "lintel_item_overdue",
      "1 where an item should have been heard by now",
      store.items.map(({ record, overdue }) => ({ labels: labelsOf(record), value: Number(overdue) })),
    ),
    gauge("lintel_disk_free", "Free space where the data are", figures.disk_free_bytes, "bytes"),
    gauge("lintel_store", "What the store takes on disk", store.bytesOnDisk, "bytes"),
    gauge(
      "lintel_clock_synchronised",
      "1 where the system clock is known to be right",
      Number(figures.clock_synchronised),
    ),
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
