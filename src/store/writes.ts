import type { Batch } from "./batch.ts";
import type { ReportNote, Sender } from "./central/central-store.ts";
import { repairDay } from "./central/day-repair.ts";
import { noteCompared, putBackup } from "./central/gateways.ts";
import { noteReport, receive } from "./central/receiving.ts";
import { askRemote, noteRemote } from "./central/remote-asked.ts";
import { setQuotas } from "./central/sources.ts";
import type { Work } from "./database.ts";
import type { TakenSpan } from "./erasure.ts";
import type { DayReadings } from "./gateway/upload-store.ts";
import { followEnrollments, withdraw } from "./inventory/consent.ts";
import { erase, takeErasures } from "./inventory/erasing.ts";
import type { Homes } from "./inventory/homes.ts";
import { changeNotes } from "./inventory/noting.ts";
import { takePauses } from "./inventory/pausing.ts";
import { replaceAlerts } from "./inventory/records.ts";
import { liftRestriction, noteInJournal, restrict } from "./inventory/restricting.ts";
import { setRetentionNotices } from "./inventory/retaining.ts";
import type { PauseRequest, Withdrawal } from "./pause.ts";
import type { RestrictionRequest } from "./restriction.ts";
import type { ErasureRequest } from "./store.ts";
import { addToken, noteTokenUse, revokeToken } from "./tokens.ts";

/**
 * The changes of a store that both databases do alike, by name: each is the work of one transaction.
 *
 * @param here how the database that is written tells homes apart: asked of a database that may be a gateway's
 */
export function writesOf(homes: Homes, here?: () => Work<Homes>) {
  return {
    addToken,
    revokeToken,
    noteTokenUse,
    noteReport: (note: ReportNote, sender: Sender) => noteReport(homes, note, sender),
    noteCompared,
    setQuotas,
    putBackup,
    askRemote,
    noteRemote,
    replaceAlerts,
    changeNotes,
    noteInJournal,
    setRetentionNotices,
    *erase(request: ErasureRequest) {
      return yield* erase(here === undefined ? homes : yield* here(), request);
    },
    *takeErasures(spans: readonly TakenSpan[]) {
      return yield* takeErasures(here === undefined ? homes : yield* here(), spans);
    },
    *takePauses(pauses: readonly PauseRequest[]) {
      return yield* takePauses(here === undefined ? homes : yield* here(), pauses);
    },
    *withdraw(withdrawal: Withdrawal) {
      return yield* withdraw(here === undefined ? homes : yield* here(), withdrawal);
    },
    *followEnrollments(now_ms: number) {
      return yield* followEnrollments(here === undefined ? homes : yield* here(), now_ms);
    },
    *restrict(request: RestrictionRequest) {
      return yield* restrict(here === undefined ? homes : yield* here(), request);
    },
    *liftRestriction(request: RestrictionRequest) {
      return yield* liftRestriction(here === undefined ? homes : yield* here(), request);
    },
    receive: (batch: Batch, sender: Sender) => receive(homes, batch, sender),
    repairDay: (request: DayReadings, batch: Batch, sender: Sender) =>
      repairDay(homes, request, batch, sender),
  };
}

export type Writes = ReturnType<typeof writesOf>;
export type WriteName = keyof Writes;
export type WriteArguments<Name extends WriteName> = Parameters<Writes[Name]>;
export type Written<Name extends WriteName> =
  ReturnType<Writes[Name]> extends Work<infer Result> ? Result : never;

/** The work of a change, as yet undone. */
export function workOf<Name extends WriteName>(
  writes: Writes,
  name: Name,
  given: WriteArguments<Name>,
): Work<Written<Name>> {
  return (writes[name] as (...given: WriteArguments<Name>) => Work<Written<Name>>)(...given);
}
