import { type TObject, Type } from "@sinclair/typebox";
import { HttpError } from "../http/errors.ts";
import { expectationOf } from "../http/parameters.ts";
import { Provenance } from "../provenance.ts";
import { type SeriesDefinition, type SeriesName, seriesOf } from "../series.ts";
import type { VisibleStore } from "../store/seen-store.ts";
import type { ArrivalsRequest, Page, PageRequest } from "../store/store.ts";
import { isUnixTime, unixTime, unixTime_max } from "../unix-time.ts";
import { type ArrivalCursor, cursorText, readCursor } from "./cursor.ts";
import { type Endpoint, type EndpointAnswer, endpoint } from "./endpoint.ts";
import { after, before, itemname, limit, precision, provenance, since, skip, through } from "./parameters.ts";
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
          const { records, next } = found.page;
          return {
            mark: found.mark,
            answer: { body: records, next: next && nextPage(next, query, oldestFirst) },
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
function hasSeries(definition: SeriesDefinition, subtypename: string): boolean {
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
