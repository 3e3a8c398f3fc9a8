import type { Family } from "./openmetrics.ts";

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
    readonly refusals: Readonly<Record<string, number>>;
  };
  readonly reception: {
    readonly under_way: number;
    readonly waiting: number;
    readonly waiting_bytes: number;
    readonly sent_away: number;
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

export function centralFamilies({
  now_ms,
  received,
  reception,
  homes,
  disk_free_bytes,
}: CentralFigures): Family[] {
  const counted = (name: string, help: string, value: number): Family => ({
    name,
    type: "counter",
    help,
    values: [{ value }],
  });
  const gauged = (name: string, help: string, value: number): Family => ({
    name,
    type: "gauge",
    help,
    values: [{ value }],
  });
  return [
    counted("lintel_batches", "Batches taken", received.batches),
    counted("lintel_rows", "Readings taken", received.readings),
    { ...counted("lintel_batch", "Bytes of the batches taken, as they came", received.bytes), unit: "bytes" },
    counted("lintel_batches_repeated", "Batches that were held already", received.repeatedBatches),
    counted("lintel_rows_repeated", "Readings in batches that were held already", received.repeatedReadings),
    counted("lintel_rows_repaired", "Readings that a comparison added or put right", received.repaired),
    {
      name: "lintel_refusals",
      type: "counter",
      help: "Batches that could not follow what is held, by reason",
      values: Object.entries(received.refusals).map(([reason, value]) => ({ labels: { reason }, value })),
    },
    counted("lintel_later", "Requests told to come back later because central was full", reception.sent_away),
    gauged("lintel_requests_under_way", "Requests of gateways that are worked on", reception.under_way),
    gauged(
      "lintel_requests_waiting",
      "Requests of gateways that come or wait for their turn",
      reception.waiting,
    ),
    {
      ...gauged("lintel_requests_waiting", "Bytes of their bodies", reception.waiting_bytes),
      unit: "bytes",
    },
    gauged("lintel_homes", "Homes that have ever sent anything", homes.length),
    {
      name: "lintel_home_backlog_readings",
      type: "gauge",
      help: "Readings that a gateway had and central had not when it last reported",
      values: homes.flatMap(({ home, backlog }) =>
        backlog === undefined ? [] : [{ labels: { home }, value: backlog }],
      ),
    },
    {
      name: "lintel_home_upload_age",
      unit: "seconds",
      type: "gauge",
      help: "How long ago readings of a home were last taken",
      values: homes.flatMap(({ home, uploaded_ms }) =>
        uploaded_ms === undefined
          ? []
          : [{ labels: { home }, value: Math.max(0, now_ms - uploaded_ms) / 1000 }],
      ),
    },
    ...(disk_free_bytes === undefined
      ? []
      : [{ ...gauged("lintel_disk_free", "Free space where the data are", disk_free_bytes), unit: "bytes" }]),
  ];
}
