import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { GatewayRecord, ReportNote, Sender } from "../../store/central-store.ts";
import { nothingNoted } from "../../store/device-health.ts";

/**
 * State of pulling a gateway. It is stored as `pulled` in central's report of the gateway. An upload replaces the
 * report, and the state is lost: then days are only compared once more.
 */
const PullState = Type.Object({
  /** The epoch that it is of; empty before the first. */
  epoch: Type.String(),
  /** Number up to which every reading was compared and found equal, or put right. */
  verified_seq: Type.Integer({ minimum: 0 }),
  /** When all days were last compared, and the files for a spare box last kept. */
  verified_all_ms: Type.Integer({ minimum: 0 }),
  filed_ms: Type.Integer({ minimum: 0 }),
  /** Days that differed since all were compared. */
  differing_days: Type.Integer({ minimum: 0 }),
});
export type PullState = Readonly<Static<typeof PullState>>;

/** As it was left; from the beginning where nothing is known. */
export function stateIn(known: GatewayRecord | undefined): PullState {
  const kept = known?.report["pulled"];
  if (Value.Check(PullState, kept)) return kept;
  return { epoch: "", verified_seq: 0, verified_all_ms: 0, filed_ms: 0, differing_days: 0 };
}

/** The last report of a gateway with why it cannot be read now; when it was heard stays as it was. */
export function failureReport(known: GatewayRecord, failure: string): [ReportNote, Sender] {
  const { home, epoch, reported_ms, uploaded_ms, report } = known;
  return [
    {
      epoch,
      health: nothingNoted,
      report: { ...report, failure: failure.slice(0, failure_length_max) },
    },
    { home, at_ms: reported_ms ?? uploaded_ms ?? 0 },
  ];
}

const failure_length_max = 200;
