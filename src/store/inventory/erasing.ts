import type { Item } from "../../domain/records/item.ts";
import { arrays, change, hold, objects, put, rowsOf, rowsOfAll, type Work } from "../database.ts";
import {
  type ErasedSpan,
  type Erasure,
  type ErasurePlan,
  type ErasureTarget,
  isOfDevice,
  isWholeHome,
  type SpanOfDevice,
  type TakenSpan,
} from "../erasure.ts";
import { removeFromBlocks } from "../series/blocks.ts";
import { seriesOfStream } from "../series/streams.ts";
import type { Between } from "../series/time-spans.ts";
import { recount } from "../series/totals.ts";
import type { ErasureRequest } from "../store.ts";
import { bareCursors } from "./device-cursors.ts";
import { removeHealth } from "./erasing-health.ts";
import {
  betweenOf,
  conditionsOf,
  erasurePlan,
  erasureSpans,
  type HomeStream,
  streamsOfHome,
} from "./erasure-plan.ts";
import type { Homes } from "./homes.ts";
import { forgetNames } from "./naming.ts";
import { settleUnplaced } from "./placements.ts";
import { numberIn } from "./records.ts";

/** Takes away what `erasurePlan` finds, and keeps that it did; undefined where nobody knows the home or subject. */
export function* erase(homes: Homes, { target, id, at_ms }: ErasureRequest): Work<ErasurePlan | undefined> {
  const found = yield* erasureSpans(homes, target, at_ms);
  if (found === undefined) return undefined;
  yield* holdHomes(found.spans.map(({ home }) => home));
  const plan = yield* erasurePlan(homes, target, at_ms);
  if (plan === undefined) return undefined;
  const spans = plan.spans.map((span, place) => ({ ...span, id, place, at_ms, own: 1 }));
  yield* takeAway(homes, spans);
  yield* forgetRecords(homes, target, spans);
  if ("home" in target && homes.one) yield* change("DELETE FROM waiting");
  return plan;
}

/** Does what another copy of this store, or central, has erased, where it is new here; answers how many spans were. */
export function* takeErasures(homes: Homes, spans: readonly TakenSpan[]): Work<number> {
  const known = yield* rowsOf(arrays<[string]>("SELECT DISTINCT id FROM erasures"));
  const ids = new Set(known.flat());
  const unlike = new Map(spans.toReversed().map((span) => [`${span.id} ${span.place}`, span]));
  const fresh = [...unlike.values()]
    .filter(({ id }) => !ids.has(id))
    .map((span) => (homes.one && span.home >= 0 ? { ...span, home: 0 } : span));
  if (fresh.length === 0) return 0;
  yield* holdHomes(fresh.map(({ home }) => home));
  yield* takeAway(homes, fresh);
  for (const [subject, of] of Map.groupBy(fresh, (span) => span.subject))
    if (subject !== null) yield* forgetRecords(homes, { subject }, of);
  for (const { home } of fresh.filter(isWholeHome)) yield* forgetRecords(homes, { home });
  return fresh.length;
}

/** All that was ever erased, the oldest first. */
export function* allErasures(): Work<Erasure[]> {
  return yield* rowsOf(objects<Erasure>(`${erasuresText} ORDER BY at_ms, id, place`));
}

/** The spans of which nothing of a home is kept; they hold until the transaction ends where the inventory is held. */
export function* erasedIn(home: number): Work<Erasure[]> {
  const text = `${erasuresText} WHERE home = $1 AND from_ms < before_ms ORDER BY id, place`;
  return yield* rowsOf(objects<Erasure>(text, home));
}

/** The same of every home of which something was erased. */
export function* erasedByHome(): Work<Map<number, Erasure[]>> {
  const text = `${erasuresText} WHERE from_ms < before_ms ORDER BY id, place`;
  return Map.groupBy(yield* rowsOf(objects<Erasure>(text)), ({ home }) => home);
}

