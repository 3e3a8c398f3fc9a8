import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Clock } from "../base/clock.ts";
import { parseIfWhole, readPlainFile, writeDurably } from "../base/disk/safe-files.ts";
import { day_ms } from "../base/time.ts";

const Starts = Type.Array(
  Type.Object({
    at_ms: Type.Integer({ minimum: 0 }),
    /** Of the machine, in which it was. */
    boot: Type.String({ maxLength: 64 }),
    /** It was stopped on purpose. */
    stopped: Type.Boolean(),
  }),
);

/**
 * Notes in `starts.json` of a data directory that the gateway starts.
 *
 * @returns what notes that it was stopped on purpose. A gateway that crashes, or that its watchdog ends, never calls that
 */
export function noteStart(directory: string, clock: Clock): () => void {
  const start = { at_ms: clock.now().unix_ms, boot: clock.boot, stopped: false };
  const starts = [...startsIn(directory), start].slice(-starts_max);
  const write = () => writeDurably(startsPath(directory), JSON.stringify(starts));
  write();
  return () => {
    start.stopped = true;
    write();
  };
}

/** How often the gateway was started again on a day up to now because it had ended by itself. A power cut is no such end. */
export function restartsIn(directory: string, now_ms: number): number {
  const starts = startsIn(directory);
  return starts.filter(({ at_ms, boot }, place) => {
    const before = starts[place - 1];
    const age_ms = now_ms - at_ms;
    return before !== undefined && !before.stopped && before.boot === boot && age_ms >= 0 && age_ms < day_ms;
  }).length;
}

/** Those that are known, the newest last: none where the file cannot be read, which keeps no gateway from its work. */
function startsIn(directory: string): { at_ms: number; boot: string; stopped: boolean }[] {
  const found = parseIfWhole(readPlainFile(startsPath(directory), bytes_max));
  return Value.Check(Starts, found) ? found : [];
}

export const startsFile = "starts.json";
const startsPath = (directory: string) => join(directory, startsFile);
/** More than a service that crashes every six minutes has in a day. */
const starts_max = 300;
const bytes_max = 64 * 1024;
