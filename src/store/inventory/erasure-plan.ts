import type { Kind } from "../../domain/kinds.ts";
import type { Item } from "../../domain/records/item.ts";
import {
  definitionOf,
  type OwnerType,
  type RecordType,
  recordTypes,
} from "../../domain/records/record-table.ts";
import { arrays, firstOf, objects, rowsOf, rowsOfAll, type Work } from "../database.ts";
import {
  type ErasedSpan,
  type ErasurePlan,
  type ErasureTarget,
  everyDevice,
  type ItemReadings,
  isOfDevice,
  type KeptReadings,
  type SpanOfDevice,
} from "../erasure.ts";
import { countBetween } from "../series/readings.ts";
import { seriesOfStream } from "../series/streams.ts";
import { type Between, joined, parts, without } from "../series/time-spans.ts";
import { type Homes, ownHome } from "./homes.ts";
import { always } from "./placements.ts";
import { numberIn } from "./records.ts";
import {
  allOf,
  type Enrolled,
  enrollmentOf,
  type HeldItem,
  type HeldRecord,
  heldBy,
  heldOf,
  recordsNaming,
} from "./residents.ts";

type NewSpan = ErasurePlan["spans"][number];
type Kept = Omit<KeptReadings, "readings"> & { readonly streams: (stream: HomeStream) => boolean };

/** Records that an erasure removes: a condition on `records` whose parameter is `$1`. */
interface RecordCondition {
  readonly condition: string;
  readonly parameter: number | readonly string[];
}

/** Finds out what an erasure would take away; undefined where nobody knows the home or subject. To be read at one moment. */
export function* erasurePlan(
  homes: Homes,
  target: ErasureTarget,
  now_ms: number,
): Work<ErasurePlan | undefined> {
  const found = yield* erasureSpans(homes, target, now_ms);
  if (found === undefined) return undefined;
  const readings: ItemReadings[] = [];
  const kept: KeptReadings[] = [];
  for (const home of new Set([...found.spans, ...found.kept].map((span) => span.home))) {
    const streams = yield* streamsOfHome(home);
    const ofHome = found.spans.filter((span) => span.home === home);
    for (const stream of streams) {
      const { itemname } = stream;
      for (const between of betweenOf(ofHome, stream)) {
        const count = yield* countIn(homes, stream, between);
        if (count > 0) readings.push({ home, itemname, ...between, readings: count });
      }
    }
    for (const { streams: isMeant, ...stays } of found.kept.filter((stay) => stay.home === home)) {
      let count = 0;
      for (const stream of streams.filter(isMeant))
        for (const between of without([stays], betweenOf(ofHome, stream)))
          count += yield* countIn(homes, stream, between);
      if (count > 0) kept.push({ ...stays, readings: count });
    }
  }
  return { readings, kept, ...(yield* besides(homes, target, found.spans)), spans: found.spans };
}

/** The times that an erasure takes away, and those that it leaves to others; undefined where nobody knows the home or subject. */
export function* erasureSpans(
  homes: Homes,
  target: ErasureTarget,
  now_ms: number,
): Work<ErasureSpans | undefined> {
  return "home" in target
    ? yield* homeSpans(homes, target.home, now_ms)
    : yield* subjectSpans(homes, target.subject, now_ms);
}

/** A stream of a home, with the item that it is of. */
export interface HomeStream {
  readonly stream: number;
  readonly item: number;
  readonly home: number;
  readonly itemname: string;
  readonly kind: Kind;
  readonly address: string;
  readonly itemid: number | undefined;
  readonly provisional: boolean;
}

export function* streamsOfHome(home: number): Work<HomeStream[]> {
  const rows = yield* rowsOf(
    arrays<[number, number, string, number | null, number | boolean, string]>(
      `SELECT streams.key, streams.item, streams.address, streams.itemid, items.provisional, items.record
       FROM streams JOIN items ON items.key = streams.item WHERE streams.home = $1 ORDER BY streams.key`,
      home,
    ),
  );
  return rows.map(([stream, item, address, itemid, provisional, text]) => {
    const record = JSON.parse(text) as Item;
    const number = itemid ?? (provisional ? undefined : record.itemid);
    const { itemname, typename } = record;
    return {
      stream,
      item,
      home,
      itemname,
      kind: typename as Kind,
      address,
      itemid: number,
      provisional: Boolean(provisional),
    };
  });
}

