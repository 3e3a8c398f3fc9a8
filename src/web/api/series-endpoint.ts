import { type TObject, Type } from "@sinclair/typebox";
import { Provenance } from "../../domain/reading.ts";
import { isUnixTime, unixTime, unixTime_max } from "../../domain/records/record-field.ts";
import { type SeriesDefinition, type SeriesName, seriesOf } from "../../domain/series.ts";
import type {
  ArrivalPosition,
  ArrivalsRequest,
  Page,
  PageRequest,
  PlacementPosition,
} from "../../store/store.ts";
import type { VisibleStore } from "../../store/visible-store.ts";
import { HttpError } from "../server/http-errors.ts";
import { expectationOf } from "../server/parameters.ts";
import {
  after,
  before,
  type Endpoint,
  type EndpointAnswer,
  endpoint,
  itemname,
  JsonList,
  limit,
  precision,
  provenance,
  since,
  skip,
  through,
} from "./endpoint.ts";
import { requireItem } from "./record-endpoints.ts";

/** The endpoint of a series: `/items/{kind}/{itemname}/{path}`, made from its entry in the series table alone. */
export function seriesEndpoint(series: SeriesName): Endpoint {
  const definition = seriesOf(series);
  return endpoint({
    name: series,
    template: `/items/${definition.kind}/{itemname}/${definition.path}`,
    summary: `${definition.title} of an item, newest first`,
    area: "Time series",
    since: definition.since,
    path: Type.Object({ itemname }),
    query: Type.Object({ skip, limit, before, after, since, through, precision, provenance }),
    response: Type.Array(seriesRecord(definition)),
    refusals: ["item_unknown", "cursor_gone", "parameters_exclusive"],
    handle: async ({ store, path, query, now_ms, oldestFirst = false }) => {
      const walk = query.since === undefined ? undefined : pagingOf(query.since);
      const item = await requireItem(store, definition.kind, path.itemname);
      const { limit, through, precision } = query;
      if (!hasSeries(definition, item.record.subtypename)) return { body: [] };
      if (walk !== undefined) {
        const provenance = query.provenance === "yes";
        return arrivals(store, walk, { series, item: item.key, limit, precision, provenance });
      }
      const request: PageRequest = {
        series,
        item: item.key,
        ...windowOf(oldestFirst ? { after: query.before } : query, now_ms),
        oldestFirst,
        skip: query.skip,
        limit,
        precision,
        through,
      };
      return {
        read: async (keptAs) => {
          const found = await store.markedPage(request, keptAs);
          if ("kept" in found) return found;
          const { json, next } = found.page;
          return {
            mark: found.mark,
            answer: { body: new JsonList(json), next: next && nextPage(next, query, oldestFirst) },
          };
        },
      };
    },
  });
}

/** Records in order of arrival, with a link wherever there are any: its cursor is where to go on, now or later. */
async function arrivals(
  store: VisibleStore,
  { span, cursor }: Paging,
  of: Omit<ArrivalsRequest, "span" | "after">,
): Promise<EndpointAnswer> {
  const { series, item, limit, provenance } = of;
  const ofAnother = cursor !== undefined && (cursor.series !== series || cursor.item !== item);
  const page = ofAnother
    ? undefined
    : await store.arrivals({ ...of, numbered: provenance, span, after: cursor?.position });
  if (page === undefined) throw new HttpError("cursor_gone", {});
  const { records, position } = page;
  if (records.length === 0) return { body: records };
  const next = { since: cursorText({ series, item, span, position }), limit };
  return { body: records, next: provenance ? { ...next, provenance: "yes" } : next };
}

/** A walk in order of arrival: one that begins, or that goes on from a cursor. */
interface Paging {
  readonly span: ArrivalsRequest["span"];
  readonly cursor?: ArrivalCursor;
}

/** The walk that `since` means. @throws HttpError for what looks like a cursor and is none */
function pagingOf(text: string): Paging {
  const [, from_s = 0, before_s] = /^@([0-9]+)(?:\/([0-9]+))?$/.exec(text) ?? [];
  const before_ms = before_s === undefined ? Number.MAX_SAFE_INTEGER : Number(before_s) * 1000;
  if (text === "" || text.startsWith("@")) return { span: { from_ms: Number(from_s) * 1000, before_ms } };
  const cursor = readCursor(text);
  if (cursor !== undefined) return { span: cursor.span, cursor };
  throw new HttpError("parameter_malformed", { parameter: "since", expected: expectationOf(since) });
}

