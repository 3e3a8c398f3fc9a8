import type { SeriesName } from "../../series.ts";
import { amongHomes, type Homes } from "./homes.ts";
import { objects, rowsOf, type Work } from "./work.ts";

/** A series of an item as one moment has it. Of its readings some are counted in spans, and the tail of each home in `parts` alone. */
export interface Run {
  readonly homes: Homes;
  readonly series: SeriesName;
  readonly item: number;
  /** As `amongHomes` has it. */
  readonly among: string;
  readonly total: number;
  readonly newest_number: number;
  readonly newest_stamp: number;
  /** How often readings have been changed or joined with others. */
  readonly revision: number;
  /** How many of the oldest have been removed. */
  readonly pruned: number;
  readonly parts: readonly Part[];
}

/** The readings of one home. */
interface Part {
  readonly home: number;
  readonly total: number;
  readonly newest_number: number;
  readonly newest_stamp: number;
  readonly revision: number;
  readonly pruned: number;
  readonly tail: number;
  readonly tail_from: number;
}

/** A series of an item, from its totals. */
export function* runOf(homes: Homes, series: SeriesName, item: number): Work<Run> {
  const among = yield* amongHomes(homes, item);
  const parts = yield* rowsOf(
    objects<Part>(
      `SELECT home, total, newest_number, newest_stamp, revision, pruned, tail, tail_from
       FROM totals WHERE item = $1 AND series = $2${among}`,
      item,
      series,
    ),
  );
  const sum = (field: "total" | "revision" | "pruned") => parts.reduce((all, part) => all + part[field], 0);
  const most = (field: "newest_number" | "newest_stamp") =>
    parts.reduce((newest, part) => Math.max(newest, part[field]), 0);
  return {
    ...{ homes, series, item, among, parts },
    total: sum("total"),
    newest_number: most("newest_number"),
    newest_stamp: most("newest_stamp"),
    revision: sum("revision"),
    pruned: sum("pruned"),
  };
}

/** Equal for two moments of a run between which its counts in spans have not changed. */
export function versionOf({ parts }: Run): string {
  return parts
    .map(({ home, total, tail, ...part }) => `${home} ${total - tail} ${part.revision} ${part.pruned}`)
    .join();
}