/** The times of a stream that spans of its home take away: none overlaps another. */
export function betweenOf(spans: readonly SpanOfDevice[], stream: HomeStream): Between[] {
  return joined(spans.filter((span) => isOfDevice(span, stream)));
}

function* countIn(homes: Homes, { stream, home }: HomeStream, between: Between): Work<number> {
  let count = 0;
  for (const run of yield* seriesOfStream(homes, stream, homes.of(home)))
    count += yield* countBetween(run, between);
  return count;
}

interface ErasureSpans {
  readonly spans: readonly NewSpan[];
  readonly kept: readonly Kept[];
}

function* homeSpans(homes: Homes, home: number, now_ms: number): Work<ErasureSpans | undefined> {
  if (!(yield* isKnownHome(homes, home))) return undefined;
  const own = homes.one ? 0 : home;
  const before_ms = yield* endOf(homes, own, now_ms);
  return { spans: [{ home: own, subject: null, ...everyDevice, from_ms: 0, before_ms }], kept: [] };
}

function* isKnownHome(homes: Homes, home: number): Work<boolean> {
  if (homes.one) {
    const own = yield* ownHome();
    if (own !== undefined) return own === home;
  }
  const known = yield* firstOf(
    arrays(
      `SELECT 1 FROM streams WHERE home = $1 UNION ALL SELECT 1 FROM epoch_homes WHERE home = $1
       UNION ALL SELECT 1 FROM records WHERE type IN ('homes', ${ownedBy("homes")}) AND number = $1
       UNION ALL SELECT 1 FROM records WHERE type = 'project_enrollments' AND ${numberIn("homeid")} = $1
       UNION ALL SELECT 1 FROM records WHERE type IN ('issues', 'consents') AND ${numberIn("homeid")} = $1 LIMIT 1`,
      home,
    ),
  );
  return known !== undefined;
}

/** Now, or after the newest reading of a home whose clock is ahead. */
function* endOf(homes: Homes, home: number, now_ms: number): Work<number> {
  const streams = yield* rowsOf(arrays<[number]>("SELECT key FROM streams WHERE home = $1", home));
  const newest = yield* firstOf(
    arrays<[number | null]>(
      "SELECT max(newest_stamp) FROM totals WHERE stream = ANY ($1::bigint[]) AND home = $2",
      streams.flat(),
      homes.of(home),
    ),
  );
  return Math.max(now_ms, Number(newest?.[0] ?? 0) + 1);
}

function* subjectSpans(homes: Homes, subject: number, now_ms: number): Work<ErasureSpans | undefined> {
  const ofSubject = conditionsOf({ subject }, homes);
  const known = yield* rowsOfAll<[number][]>(
    ...ofSubject.map(({ condition, parameter }) =>
      arrays<[number]>(`SELECT 1 FROM records WHERE ${condition} LIMIT 1`, parameter),
    ),
  );
  if (known.flat(2).length === 0) return undefined;
  const own = homes.one ? yield* ownHome() : undefined;
  const ends = new Map<number, number>();
  const end = function* (home: number): Work<number> {
    if (!ends.has(home)) ends.set(home, yield* endOf(homes, home, now_ms));
    return ends.get(home) as number;
  };
  const lived: (Between & { home: number })[] = [];
  for (const enrolled of yield* recordsNaming<Enrolled>("project_enrollments", "subjectid", [subject])) {
    const { homeid } = enrolled;
    if (homeid === null || (own !== undefined && homeid !== own)) continue;
    const home = homes.one ? 0 : homeid;
    const between = enrollmentOf(enrolled, yield* end(home));
    if (between !== undefined) lived.push({ home, ...between });
  }
  const held = yield* heldBy(subject, yield* end(-1));
  const spans: NewSpan[] = [];
  const kept: Kept[] = [];
  for (const [home, times] of Map.groupBy(lived, (one) => one.home)) {
    const mine = joined(times);
    const others = yield* othersIn(homes, home, { subject, own, end: yield* end(home) });
    for (const between of without(mine, others)) spans.push({ home, subject, ...everyDevice, ...between });
    const why = "another participant was enrolled there, or held an item of the home, at that time";
    for (const between of parts(mine, others))
      kept.push({ home, itemname: null, ...between, why, streams: () => true });
    // Without a span the home's gateway is told all the same that the participant's records are gone.
    if (without(mine, others).length === 0)
      spans.push({ home, subject, ...everyDevice, from_ms: 0, before_ms: 0 });
  }
  for (const of of held) {
    const found = yield* heldSpans(homes, subject, of, { lived, end: yield* end(-1) });
    spans.push(...found.spans);
    kept.push(...found.kept);
  }
  if (spans.length === 0) spans.push({ home: -1, subject, ...everyDevice, from_ms: 0, before_ms: 0 });
  return { spans, kept };
}