/** A record of a series as it is served: `stamp`, then the fields in the order of the table, then its provenance. */
export function seriesRecord(definition: SeriesDefinition): TObject {
  // In milliseconds too, where they are asked for.
  const stamp = unixTime({
    description: definition.stampMeaning,
    minimum: 0,
    maximum: unixTime_max * 1000 + 999,
  });
  const fields = Object.entries(definition.fields).map(([name, { schema, unit, meaning }]) => [
    name,
    { ...schema, description: unit === "" || isUnixTime(schema) ? meaning : `${meaning} (${unit})` },
  ]);
  return Type.Object({ stamp, ...Object.fromEntries(fields), ...told }, { title: definition.record });
}

const identity = {
  epoch: Type.String({ description: "the epoch that the reading was numbered in" }),
  number: Type.Integer({ description: "its number there" }),
};

/** The fields that `provenance` adds. */
const told = Object.fromEntries(
  Object.entries({ ...Provenance.properties, ...identity }).map(([name, schema]) => [
    name,
    Type.Optional({ ...schema, description: `where \`provenance\` asks for it: ${schema.description}` }),
  ]),
);

/** The span of a page: the seconds above `after` and below `before`. */
export function windowOf(
  { before, after }: { before?: number | undefined; after?: number | undefined },
  now_ms: number,
): { from_ms: number | undefined; before_ms: number } {
  return {
    from_ms: after === undefined ? undefined : (after + 1) * 1000,
    before_ms: before === undefined ? nextSecond(now_ms) : before * 1000,
  };
}

/**
 * The default of `before`: the whole second after now. `before` is exclusive and in seconds, so this is the
 * least value that leaves nothing out that has happened; a reading stamped later than that by a device whose
 * clock is ahead is served once its time has come.
 */
export function nextSecond(now_ms: number): number {
  return (Math.floor(now_ms / 1000) + 1) * 1000;
}

/** An item whose subtype is not known may have any series of its kind. */
export function hasSeries(definition: SeriesDefinition, subtypename: string): boolean {
  return (
    definition.subtypes === undefined || subtypename === "null" || definition.subtypes.includes(subtypename)
  );
}

/** Where the following page starts: in the last record's second, which lies below one bound and above the other. */
function nextPage(
  { before_s, skip, through }: NonNullable<Page["next"]>,
  { after, limit }: { after?: number | undefined; limit: number },
  oldestFirst: boolean,
): EndpointAnswer["next"] {
  const bounds = oldestFirst ? { before: before_s - 2 } : { before: before_s, after };
  return { ...bounds, skip, limit, through };
}

/** A place in a walk in order of arrival, with all that the walk is of. */
export interface ArrivalCursor {
  readonly series: SeriesName;
  readonly item: number;
  readonly span: ArrivalsRequest["span"];
  readonly position: ArrivalPosition;
}

/** A cursor as clients carry it: nothing in it is theirs to read. */
export function cursorText({ series, item, span, position: { epoch, stays } }: ArrivalCursor): string {
  const numbers = stays.flatMap((stay) => placementFields.map((field) => stay[field]));
  const fields = [epoch, series, item, span.from_ms, span.before_ms, ...numbers];
  return Buffer.from(fields.join(" ")).toString("base64url");
}

/** The cursor that a text stands for; undefined for a text that `cursorText` does not make. */
export function readCursor(text: string): ArrivalCursor | undefined {
  const decoded = Buffer.from(text, "base64url").toString("latin1");
  if (!cursorForm.test(decoded)) return undefined;
  const [epoch = "", series = "", ...rest] = decoded.split(" ");
  const [item = 0, from_ms = 0, before_ms = 0, ...numbers] = rest.map(Number);
  const stays: PlacementPosition[] = [];
  while (numbers.length > 0) {
    const [stream = 0, stay_from_ms = 0, stay_before_ms = 0, revision = 0, seq = 0, stamp_ms = 0] =
      numbers.splice(0, placementFields.length);
    const stay = { from_ms: stay_from_ms, before_ms: stay_before_ms };
    stays.push({ stream, ...stay, revision, seq, stamp_ms });
  }
  return { series: series as SeriesName, item, span: { from_ms, before_ms }, position: { epoch, stays } };
}

const placementFields = ["stream", "from_ms", "before_ms", "revision", "seq", "stamp_ms"] as const;
const cursorForm = new RegExp(
  `^[0-9a-f]{32} [a-z_]{1,40}( [0-9]{1,16}){3}(( [0-9]{1,16}){${placementFields.length}}){0,64}$`,
);
