import { replaceAlerts } from "./alerts.ts";
import { putBackup } from "./backups.ts";
import { noteReport } from "./reports.ts";
import { addToken, noteTokenUse, revokeToken } from "./tokens.ts";
import type { Work } from "./work.ts";

/** The changes of a store that both databases do alike, by name: each is the work of one transaction. */
export const writes = { addToken, revokeToken, noteTokenUse, noteReport, putBackup, replaceAlerts };

type Writes = typeof writes;
export type WriteName = keyof Writes;
export type Given<Name extends WriteName> = Parameters<Writes[Name]>;
export type Written<Name extends WriteName> =
  ReturnType<Writes[Name]> extends Work<infer Result> ? Result : never;

/** The work of a change, as yet undone. */
export function workOf<Name extends WriteName>(name: Name, given: Given<Name>): Work<Written<Name>> {
  return (writes[name] as (...given: Given<Name>) => Work<Written<Name>>)(...given);
}
