import type { SeriesName } from "../../series.ts";
import { type Change, withRecords } from "./change.ts";

const status: SeriesName = "pillbox_status";

/** 0.2: the pill-box status says when the box will next use its radio. */
export const broadcastAdded: Change = {
  version: "0.2",
  summary: "`nextpanicstart` and `nextpanicstop` added to the pill-box status",
  older: (endpoint) =>
    endpoint.name === status
      ? withRecords(endpoint, { properties: withoutBroadcast, record: withoutBroadcast })
      : endpoint,
};

function withoutBroadcast<Value>(fields: Readonly<Record<string, Value>>): Record<string, Value> {
  const { nextpanicstart: _start, nextpanicstop: _stop, ...others } = fields;
  return others;
}
