import type { Alert } from "../../records/programme.ts";
import { identityOf } from "../../records/record-table.ts";
import { lookupText } from "./lookup-text.ts";
import { change, put, type Work } from "./work.ts";

/** See `CentralStore.replaceAlerts`. */
export function* replaceAlerts(home: number, alerts: readonly Alert[]): Work<void> {
  const unlike = new Map(alerts.map((alert) => [`${alert.subjectid} ${identityOf("alerts", alert)}`, alert]));
  yield* change("DELETE FROM home_alerts WHERE home = $1", home);
  yield* put({
    put: "home_alerts",
    columns: { home: "bigint", subjectid: "bigint", id: "text", record: "text" },
    rows: [...unlike.values()].map((alert) => [
      home,
      alert.subjectid,
      lookupText(identityOf("alerts", alert)),
      JSON.stringify(alert),
    ]),
    conflict: "ON CONFLICT (home, subjectid, id) DO UPDATE SET record = excluded.record",
  });
}
