import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parseIfWhole, readIfThere, writeDurably } from "../../disk/durable-file.ts";
import { setAsideIn } from "../../store/sqlite/placing.ts";
import type { Manifest } from "../backup/manifest.ts";

/** Counts of readings that came after the backup. */
const TakenOver = Type.Object({
  taken_over: Type.Integer(),
  /** Numbers that were given and whose readings cannot be read. */
  lost: Type.Integer(),
});
export type TakenOver = Static<typeof TakenOver>;

/** The same in a directory that was set aside, with the name of the backup that took its place. */
const Note = Type.Composite([TakenOver, Type.Object({ backup: Type.String() })]);

/** Notes beside data that a backup is about to replace what was taken over from them: it is set aside with them. */
export function writeTakenOver(directory: string, { directory: backup }: Manifest, taken: TakenOver): void {
  writeDurably(join(directory, takenOverFile), `${JSON.stringify({ backup, ...taken })}\n`);
}

/**
 * The result of a restore of this very backup that was ended before it could tell it, as by a power cut; undefined where there was none.
 */
export function takenOverBefore(
  directory: string,
  { directory: backup }: Manifest,
): { readonly aside: string; readonly built: TakenOver } | undefined {
  for (const aside of setAsideIn(directory)) {
    const note = parseIfWhole(readIfThere(join(aside, takenOverFile)));
    if (!Value.Check(Note, note) || note.backup !== backup) continue;
    const { taken_over, lost } = note;
    return { aside, built: { taken_over, lost } };
  }
  return undefined;
}

const takenOverFile = "taken-over.json";
