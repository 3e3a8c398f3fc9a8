import type { SeriesName } from "../../series.ts";
import { type VersionChange, withRecords } from "./change.ts";

const statusRenamedIn: SeriesName = "pillbox_status";

/** 0.2: the pill-box status field `firmware` became `firmwarerevsion`. */
export const firmwareRenamed: VersionChange = {
  version: "0.2",
  summary: "`firmware` of the pill-box status renamed to `firmwarerevsion`",
  older: (endpoint) =>
    endpoint.name === statusRenamedIn
      ? withRecords(endpoint, { properties: withOlderName, record: withOlderName })
      : endpoint,
};

function withOlderName<Value>(fields: Readonly<Record<string, Value>>): Record<string, Value> {
  const renamed = Object.entries(fields).map(([name, value]) => [
    name === "firmwarerevsion" ? "firmware" : name,
    value,
  ]);
  return Object.fromEntries(renamed);
}
