import type { CentralStore } from "../../../src/store/central/central-store.ts";
import { postgresServer } from "../../../testbed/postgres/server.ts";
import { Notices } from "./notices.ts";
import { openCentral } from "./temporary-central.ts";

/**
 * How PostgreSQL has carried out the statements on a table that `work` made the store of a database run: their plans, as text. On a cluster
 * each has in it the plan by which a worker carried it out.
 */
export async function plansOf(
  url: string,
  table: string,
  work: (store: CentralStore) => Promise<void>,
): Promise<string[]> {
  const server = await postgresServer();
  const name = new URL(url).pathname.slice(1);
  for (const [setting, value] of Object.entries(explaining)) {
    await server.run(`ALTER DATABASE ${name} SET ${setting} = '${value}'`);
  }
  await using notices = await Notices.of(url);
  const store = await openCentral(notices.url);
  try {
    await work(store);
  } finally {
    await store.close();
    for (const setting of Object.keys(explaining)) {
      await server.run(`ALTER DATABASE ${name} RESET ${setting}`);
    }
  }
  return notices.texts.filter((text) => text.includes("plan:") && text.includes(` on ${table}`));
}

/** Rows that each scan of a plan has come by, those that it left out included. */
export function rowsRead(plan: string): number[] {
  const scans = plan.split(/^(?=.*Scan)/m).filter((part) => part.includes("Scan"));
  return scans.map((scan) => {
    const found = Number(/actual .*?rows=([\d.]+)/.exec(scan)?.[1] ?? 0);
    const left = Number(/Rows Removed by Filter: (\d+)/.exec(scan)?.[1] ?? 0);
    return found + left;
  });
}

const explaining = {
  session_preload_libraries: "auto_explain",
  "auto_explain.log_min_duration": "0",
  "auto_explain.log_analyze": "on",
  "auto_explain.log_level": "notice",
};