/** When others than a subject lived in a home: by their enrollments, or because they held an item that was there. */
function* othersIn(
  homes: Homes,
  home: number,
  { subject, own, end }: { subject: number; own: number | undefined; end: number },
): Work<Between[]> {
  const enrolled = homes.one
    ? (yield* allOf<Enrolled>("project_enrollments")).filter(
        ({ homeid }) => own === undefined || homeid === own,
      )
    : yield* recordsNaming<Enrolled>("project_enrollments", "homeid", [home]);
  const theirs = enrolled
    .filter(({ subjectid }) => subjectid !== subject)
    .flatMap((one) => enrollmentOf(one, end) ?? []);
  const stays = yield* rowsOf(
    objects<Between & { itemid: number }>(
      "SELECT itemid, from_ms, before_ms FROM stays JOIN items ON items.key = stays.item WHERE stays.home = $1 AND NOT provisional",
      home,
    ),
  );
  const holders = yield* recordsNaming<HeldRecord>(
    "subject_inventory",
    "itemid",
    stays.map(({ itemid }) => itemid),
  );
  for (const held of holders.filter(({ subjectid }) => subjectid !== subject)) {
    const between = heldOf(held, end);
    const there = stays.filter(({ itemid }) => itemid === held.itemid);
    if (between !== undefined) theirs.push(...parts([between], there));
  }
  return joined(theirs);
}

/** The spans of an item that a subject held: in the homes where it was then, but for what another one held it too. */
export function* heldSpans(
  homes: Homes,
  subject: number,
  held: HeldItem,
  { lived, end }: { lived: readonly (Between & { home: number })[]; end: number },
): Work<ErasureSpans> {
  const item = yield* firstOf(
    objects<{ key: number; typename: Kind; address: string | null; record: string }>(
      "SELECT key, typename, address, record FROM items WHERE itemid = $1",
      held.itemid,
    ),
  );
  if (item === undefined) return { spans: [], kept: [] };
  const { itemname } = JSON.parse(item.record) as Item;
  const address = item.address?.startsWith("#") ? null : item.address;
  const device = { kind: item.typename, address, itemid: held.itemid };
  const others = (yield* recordsNaming<HeldRecord>("subject_inventory", "itemid", [held.itemid]))
    .filter(({ subjectid }) => subjectid !== subject)
    .flatMap((one) => heldOf(one, end) ?? []);
  const stays = yield* rowsOf(
    objects<Between & { home: number }>(
      "SELECT home, from_ms, before_ms FROM stays WHERE item = $1",
      item.key,
    ),
  );
  const there = stays.length > 0 ? stays : homes.one ? [{ home: 0, ...always }] : lived;
  const spans: NewSpan[] = [];
  const kept: Kept[] = [];
  const isIt = (stream: HomeStream) => stream.item === item.key;
  for (const stay of there) {
    const mine = parts([held], [stay]);
    const why = "another participant held it too at that time";
    for (const between of without(mine, others))
      spans.push({ home: stay.home, subject, ...device, ...between });
    for (const between of parts(mine, others))
      kept.push({ home: stay.home, itemname, ...between, why, streams: isIt });
  }
  const heard = yield* rowsOf(arrays<[number]>("SELECT home FROM streams WHERE item = $1", item.key));
  for (const [home] of heard)
    for (const between of without(
      [held],
      there.filter((stay) => stay.home === home),
    ))
      kept.push({
        home,
        itemname,
        ...between,
        why: "this home heard it while it was elsewhere by the inventory",
        streams: isIt,
      });
  return { spans, kept };
}

