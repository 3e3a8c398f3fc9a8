import type { Kind } from "../../kinds.ts";
import type { Item } from "../../records/items.ts";
import { type CoverageFacts, coverageOf, isOverdue, type KnownGap, type Span } from "../coverage.ts";
import type { CoverageInterval, CoverageRequest } from "../store.ts";
import type { SqlRunner } from "./connection.ts";

/** When an item was covered: see `Store.coverage`. To be read in one snapshot. */
export async function coverage(sql: SqlRunner, request: CoverageRequest): Promise<CoverageInterval[]> {
  const { item } = request;
  const rows = await stayRows(sql, item);
  if (rows[0] === undefined) return [];
  const stays = await Promise.all(
    rows.map(async (row) => ({
      ...stayOf(row),
      silences: await sql<Span[]>`
        SELECT start_ms, stop_ms FROM silences WHERE item = ${item} AND home = ${row.home} ORDER BY start_ms`,
      driverOutages: await outages(sql, row.home, row.listener ?? ""),
      gatewayOutages: await outages(sql, row.home, "gateway"),
    })),
  );
  return coverageOf({ ...kindOf(rows[0].record), stays, gaps: await gapsOf(sql, item) }, request);
}

/** Keys of the items that have been silent for too long by now. To be read in one snapshot. */
export async function overdueItems(sql: SqlRunner): Promise<Set<number>> {
  const rows = await stayRows(sql, null);
  // Outages that ended before an item was heard do not count for the time that it has been silent.
  const spans = await sql<(Span & { home: number; listener: string })[]>`
    SELECT home, listener, start_ms, stop_ms
    FROM outages JOIN (
      SELECT home, listener, min(heard_ms) AS since_ms FROM item_states GROUP BY home, listener
    ) AS heard USING (home, listener)
    WHERE stop_ms > since_ms ORDER BY home, listener, start_ms`;
  const outagesOf = Map.groupBy(spans, ({ home, listener }) => `${home} ${listener}`);
  const overdue = [...Map.groupBy(rows, ({ item }) => item)].filter(([, of]) => {
    const stays = of.map((row) => ({
      ...stayOf(row),
      silences: [],
      driverOutages: outagesOf.get(`${row.home} ${row.listener}`) ?? [],
      gatewayOutages: [],
    }));
    return isOverdue({ ...kindOf(of[0]?.record ?? "{}"), stays });
  });
  return new Set(overdue.map(([item]) => item));
}

/** Who has heard an item, or every item where `item` is null. */
function stayRows(sql: SqlRunner, item: number | null): Promise<StayRow[]> {
  return sql<StayRow[]>`
    SELECT item, record, states.home, states.first_ms, heard_ms, listener, last_ms
    FROM items JOIN item_states AS states ON item = key
      LEFT JOIN listeners ON listeners.home = states.home AND name = listener
    WHERE ${item}::bigint IS NULL OR key = ${item}
    ORDER BY item, home`;
}

interface StayRow {
  readonly item: number;
  readonly record: string;
  readonly home: number;
  readonly first_ms: number;
  readonly heard_ms: number;
  readonly listener: string | null;
  readonly last_ms: number | null;
}

function stayOf({ first_ms, heard_ms, last_ms }: StayRow) {
  return { first_ms, heard_ms, ...(last_ms === null ? {} : { listened_ms: last_ms }) };
}

function kindOf(record: string): Pick<CoverageFacts, "kind" | "subtype"> {
  const { typename, subtypename } = JSON.parse(record) as Item;
  return { kind: typename as Kind, subtype: subtypename };
}

function outages(sql: SqlRunner, home: number, listener: string): Promise<Span[]> {
  return sql<Span[]>`
    SELECT start_ms, stop_ms FROM outages WHERE home = ${home} AND listener = ${listener} ORDER BY start_ms`;
}

async function gapsOf(sql: SqlRunner, item: number): Promise<KnownGap[]> {
  const rows = await sql<(KnownGap & { lost: number | null })[]>`
    SELECT from_ms AS start_ms, to_ms AS stop_ms, reason, lost FROM gaps WHERE item = ${item}
    ORDER BY from_ms, to_ms, reason`;
  return rows.map(({ lost, ...gap }) => ({ ...gap, ...(lost === null ? {} : { lost }) }));
}