/** Nobody adds readings of any home meanwhile. */
export function* holdHomes(homes: readonly number[]): Work<void> {
  for (const home of [...new Set(homes)].sort((one, other) => one - other)) yield* hold({ home });
  yield* hold("inventory alone");
}

/** Removes the readings and the health of devices that lie in spans, and keeps the spans. */
function* takeAway(homes: Homes, spans: readonly TakenSpan[]): Work<void> {
  const removed = new Map<ErasedSpan, number>();
  for (const [home, ofHome] of Map.groupBy(spans, (span) => span.home)) {
    for (const stream of yield* streamsOfHome(home)) {
      const times = betweenOf(ofHome, stream);
      if (times.length === 0) continue;
      const span = ofHome.find((one) => betweenOf([one], stream).length > 0) as ErasedSpan;
      removed.set(span, (removed.get(span) ?? 0) + (yield* removeReadings(homes, stream, times)));
      yield* removeHealth(stream, times);
    }
    for (const span of ofHome) yield* bareCursors(homes, span);
    yield* change("UPDATE sources SET digest = NULL WHERE home = $1", home);
    if (ofHome.some(isWholeHome)) yield* emptyHome(homes, home);
  }
  yield* put({
    put: "erasures",
    columns: columnTypes,
    rows: spans.map((span) =>
      columns.map((name) => ({ own: 0, ...span, readings: removed.get(span) ?? 0 })[name]),
    ),
    conflict: "",
  });
  for (const home of new Set(spans.map((span) => span.home)))
    yield* forgetNames(homes, home, yield* erasedIn(home));
}

/** Removes the readings of a home that lie in a span, and the health of its devices; answers how many readings those were. */
export function* removeSpan(homes: Homes, home: number, of: SpanOfDevice): Work<number> {
  let removed = 0;
  for (const stream of yield* streamsOfHome(home)) {
    if (!isOfDevice(of, stream)) continue;
    removed += yield* removeReadings(homes, stream, [of]);
    yield* removeHealth(stream, [of]);
  }
  yield* bareCursors(homes, of);
  if (removed > 0) yield* change("UPDATE sources SET digest = NULL WHERE home = $1", home);
  return removed;
}

function* removeReadings(
  homes: Homes,
  { stream, home }: HomeStream,
  times: readonly Between[],
): Work<number> {
  let removed = 0;
  for (const run of yield* seriesOfStream(homes, stream, homes.of(home))) {
    let gone = 0;
    const text = `DELETE FROM ${run.series} WHERE stream = $1 AND stamp >= $2 AND stamp < $3${homes.is("$4")}`;
    for (const of of times) {
      gone += yield* change(text, stream, of.from_ms, of.before_ms, run.home);
      gone += yield* removeFromBlocks(run, of);
    }
    if (gone === 0) continue;
    removed += gone;
    yield* recount(homes, { series: run.series, home: run.home, streams: [stream], changed: true });
  }
  return removed;
}

/** Removes what else is known of a home, and its streams and provisional items as far as nothing is left of them. */
function* emptyHome(homes: Homes, home: number): Work<void> {
  yield* change("UPDATE sources SET report = NULL WHERE home = $1", home);
  for (const table of ["home_alerts", "backups", "listeners", "outages", "nights", "remote_requests"])
    yield* change(`DELETE FROM ${table} WHERE home = $1`, home);
  const streams = yield* streamsOfHome(home);
  const keys = streams.map(({ stream }) => stream);
  const left = yield* rowsOfAll<[number][]>(
    arrays(totalsLeft, keys, homes.of(home)),
    arrays("SELECT stream FROM stream_states WHERE stream = ANY ($1::bigint[]) AND home = $2", keys, home),
  );
  const empty = streams.filter(({ stream }) => !left.flat(2).includes(stream));
  const gone = empty.map(({ stream }) => stream);
  for (const table of ["totals", "late", "blocks"])
    yield* change(
      `DELETE FROM ${table} WHERE stream = ANY ($1::bigint[]) AND home = $2`,
      gone,
      homes.of(home),
    );
  for (const table of ["silences", "gaps"])
    yield* change(`DELETE FROM ${table} WHERE stream = ANY ($1::bigint[]) AND home = $2`, gone, home);
  yield* change("DELETE FROM streams WHERE key = ANY ($1::bigint[])", gone);
  yield* removeItems(empty.filter(({ provisional }) => provisional).map(({ item }) => item));
  if (!homes.one) yield* moveOut(home);
}

