import type { GatewayStatus } from "../../control/status.ts";
import { databasePath, openForReading } from "../../store/sqlite/connection.ts";
import { storedRole } from "../../store/sqlite/role.ts";
import type { ItemOverview, Overview } from "../../store/store.ts";
import type { CommandContext } from "../command.ts";
import { withStore, withUploadStore } from "../with-store.ts";
import type { Scrub } from "./scrub.ts";

/** The running gateway's own word, without the addresses that it is reached by; null where none runs. */
export function gatewayFacts(running: unknown, scrub: Scrub): object | null {
  if (running === undefined || running === null) return null;
  if ("failed" in (running as object)) return running as object;
  const {
    url: _,
    listen: __,
    tls,
    strangers,
    store: ___,
    machine,
    version,
    ...others
  } = running as GatewayStatus;
  return {
    version,
    machine,
    tls: tls !== undefined,
    strangers: strangers.length,
    ...(scrub.value(others) as object),
  };
}

/** Sizes and counts of the store, and each item by a number. */
export async function storeFacts(directory: string, context: CommandContext, scrub: Scrub): Promise<object> {
  const { overview, upload } =
    storedRole(directory) === "central"
      ? { overview: await withStore({ data: directory }, context, (store) => store.overview()), upload: null }
      : await withUploadStore(directory, context, async (store) => ({
          overview: await store.overview(),
          upload: await store.uploadState(),
        }));
  const { epoch: _, items, dropped, ...figures } = overview satisfies Overview;
  return {
    ...figures,
    dropped: Object.entries(dropped).map(([what, count]) => `${count} ${scrub.text(what)}`),
    upload: scrub.value(upload),
    rows: rowCounts(directory),
    items: items.slice(0, items_max).map((item) => itemFacts(item, scrub)),
  };
}

function itemFacts({ record, facts, ...state }: ItemOverview, scrub: Scrub): object {
  const { typename, macaddress: address } = record;
  return {
    kind: typename,
    address: typeof address === "string" ? scrub.address(address) : null,
    ...(scrub.value(state) as object),
    facts: scrub.value(facts ?? null),
  };
}

/** Rows of each table, up to `rows_max`. */
function rowCounts(directory: string): Record<string, number> {
  const database = openForReading(databasePath(directory));
  try {
    const tables = database
      .query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .values()
      .flat();
    const count = (table: string) =>
      Number(
        database.query(`SELECT count(*) FROM (SELECT 1 FROM "${table}" LIMIT ${rows_max})`).values()[0]?.[0],
      );
    return Object.fromEntries(tables.map((table) => [String(table), count(String(table))]));
  } finally {
    database.close();
  }
}

const items_max = 500;
const rows_max = 100_000;
