import type { Static } from "@sinclair/typebox";
import type { DayReadings } from "../store/upload-store.ts";
import type { DayQuery } from "./protocol.ts";

/** The day that a query names. */
export function dayReadingsOf(query: Static<typeof DayQuery>): DayReadings {
  const { epoch, through, series, kind, address, itemid, day, after } = query;
  return {
    epoch,
    through_seq: through,
    series,
    kind,
    address,
    itemid,
    day,
    after_seq: after,
  };
}

/** The query that names a day. */
export function dayQueryOf({ through_seq, after_seq, ...of }: DayReadings): Static<typeof DayQuery> {
  return { ...of, through: through_seq, after: after_seq };
}
