import type { Alert } from "../../records/issues.ts";
import { identityOf } from "../../records/record-table.ts";
import { lookupText } from "../core/lookup-text.ts";
import type { SqlRunner } from "./connection.ts";

/** Keeps the alerts that central makes of a home, inside the caller's transaction: see `CentralStore.replaceAlerts`. */
export async function replaceAlerts(sql: SqlRunner, home: number, alerts: readonly Alert[]): Promise<void> {
  const unlike = new Map(alerts.map((alert) => [`${alert.subjectid} ${identityOf("alerts", alert)}`, alert]));
  await sql`DELETE FROM home_alerts WHERE home = ${home}`;
  for (const alert of unlike.values()) {
    await sql`
      INSERT INTO home_alerts (home, subjectid, id, record)
      VALUES (${home}, ${alert.subjectid}, ${lookupText(identityOf("alerts", alert))}, ${JSON.stringify(alert)})
      ON CONFLICT (home, subjectid, id) DO UPDATE SET record = excluded.record`;
  }
}
