import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { jsonIfReadable, writeDurably } from "../../base/disk/safe-files.ts";

/** The ring that the study has set from afar, and the one that the configuration had then: another one there is a person's word, and later. */
const Kept = Type.Object({
  configured: Type.Integer({ minimum: 1 }),
  ring: Type.Integer({ minimum: 1, maximum: 999_999 }),
});

export function keepRing(data: string, kept: { readonly configured: number; readonly ring: number }): void {
  writeDurably(join(data, ringName), JSON.stringify(kept));
}

/** The ring of a box: the one that was set from afar, or that of its configuration. What is signed decides what it installs, so the worst of a wrong ring is a release too early. */
export function ringOf(data: string, configured: number): number {
  const kept = jsonIfReadable(join(data, ringName));
  return Value.Check(Kept, kept) && kept.configured === configured ? kept.ring : configured;
}

/** In the data directory: the study has asked for an update, which `lintel-update-resume.timer` starts. */
export const updateWanted = "update-wanted";

const ringName = "remote-ring.json";