/** Counts of what goes besides readings. */
function* besides(
  homes: Homes,
  target: ErasureTarget,
  spans: readonly NewSpan[],
): Work<Pick<ErasurePlan, "records" | "alerts" | "files" | "tokens">> {
  const records: Partial<Record<RecordType, number>> = {};
  for (const { condition, parameter } of conditionsOf(target, homes, spans)) {
    const counts = yield* rowsOf(
      arrays<[RecordType, number]>(
        `SELECT type, count(*) FROM records WHERE ${condition} GROUP BY type ORDER BY type`,
        parameter,
      ),
    );
    for (const [type, count] of counts) records[type] = (records[type] ?? 0) + Number(count);
  }
  const [column, number] =
    "home" in target ? (["home", target.home] as const) : (["subjectid", target.subject] as const);
  const home = "home" in target ? target.home : -1;
  const [alerts, files, tokens] = yield* rowsOfAll(
    arrays<[number]>(`SELECT count(*) FROM home_alerts WHERE ${column} = $1`, number),
    arrays<[number]>("SELECT count(*) FROM backups WHERE home = $1", home),
    objects<{ id: string; name: string }>("SELECT id, name FROM tokens WHERE home = $1 ORDER BY id", home),
  );
  return { records, alerts: Number(alerts[0]?.[0]), files: Number(files[0]?.[0]), tokens };
}

/** Which records go; a gateway's are all of its home. `spans`: times of homes that go with a participant. No record is in two of them. */
export function conditionsOf(
  target: ErasureTarget,
  homes: Homes,
  spans: readonly Pick<ErasedSpan, "home" | "kind" | "from_ms" | "before_ms">[] = [],
): RecordCondition[] {
  if ("home" in target) {
    if (homes.one) return [{ condition: "type = ANY ($1::text[])", parameter: recordTypes }];
    return [
      { condition: `type IN ('homes', ${ownedBy("homes")}) AND number = $1`, parameter: target.home },
      ...["project_enrollments", "issues", "consents"].map((type) => ({
        condition: `type = '${type}' AND ${numberIn("homeid")} = $1`,
        parameter: target.home,
      })),
    ];
  }
  const { subject } = target;
  return [
    { condition: `type IN ('subjects', ${ownedBy("subjects")}) AND number = $1`, parameter: subject },
    ...["issues", "consents", "notes"].map((type) => ({
      condition: `type = '${type}' AND ${numberIn("subjectid")} = $1`,
      parameter: subject,
    })),
    ...spans
      .filter(({ kind }) => kind === null)
      .map((span) => ({
        condition: `${notesFrom(homes, span)} AND ${numberIn("subjectid")} IS DISTINCT FROM ${subject}`,
        parameter: span.home,
      })),
  ];
}

/** The notes of a home, `$1`, that begin in a time: a condition on `records`. */
export function notesFrom(homes: Homes, { from_ms, before_ms }: Between): string {
  const start = numberIn("start");
  const ofHome = homes.one ? "$1 = 0" : "number = $1";
  return `type = 'notes' AND ${ofHome} AND ${start} * 1000 >= ${from_ms} AND ${start} * 1000 < ${before_ms}`;
}

/** Types of the records of an owner, as SQL. */
function ownedBy(owner: OwnerType): string {
  const types = recordTypes.filter((type) => definitionOf(type).owner === owner);
  return types.map((type) => `'${type}'`).join(", ");
}
