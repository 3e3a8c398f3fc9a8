import { version } from "../../base/version.ts";
import type { Kind } from "../../domain/kinds.ts";
import type { Item } from "../../domain/records/item.ts";
import { definitionOf, type OwnerType, recordTypes } from "../../domain/records/record-table.ts";
import type { Visible } from "../../domain/records/visible-records.ts";
import type { SeriesName } from "../../domain/series.ts";
import { arrays, objects, reach, rowsOf, rowsOfAll, type Statement, type Work } from "../database.ts";
import { counted, measuredMarks } from "../derived/derived-marks.ts";
import { pausedSpanOf } from "../pause.ts";
import type { ItemMarks, ItemWindow } from "../store.ts";
import type { Homes } from "./homes.ts";
import { type ItemPlacement, inHomes, placementsOf } from "./item-overviews.ts";
import { namesOfHomes } from "./naming.ts";
import { pausesIn } from "./pausing.ts";
import type { OwnedType, OwnerMarks } from "./record-store.ts";
import { everything, itemRowsOfKind, type Only, onlyVisible } from "./records.ts";

/** See `Store.itemMarks`. To be read in one snapshot. */
export function* itemMarks(homes: Homes, epoch: string, kind: Kind, window: ItemWindow): Work<ItemMarks[]> {
  const rows = yield* itemRowsOfKind(kind, window);
  const seen = window.homes;
  yield* reach(seen ?? []);
  const stays = inHomes(yield* rowsOf(placementsOf(rows.map(({ key }) => key))), seen);
  const counts = yield* countsOf(homes, stays);
  const markOf = (...fields: readonly unknown[]) =>
    Bun.hash(JSON.stringify([epoch, version, ...fields])).toString(36);
  const staysOf = Map.groupBy(stays, ({ item }) => item);
  return rows.map(({ key, record }) => {
    const item = JSON.parse(record) as Item;
    const { modelname, vendorname, subtypename } = item;
    const own = staysOf.get(key) ?? [];
    const series = [...new Set(own.flatMap(({ stream }) => [...(counts.series.get(stream)?.keys() ?? [])]))];
    return {
      record: item,
      series: series.sort().map((name) => {
        const of = ({ stream }: ItemPlacement) => counts.series.get(stream)?.get(name);
        const runs = own.map((stay) => [placed(stay), of(stay)?.run]);
        const kept = new Map(own.map((stay) => [stay.stream, of(stay)?.kept ?? 0]));
        const readings = [...kept.values()].reduce((sum, count) => sum + count, 0);
        return { series: name, mark: markOf(key, name, runs), readings };
      }),
      coverage: markOf(
        ...[key, "coverage", subtypename],
        own.map((stay) => [placed(stay), heard(stay), counts.interruptions(stay)]),
      ),
      device: markOf(
        ...[key, "device", modelname, vendorname, subtypename],
        own.map(({ heard_ms: _, ...stay }) => [
          placed(stay),
          ...[stay.listener, stay.battery_percent, stay.battery_mv, stay.facts],
        ]),
      ),
    };
  });
}

const placed = ({ stream, home, from_ms, before_ms }: Omit<ItemPlacement, "heard_ms">) => [
  ...[stream, home, from_ms, before_ms],
];
const heard = ({ first_ms, heard_ms, listener, last_ms }: ItemPlacement) => [
  ...[first_ms, heard_ms, listener, last_ms],
];

/** Counts of the streams of some stays, which change with all that is kept, changed or taken away. */
function* countsOf(homes: Homes, stays: readonly ItemPlacement[]) {
  const streams = stays.map(({ stream }) => stream);
  const of = [...new Set(stays.map(({ home }) => home))];
  const [totals, silences, gaps, outages] = yield* rowsOfAll<[Total, Counted, Counted, CountedOutages]>(
    objects(
      // What was cleared away is no change: whoever has it keeps it.
      `SELECT stream, series, revision, newest_number, total + pruned AS ever, total AS kept FROM totals
       WHERE stream = ANY ($1::bigint[]) AND home = ANY ($2::bigint[]) ORDER BY stream, series`,
      ...[streams, [...new Set(of.map(homes.of))]],
    ),
    objects(
      `SELECT stream, ${counted("start_ms", "stop_ms")} FROM silences
       WHERE stream = ANY ($1::bigint[]) AND home = ANY ($2::bigint[]) GROUP BY stream`,
      ...[streams, of],
    ),
    objects(
      `SELECT stream, ${counted("from_ms", "to_ms")}, sum(coalesce(lost, -1)) AS lost, sum(length(reason)) AS reasons FROM gaps
       WHERE stream = ANY ($1::bigint[]) AND home = ANY ($2::bigint[]) GROUP BY stream`,
      ...[streams, of],
    ),
    objects(
      `SELECT home, listener, ${counted("start_ms", "stop_ms")} FROM outages
       WHERE home = ANY ($1::bigint[]) GROUP BY home, listener`,
      of,
    ),
  );
  const [silencesOf, gapsOf] = [byStream(silences), byStream(gaps)];
  const pausesOf = Map.groupBy(yield* pausesIn(of), ({ home }) => home);
  const outagesOf = new Map(outages.map((row) => [`${row.home} ${row.listener}`, row]));
  const series = new Map<number, Map<SeriesName, { readonly run: object; readonly kept: number }>>();
  for (const { kept, ...run } of totals) {
    const own = series.get(run.stream) ?? new Map();
    series.set(run.stream, own.set(run.series, { run, kept }));
  }
  return {
    series,
    interruptions: ({ stream, home, listener }: ItemPlacement) => [
      ...[silencesOf.get(stream), gapsOf.get(stream)],
      ...[outagesOf.get(`${home} ${listener}`), outagesOf.get(`${home} gateway`)],
      pausesOf.get(home)?.map(pausedSpanOf),
    ],
  };
}