const totalsLeft = "SELECT stream FROM totals WHERE stream = ANY ($1::bigint[]) AND home = $2 AND total > 0";

/** Removes provisional items of which nothing is left, unless records name them. */
function* removeItems(items: readonly number[]): Work<void> {
  const unheard = yield* rowsOf(
    arrays<[key: number, itemid: number]>(
      `SELECT key, itemid FROM items WHERE key = ANY ($1::bigint[]) AND provisional
         AND NOT EXISTS (SELECT 1 FROM streams WHERE streams.item = items.key)`,
      items,
    ),
  );
  const named = new Set<number>();
  for (const [type, field] of naming) {
    const itemids = unheard.map(([, itemid]) => itemid);
    const text = `SELECT ${numberIn(field)} FROM records WHERE type = '${type}' AND ${numberIn(field)} = ANY ($1::bigint[])`;
    for (const [itemid] of yield* rowsOf(arrays<[number]>(text, itemids))) named.add(itemid);
  }
  const gone = unheard.filter(([, itemid]) => !named.has(itemid)).map(([key]) => key);
  yield* change("DELETE FROM stays WHERE item = ANY ($1::bigint[])", gone);
  yield* change("DELETE FROM items WHERE key = ANY ($1::bigint[])", gone);
}

const naming = [
  ["subject_inventory", "itemid"],
  ["notes", "itemid"],
  ["home_inventory", "item"],
  ["issues", "itemid"],
] as const;

/** Has the items of the inventory that are in a home live nowhere, as far as it says no more. */
function* moveOut(home: number): Work<void> {
  const there = yield* rowsOf(
    arrays<[key: number, record: string]>(
      `SELECT key, record FROM items WHERE NOT provisional
         AND (currenthomeid = $1 OR key IN (SELECT item FROM stays WHERE home = $1))`,
      home,
    ),
  );
  for (const [key, text] of there) {
    const record = JSON.parse(text) as Item;
    if (record.currenthomeid !== home) continue;
    const nowhere = { currenthomeid: null, currenthomestart: null, active: 0, activename: "Inactive" };
    yield* change(
      "UPDATE items SET record = $2, currenthomeid = NULL WHERE key = $1",
      key,
      JSON.stringify({ ...record, ...nowhere }),
    );
  }
  const keys = there.map(([key]) => key);
  yield* change("DELETE FROM stays WHERE item = ANY ($1::bigint[]) AND home = $2", keys, home);
  yield* settleUnplaced(keys);
}

function* forgetRecords(homes: Homes, target: ErasureTarget, spans: readonly ErasedSpan[] = []): Work<void> {
  for (const { condition, parameter } of conditionsOf(target, homes, spans))
    yield* change(`DELETE FROM records WHERE ${condition}`, parameter);
  if ("subject" in target) yield* change("DELETE FROM home_alerts WHERE subjectid = $1", target.subject);
}

const columnTypes = {
  id: "text",
  place: "bigint",
  at_ms: "bigint",
  own: "bigint",
  home: "bigint",
  subject: "bigint",
  kind: "text",
  address: "text",
  itemid: "bigint",
  from_ms: "bigint",
  before_ms: "bigint",
  readings: "bigint",
} as const;
const columns = Object.keys(columnTypes) as (keyof typeof columnTypes)[];
const erasuresText = `SELECT ${columns.join(", ")}, refused FROM erasures`;
