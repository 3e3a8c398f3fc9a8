import type { Kind } from "../../kinds.ts";
import type { GapReason } from "../../reading.ts";
import type { Item } from "../../records/items.ts";
import { type CoverageFacts, coverageOf, isOverdue, type Span } from "../coverage.ts";
import type { CoverageInterval, CoverageRequest } from "../store.ts";
import { objects, rowsOfAll, type Work } from "./work.ts";

/** When an item was covered: see `Store.coverage`. To be read in one snapshot. */
export function* coverage(request: CoverageRequest): Work<CoverageInterval[]> {
  const { item } = request;
  const [rows, silences, outages, gaps] = yield* rowsOfAll(
    objects<StayRow>(`${stays} WHERE key = $1 ORDER BY states.home`, item),
    objects<Silence>(
      "SELECT home, start_ms, stop_ms FROM silences WHERE item = $1 ORDER BY home, start_ms",
      item,
    ),
    objects<Outage>(
      `SELECT outages.home, outages.listener, start_ms, stop_ms
       FROM item_states AS states
         JOIN outages ON outages.home = states.home AND outages.listener IN (states.listener, 'gateway')
       WHERE item = $1 ORDER BY outages.home, outages.listener, start_ms`,
      item,
    ),
    objects<GapRow>(
      `SELECT from_ms AS start_ms, to_ms AS stop_ms, reason, lost FROM gaps WHERE item = $1
       ORDER BY from_ms, to_ms, reason`,
      item,
    ),
  );
  if (rows[0] === undefined) return [];
  const of = outagesByListener(outages);
  const facts = rows.map((row) => ({
    ...stayOf(row),
    silences: silences.filter(({ home }) => home === row.home),
    driverOutages: of(row.home, row.listener),
    gatewayOutages: of(row.home, "gateway"),
  }));
  const known = gaps.map(({ lost, ...gap }) => ({ ...gap, lost: lost ?? undefined }));
  return coverageOf({ ...kindOf(rows[0]), stays: facts, gaps: known }, request);
}

/** Keys of the items that have been silent for too long by now. To be read in one snapshot. */
export function* overdueItems(): Work<Set<number>> {
  // Outages that ended before an item was heard do not count for the time that it has been silent.
  const [rows, outages] = yield* rowsOfAll(
    objects<StayRow>(`${stays} ORDER BY key, states.home`),
    objects<Outage>(
      `SELECT outages.home, outages.listener, start_ms, stop_ms
       FROM outages JOIN (
         SELECT home, listener, min(heard_ms) AS since_ms FROM item_states GROUP BY home, listener
       ) AS heard ON heard.home = outages.home AND heard.listener = outages.listener
       WHERE stop_ms > since_ms ORDER BY outages.home, outages.listener, start_ms`,
    ),
  );
  const of = outagesByListener(outages);
  const overdue = [...Map.groupBy(rows, ({ key }) => key).values()].filter(([first, ...others]) => {
    if (first === undefined) return false;
    const facts = [first, ...others].map((row) => ({
      ...stayOf(row),
      silences: [],
      driverOutages: of(row.home, row.listener),
      gatewayOutages: [],
    }));
    return isOverdue({ ...kindOf(first), stays: facts });
  });
  return new Set(overdue.map(([first]) => (first as StayRow).key));
}

/** Who has heard items. */
const stays = `
  SELECT key, record, states.home, states.first_ms, heard_ms, listener, last_ms
  FROM items JOIN item_states AS states ON item = key
    LEFT JOIN listeners ON listeners.home = states.home AND name = listener`;

interface StayRow {
  readonly key: number;
  readonly record: string;
  readonly home: number;
  readonly first_ms: number;
  readonly heard_ms: number;
  readonly listener: string | null;
  readonly last_ms: number | null;
}

interface Silence extends Span {
  readonly home: number;
}

interface Outage extends Silence {
  readonly listener: string;
}

interface GapRow extends Span {
  readonly reason: GapReason;
  readonly lost: number | null;
}

function stayOf({ first_ms, heard_ms, last_ms }: StayRow) {
  return { first_ms, heard_ms, listened_ms: last_ms ?? undefined };
}

function kindOf({ record }: StayRow): Pick<CoverageFacts, "kind" | "subtype"> {
  const { typename, subtypename } = JSON.parse(record) as Item;
  return { kind: typename as Kind, subtype: subtypename };
}

function outagesByListener(
  outages: readonly Outage[],
): (home: number, listener: string | null) => readonly Span[] {
  const by = Map.groupBy(outages, ({ home, listener }) => `${home} ${listener}`);
  return (home, listener) => by.get(`${home} ${listener}`) ?? [];
}
