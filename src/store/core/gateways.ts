import type { GatewayRecord } from "../central-store.ts";
import { objects, rowsOf, type Work } from "./work.ts";

/** See `CentralStore.gateways`. */
export function* gatewayRecords(of?: readonly number[]): Work<GatewayRecord[]> {
  const [chosen, given] = of === undefined ? ["", []] : ["WHERE home = ANY ($1::bigint[]) ", [of]];
  const rows = yield* rowsOf(
    objects<SourceRow>(
      `SELECT home, epoch, held_seq, began, reported, uploaded_ms, reported_ms, report
       FROM sources ${chosen}ORDER BY home, began, epoch`,
      ...given,
    ),
  );
  return [...Map.groupBy(rows, ({ home }) => home).values()].map(gatewayRecord);
}

/** Central's facts of one epoch of a home. The contacts of a home (a new epoch, a report) are counted in order. */
interface SourceRow {
  readonly home: number;
  readonly epoch: string;
  readonly held_seq: number;
  /** Which contact brought the epoch, and which its last report; 0 where there was none. */
  readonly began: number;
  readonly reported: number;
  readonly uploaded_ms: number | null;
  readonly reported_ms: number | null;
  readonly report: string | null;
}

/** The record of a home's gateway, from all the epochs of the home; there is at least one. */
function gatewayRecord(epochs: readonly SourceRow[]): GatewayRecord {
  const current = epochs.reduce((latest, epoch) => (isLater(epoch, latest) ? epoch : latest));
  // A box that was restored may still send what its older epoch had; only a box of its own reports under it.
  const rivals = epochs.filter((epoch) => epoch !== current && epoch.reported > current.began);
  return {
    home: current.home,
    epoch: current.epoch,
    held_seq: current.held_seq,
    uploaded_ms: latestOf(epochs.map((epoch) => epoch.uploaded_ms)),
    reported_ms: latestOf(epochs.map((epoch) => epoch.reported_ms)),
    report: current.report === null ? {} : JSON.parse(current.report),
    rivals: rivals.map(({ epoch }) => epoch).toSorted(),
  };
}

/** The gateway is the one that reported last; where none has, the one that began last. */
function isLater(one: SourceRow, other: SourceRow): boolean {
  return one.reported === other.reported ? one.began > other.began : one.reported > other.reported;
}

function latestOf(times_ms: readonly (number | null)[]): number | undefined {
  const known_ms = times_ms.filter((time_ms) => time_ms !== null);
  return known_ms.length === 0 ? undefined : Math.max(...known_ms);
}
