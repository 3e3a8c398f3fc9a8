import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parseIfWhole, readPlainFile, writeDurably } from "../../base/disk/safe-files.ts";
import { hour_ms } from "../../base/time.ts";

/** A task that a technician was asked for: the address of a device, or a walk along a line. Times are unix milliseconds. */
const Ask = Type.Object({ of: Type.String({ maxLength: 200 }), at_ms: Type.Integer({ minimum: 0 }) });
export type Ask = Static<typeof Ask>;

/** A visit that is under way: everything that was asked, in order. It is on disk, so that it outlives a restart of the box. */
const Visit = Type.Object({ asks: Type.Array(Ask, { maxItems: 1_000 }) });
export type Visit = Static<typeof Visit>;

/** Name of the file; a backup leaves it out. */
export const visitFile = "acceptance-visit.json";

/** The visit that is under way in a data directory: one whose last task is of long ago is over. */
export function visitIn(directory: string, now_ms: number): Visit {
  const found = parseIfWhole(readPlainFile(join(directory, visitFile), visit_bytes_max));
  const last = Value.Check(Visit, found) ? found.asks.at(-1) : undefined;
  const isOver = last === undefined || Math.abs(now_ms - last.at_ms) > visit_max_ms;
  return isOver ? { asks: [] } : (found as Visit);
}

/** Notes that the technician is asked for something from now on. */
export function noteAsk(directory: string, ask: Ask): void {
  const { asks } = visitIn(directory, ask.at_ms);
  keepVisit(directory, { asks: [...asks, ask].slice(-asks_max) });
}

export function keepVisit(directory: string, visit: Visit): void {
  writeDurably(join(directory, visitFile), JSON.stringify(visit));
}

const visit_max_ms = 12 * hour_ms;
const asks_max = 1_000;
const visit_bytes_max = 1024 * 1024;
