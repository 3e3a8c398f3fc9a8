import type { SeriesName } from "../../series.ts";
import { type VersionChange, withRecords } from "./change.ts";

const statusAddedTo: SeriesName = "pillbox_status";

/** 0.2: the pill-box status says when the box will next use its radio. */
export const broadcastAdded: VersionChange = {
  version: "0.2",
  summary: "`nextpanicstart` and `nextpanicstop` added to the pill-box status",
  older: (endpoint) =>
    endpoint.name === statusAddedTo
      ? withRecords(endpoint, { properties: withoutBroadcast, record: withoutBroadcast })
      : endpoint,
};

function withoutBroadcast<Value>(fields: Readonly<Record<string, Value>>): Record<string, Value> {
  const { nextpanicstart: _start, nextpanicstop: _stop, ...others } = fields;
  return others;
}
