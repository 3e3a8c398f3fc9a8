import { repairDay } from "./central/day-repair.ts";
import { noteCompared, putBackup } from "./central/gateways.ts";
import { noteReport, receive } from "./central/receiving.ts";
import { askRemote, noteRemote } from "./central/remote-asked.ts";
import { setQuotas } from "./central/sources.ts";
import type { Work } from "./database.ts";
import { followEnrollments, withdraw } from "./inventory/consent.ts";
import { erase, takeErasures } from "./inventory/erasing.ts";
import type { Homes } from "./inventory/homes.ts";
import { changeNotes } from "./inventory/noting.ts";
import { takePauses } from "./inventory/pausing.ts";
import { replaceAlerts } from "./inventory/records.ts";
import { liftRestriction, noteInJournal, restrict } from "./inventory/restricting.ts";
import { setRetentionNotices } from "./inventory/retaining.ts";
import { addToken, noteTokenUse, revokeToken } from "./tokens.ts";

/** The changes of a store that both databases do alike, by name: each is the work of one transaction. */
export function writesOf(homes: Homes) {
  const here =
    <Given extends unknown[], Result>(work: (homes: Homes, ...given: Given) => Work<Result>) =>
    (...given: Given) =>
      work(homes, ...given);
  return {
    addToken,
    revokeToken,
    noteTokenUse,
    noteCompared,
    setQuotas,
    putBackup,
    askRemote,
    noteRemote,
    replaceAlerts,
    changeNotes,
    noteInJournal,
    setRetentionNotices,
    noteReport: here(noteReport),
    erase: here(erase),
    takeErasures: here(takeErasures),
    takePauses: here(takePauses),
    withdraw: here(withdraw),
    followEnrollments: here(followEnrollments),
    restrict: here(restrict),
    liftRestriction: here(liftRestriction),
    receive: here(receive),
    repairDay: here(repairDay),
  };
}

/** Changes by name. */
type Writes = Readonly<Record<string, (...given: never[]) => Work<unknown>>>;
type SharedWrites = ReturnType<typeof writesOf>;
export type WriteName = keyof SharedWrites;
export type WriteArguments<Name extends keyof Of, Of extends Writes = SharedWrites> = Parameters<Of[Name]>;
export type Written<Name extends keyof Of, Of extends Writes = SharedWrites> =
  ReturnType<Of[Name]> extends Work<infer Result> ? Result : never;

/** The work of a change, as yet undone. */
export function workOf<Name extends keyof Of, Of extends Writes = SharedWrites>(
  writes: Of,
  name: Name,
  given: WriteArguments<Name, Of>,
): Work<Written<Name, Of>> {
  return writes[name]?.(...(given as never[])) as Work<Written<Name, Of>>;
}
