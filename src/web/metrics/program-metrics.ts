import { Elysia } from "elysia";
import type { FleetHome } from "../../domain/fleet-home.ts";
import { unkeptNames } from "../../store/pause.ts";
import type { Overview } from "../../store/store.ts";
import { access } from "../server/elysia-app.ts";
import { homeFamilies } from "./home-figures.ts";
import {
  counter,
  type Family,
  gauge,
  type Histogram,
  openMetricsText,
  openMetricsType,
} from "./openmetrics.ts";

/** Serves metrics at `/metrics`, to holders of read or admin tokens. Each request calls `collect`. */
export function metricsApp(collect: () => Promise<readonly Family[]>) {
  return new Elysia({ name: "metrics", prefix: "/metrics" }).use(access).get(
    "",
    ({ spend }) =>
      spend(
        async () =>
          new Response(openMetricsText(await collect()), {
            headers: { "Content-Type": openMetricsType, "Cache-Control": "no-store" },
          }),
      ),
    { auth: ["read", "admin"], cost: "light", detail: { summary: "Metrics of this program" } },
  );
}

/** Metrics of the program itself, the same for both roles. */
export function programFamilies(program: {
  readonly role: "gateway" | "central";
  readonly version: string;
  readonly memory_bytes: number;
  readonly started_ms: number;
  /** Connections closed since the start because there were too many at once. */
  readonly connections_closed: number;
  /** Requests refused since the start because too much was under way. */
  readonly requests_refused: number;
}): Family[] {
  return [
    {
      name: "lintel_build",
      type: "info",
      help: "What runs here",
      labels: { version: program.version, role: program.role },
    },
    gauge("lintel_start_time", "When it was started, unix time", program.started_ms / 1000, "seconds"),
    gauge("lintel_memory_resident", "Memory that the process has", program.memory_bytes, "bytes"),
    counter(
      "lintel_connections_closed",
      "Connections closed because there were too many at once",
      program.connections_closed,
    ),
    counter(
      "lintel_requests_refused",
      "Requests refused because too much was under way",
      program.requests_refused,
    ),
  ];
}

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

/** Counts that would tell a monitor, scrape by scrape, when something happened in a home that has asked for a pause. */
const unkept: ReadonlySet<string> = new Set(Object.values(unkeptNames));

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
      Object.entries(store.dropped)
        .filter(([what]) => !unkept.has(what))
        .map(([what, value]) => ({ labels: { what }, value })),
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

/** Facts of a running central server, for its metrics. */
export interface CentralFigures {
  readonly now_ms: number;
  /** Since the start. */
  readonly received: {
    readonly batches: number;
    readonly readings: number;
    readonly bytes: number;
    readonly repeatedBatches: number;
    readonly repeatedReadings: number;
    readonly repaired: number;
    readonly erased: number;
    readonly refusals: Readonly<Record<string, number>>;
    readonly quotas: Readonly<Record<string, number>>;
  };
  readonly queue: {
    readonly under_way: number;
    readonly waiting: number;
    readonly waiting_bytes: number;
    readonly refused: number;
  };
  readonly homes: readonly FleetHome[];
  /** Free space beside the store, where that is in a directory. */
  readonly disk_free_bytes?: number;
  /** Since the last backup, where that is known. */
  readonly backup_age_ms?: number | undefined;
  readonly certificate_left_ms?: number | undefined;
  /** Mails and calls of webhooks about homes, where central sends any: delivered since the start. */
  readonly notices?: {
    readonly open: number;
    readonly waiting: number;
    readonly delivered: number;
    readonly undelivered: number;
  };
}

export function centralFamilies(figures: CentralFigures): Family[] {
  const { now_ms, received, queue, homes } = figures;
  return [
    counter("lintel_batches", "Batches taken", received.batches),
    counter("lintel_rows", "Readings taken", received.readings),
    counter("lintel_batch", "Bytes of the batches taken, as they came", received.bytes, "bytes"),
    counter("lintel_batches_repeated", "Batches that were held already", received.repeatedBatches),
    counter("lintel_rows_repeated", "Readings in batches that were held already", received.repeatedReadings),
    counter("lintel_rows_repaired", "Readings that a comparison added or put right", received.repaired),
    counter("lintel_rows_erased", "Readings of times that were erased, which were not kept", received.erased),
    counter(
      "lintel_refusals",
      "Batches that could not follow what is held, by reason",
      Object.entries(received.refusals).map(([reason, value]) => ({ labels: { reason }, value })),
    ),
    counter(
      "lintel_quotas_exceeded",
      "Requests of homes that had reached a quota, by quota",
      Object.entries(received.quotas).map(([quota, value]) => ({ labels: { quota }, value })),
    ),
    counter("lintel_later", "Requests told to come back later because central was full", queue.refused),
    gauge("lintel_requests_under_way", "Requests of gateways that are worked on", queue.under_way),
    gauge("lintel_requests_waiting", "Requests of gateways that come or wait for their turn", queue.waiting),
    gauge("lintel_requests_waiting", "Bytes of their bodies", queue.waiting_bytes, "bytes"),
    gauge("lintel_disk_free", "Free space where the data are", figures.disk_free_bytes, "bytes"),
    gauge(
      "lintel_backup_age",
      "How long ago the last backup was made",
      figures.backup_age_ms === undefined ? undefined : figures.backup_age_ms / 1000,
      "seconds",
    ),
    gauge(
      "lintel_certificate_left",
      "How long the TLS certificate is still valid",
      figures.certificate_left_ms === undefined ? undefined : figures.certificate_left_ms / 1000,
      "seconds",
    ),
    gauge("lintel_alerts_open", "Alerts that are open", figures.notices?.open),
    gauge("lintel_mails_waiting", "Mails and calls of webhooks that wait", figures.notices?.waiting),
    counter(
      "lintel_mails_delivered",
      "Mails and calls of webhooks that were taken",
      figures.notices?.delivered,
    ),
    gauge(
      "lintel_mails_undelivered",
      "Mails and calls of webhooks that were given up",
      figures.notices?.undelivered,
    ),
    ...homeFamilies(homes, now_ms),
  ];
}
