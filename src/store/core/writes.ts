import type { Batch } from "../batch.ts";
import type { Sender } from "../central-store.ts";
import type { DayReadings } from "../upload-store.ts";
import { replaceAlerts } from "./alerts.ts";
import { putBackup } from "./backups.ts";
import type { Homes } from "./homes.ts";
import { noteCompared } from "./nights.ts";
import { setQuotas } from "./quotas.ts";
import { receive } from "./receive.ts";
import { repairDay } from "./repair.ts";
import { noteReport } from "./reports.ts";
import { compressSome } from "./sealing.ts";
import { addToken, noteTokenUse, revokeToken } from "./tokens.ts";
import type { Work } from "./work.ts";

/** The changes of a store that both databases do alike, by name: each is the work of one transaction. */
export function writesOf(homes: Homes) {
  return {
    addToken,
    revokeToken,
    noteTokenUse,
    noteReport,
    noteCompared,
    setQuotas,
    putBackup,
    replaceAlerts,
    seal: (home: number, before_ms: number) => compressSome(homes, home, before_ms),
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
