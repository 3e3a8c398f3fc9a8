import { seriesNames } from "../../series.ts";
import { recountAll } from "../core/count-spans.ts";
import { homesTogether } from "../core/homes.ts";
import { change } from "../core/work.ts";
import type { Connection } from "./connection.ts";
import type { Runner } from "./runner.ts";
import { seriesColumns } from "./series-tables.ts";

/**
 * Gives everything that is known of one item to another, and removes the first: its readings keep their stamps and
 * numbers, counts stay exact. Works inside the caller's transaction; takes time by the readings of `from`.
 */
export function mergeHistories(
  database: Connection,
  runner: Runner,
  { from, into }: { from: number; into: number },
): void {
  const run = (sql: string, ...parameters: number[]) => {
    const statement = database.prepare(sql);
    statement.run(...parameters);
    statement.finalize();
  };
  for (const series of seriesNames) {
    const others = seriesColumns(series).slice(1).join(", ");
    run(
      `INSERT INTO ${series} (item, ${others}) SELECT ?, ${others} FROM ${series} WHERE item = ?`,
      into,
      from,
    );
    run(`DELETE FROM ${series} WHERE item = ?`, from);
    const moved = runner.run(change("DELETE FROM totals WHERE item = $1 AND series = $2", from, series));
    if (moved > 0) runner.run(recountAll(homesTogether, series, [into]));
  }
  run("DELETE FROM counts WHERE item = ?", from);
  run("DELETE FROM late WHERE item = ?", from);
  // Of these fields the value heard last wins; a value that only the other has stays.
  run(
    `INSERT INTO item_states (item, home, heard_ms, first_ms, battery_percent, battery_mv, linkquality, listener)
     SELECT ?, home, heard_ms, first_ms, battery_percent, battery_mv, linkquality, listener FROM item_states WHERE item = ?
     ON CONFLICT (item, home) DO UPDATE SET
       first_ms = min(first_ms, excluded.first_ms),
       heard_ms = max(heard_ms, excluded.heard_ms),
       ${stateFields.map((field) => `${field} = ${laterOf(field)}`).join(",\n")}`,
    into,
    from,
  );
  run("DELETE FROM item_states WHERE item = ?", from);
  for (const table of ["silences", "gaps", "item_homes"]) {
    run(`UPDATE OR REPLACE ${table} SET item = ? WHERE item = ?`, into, from);
  }
  run("DELETE FROM items WHERE key = ?", from);
}

function laterOf(field: string): string {
  return `CASE WHEN excluded.heard_ms > heard_ms THEN coalesce(excluded.${field}, ${field})
          ELSE coalesce(${field}, excluded.${field}) END`;
}

const stateFields = ["battery_percent", "battery_mv", "linkquality", "listener"] as const;
