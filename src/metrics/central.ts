import { counter, type Family, gauge } from "./openmetrics.ts";

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
  readonly homes: readonly {
    readonly home: number;
    /** Readings that its gateway had and central did not, when it last reported; absent where it never did. */
    readonly backlog?: number;
    readonly uploaded_ms?: number;
  }[];
  /** Free space beside the store, where that is in a directory. */
  readonly disk_free_bytes?: number;
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
    gauge("lintel_homes", "Homes that have ever sent anything", homes.length),
    gauge(
      "lintel_home_backlog_readings",
      "Readings that a gateway had and central had not when it last reported",
      homes.flatMap(({ home, backlog }) =>
        backlog === undefined ? [] : [{ labels: { home }, value: backlog }],
      ),
    ),
    gauge(
      "lintel_home_upload_age",
      "How long ago readings of a home were last taken",
      homes.flatMap(({ home, uploaded_ms }) =>
        uploaded_ms === undefined
          ? []
          : [{ labels: { home }, value: Math.max(0, now_ms - uploaded_ms) / 1000 }],
      ),
      "seconds",
    ),
    gauge("lintel_disk_free", "Free space where the data are", figures.disk_free_bytes, "bytes"),
  ];
}
