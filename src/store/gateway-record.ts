import type { GatewayRecord } from "./central-store.ts";

/** Central's facts of one epoch of a home. The contacts of a home (a new epoch, a report) are counted in order. */
interface GatewayFacts {
  readonly home: number;
  readonly epoch: string;
  readonly held_seq: number;
  /** Which contact brought the epoch, and which its last report; 0 where there was none. */
  readonly began: number;
  readonly reported: number;
  readonly uploaded_ms?: number;
  readonly reported_ms?: number;
  readonly report?: Readonly<Record<string, unknown>>;
}

/** The gateways of all homes, from a row for each epoch of each of them, in order of home. */
export function gatewayRecords(rows: readonly SourceRow[]): GatewayRecord[] {
  const facts = rows.map(
    ({ uploaded_ms, reported_ms, report, ...source }): GatewayFacts => ({
      ...source,
      ...(uploaded_ms === null ? {} : { uploaded_ms }),
      ...(reported_ms === null ? {} : { reported_ms }),
      ...(report === null ? {} : { report: JSON.parse(report) }),
    }),
  );
  return [...Map.groupBy(facts, ({ home }) => home).values()].map(gatewayRecord);
}

/** The same facts as both databases have them. */
export type SourceRow = Pick<GatewayFacts, "home" | "epoch" | "held_seq" | "began" | "reported"> & {
  readonly uploaded_ms: number | null;
  readonly reported_ms: number | null;
  readonly report: string | null;
};

/** The record of a home's gateway, from all the epochs of the home; there is at least one. */
function gatewayRecord(epochs: readonly GatewayFacts[]): GatewayRecord {
  const current = epochs.reduce((latest, epoch) => (isLater(epoch, latest) ? epoch : latest));
  const uploaded_ms = latestOf(epochs.map((epoch) => epoch.uploaded_ms));
  const reported_ms = latestOf(epochs.map((epoch) => epoch.reported_ms));
  // A box that was restored may still send what its older epoch had; only a box of its own reports under it.
  const rivals = epochs.filter((epoch) => epoch !== current && epoch.reported > current.began);
  return {
    home: current.home,
    epoch: current.epoch,
    held_seq: current.held_seq,
    ...(uploaded_ms === undefined ? {} : { uploaded_ms }),
    ...(reported_ms === undefined ? {} : { reported_ms }),
    report: current.report ?? {},
    rivals: rivals.map(({ epoch }) => epoch).toSorted(),
  };
}

/** The gateway is the one that reported last; where none has, the one that began last. */
function isLater(one: GatewayFacts, other: GatewayFacts): boolean {
  return one.reported === other.reported ? one.began > other.began : one.reported > other.reported;
}

function latestOf(times_ms: readonly (number | undefined)[]): number | undefined {
  return times_ms.reduce((latest, time_ms) =>
    latest === undefined || (time_ms !== undefined && time_ms > latest) ? time_ms : latest,
  );
}