const byStream = <Row extends { readonly stream: number }>(rows: readonly Row[]) =>
  new Map(rows.map((row) => [row.stream, row]));

interface Total {
  readonly stream: number;
  readonly series: SeriesName;
  readonly kept: number;
}
type Counted = { readonly stream: number };
type CountedOutages = { readonly home: number; readonly listener: string };

/** See `RecordStore.ownerMarks`. To be read in one snapshot. */
export function* ownerMarks(
  of: MarkedPart,
  owners: OwnerType,
  { skip, limit }: { readonly skip: number; readonly limit: number },
): Work<OwnerMarks[]> {
  const only = onlyVisible(of.homes, owners, of.seen, 4);
  const lived = owners === "homes" ? livedIn(of.seen, 4 + only.parameters.length) : everything;
  const rows = yield* rowsOf(
    arrays<[number]>(
      `SELECT number FROM records WHERE type = $1${only.text}${lived.text} ORDER BY 1 LIMIT $2 OFFSET $3`,
      ...[owners, limit, skip],
      ...only.parameters,
      ...lived.parameters,
    ),
  );
  const numbers = rows.flat();
  const found = new Map(numbers.map((number) => [number, new Map<OwnedType, string>()]));
  for (const type of ownedTypes.filter((type) => definitionOf(type).owner === owners)) {
    const begun = Bun.hash(JSON.stringify([of.epoch, version, type, of.seen?.homes]));
    const hashes = new Map(numbers.map((number) => [number, Bun.hash(`${number}`, begun)]));
    for (const [number, text] of yield* textsOf(of, type, numbers))
      hashes.set(number, Bun.hash(text, hashes.get(number) ?? begun));
    for (const [number, hash] of hashes) found.get(number)?.set(type, hash.toString(36));
  }
  if (owners !== "homes") return [...found].map(([number, marks]) => ({ number, marks }));
  const names = yield* namesOfHomes(of.homes, numbers, "all");
  const measured = yield* measuredMarks(of.homes, of.epoch, numbers, of.seen?.homes);
  const records = yield* rowsOf(
    arrays<[number, string]>(
      "SELECT number, record FROM records WHERE type = $1 AND number = ANY ($2::bigint[])",
      ...[owners, numbers],
    ),
  );
  const zones = new Map(records.map(([number, record]) => [number, JSON.parse(record).timezone]));
  return [...found].map(([number, marks]) => ({
    ...{ number, marks, timezone: zones.get(number), measured: measured.get(number) },
    names: names.get(of.homes.one ? 0 : number) ?? [],
  }));
}

/** Adds the homes that items are in now: central knows them before the programme has a record of them. */
function livedIn(seen: Visible | undefined, first: number): Only {
  const text = " UNION SELECT currenthomeid FROM items WHERE currenthomeid IS NOT NULL";
  if (seen === undefined) return { text, parameters: [] };
  return { text: `${text} AND currenthomeid = ANY ($${first}::bigint[])`, parameters: [seen.homes] };
}

/** A store, and the part of it that is seen; absent: all. */
interface MarkedPart {
  readonly homes: Homes;
  readonly epoch: string;
  readonly seen?: Visible | undefined;
}

type TextOfOwner = readonly [owner: number, text: string];

/** Everything that the lists of a type of some owners are made of, in an order that stays. */
function* textsOf(
  { homes, seen }: MarkedPart,
  type: OwnedType,
  numbers: readonly number[],
): Work<TextOfOwner[]> {
  const only = onlyVisible(homes, type, seen, 3);
  const texts = yield* rowsOf(
    arrays<TextOfOwner>(
      `SELECT number, record FROM records WHERE type = $1 AND number = ANY ($2::bigint[])${only.text} ORDER BY number, id`,
      ...[type, numbers],
      ...only.parameters,
    ),
  );
  const { embeds } = definitionOf(type);
  const named = embeds === undefined ? [] : texts.map(([, text]) => Number(JSON.parse(text)[embeds]));
  const more: Statement<TextOfOwner>[] = [];
  if (type === "alerts")
    more.push(
      arrays(
        `SELECT subjectid, record FROM home_alerts WHERE subjectid = ANY ($1::bigint[])${seen === undefined ? "" : " AND home = ANY ($2::bigint[])"} ORDER BY subjectid, id, home`,
        ...[numbers, ...(seen === undefined ? [] : [seen.homes])],
      ),
    );
  if (embeds !== undefined)
    more.push(
      // Items that are there now stand in the list of a home without a record of it too.
      arrays(
        "SELECT currenthomeid, record FROM items WHERE currenthomeid = ANY ($1::bigint[]) ORDER BY itemid",
        numbers,
      ),
      arrays("SELECT itemid, record FROM items WHERE itemid = ANY ($1::bigint[])", named),
    );
  const [first = [], second = []] = yield* rowsOfAll<TextOfOwner[]>(...more);
  const items = new Map(second);
  return [
    ...texts,
    ...first,
    ...named.map((itemid, place): TextOfOwner => [texts[place]?.[0] ?? 0, items.get(itemid) ?? ""]),
  ];
}

const ownedTypes = recordTypes.filter((type): type is OwnedType => definitionOf(type).owner !== undefined);
