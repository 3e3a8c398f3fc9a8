import { type TObject, Type } from "@sinclair/typebox";
import { HttpError } from "../http/errors.ts";
import { type SeriesDefinition, type SeriesName, seriesOf } from "../series.ts";
import type { Page, PageRequest } from "../store/store.ts";
import { isUnixTime, unixTime, unixTime_max } from "../unix-time.ts";
import { type Endpoint, endpoint, readers } from "./endpoint.ts";
import { before, limit, precision, skip, through } from "./parameters.ts";

/** The endpoint of a series: `/items/{kind}/{itemname}/{path}`, made from its entry in the series table alone. */
export function seriesEndpoint(series: SeriesName): Endpoint {
  const definition = seriesOf(series);
  return endpoint({
    name: series,
    template: `/items/${definition.kind}/{itemname}/${definition.path}`,
    summary: `${definition.title} of an item, newest first`,
    area: "Time series",
    since: definition.since,
    scopes: readers,
    path: Type.Object({
      itemname: Type.String({ description: "name of an item, or its itemid where no item has that name" }),
    }),
    query: Type.Object({ skip, limit, before, through, precision }),
    response: Type.Array(seriesRecord(definition)),
    refusals: ["item_unknown"],
    handle: async ({ store, path, query, now_ms, oldestFirst = false }) => {
      const item = await store.item(definition.kind, path.itemname);
      if (item === undefined)
        throw new HttpError("item_unknown", { typename: definition.kind, itemname: path.itemname });
      if (!hasSeries(definition, item.record.subtypename)) return { body: [] };
      const { limit, through } = query;
      const request: PageRequest = {
        series,
        item: item.key,
        ...windowOf(query.before, { now_ms, oldestFirst }),
        skip: query.skip,
        limit,
        precision: query.precision,
        ...(through === undefined ? {} : { through }),
      };
      // The mark before the page: a reading that comes in between makes the page newer than its mark, never older.
      return {
        mark: await store.pageMark(request),
        make: async () => {
          const { records, next } = await store.page(request);
          return {
            body: records,
            ...(next === undefined ? {} : { next: nextPage(next, { limit, oldestFirst }) }),
          };
        },
      };
    },
  });
}

/** A record of a series as it is served: `stamp`, then the fields in the order of the table. */
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
  return Type.Object({ stamp, ...Object.fromEntries(fields) }, { title: definition.record });
}

/** The span of a page: below `bound_s`; where the oldest come first, above it. */
function windowOf(
  bound_s: number | undefined,
  { now_ms, oldestFirst }: { now_ms: number; oldestFirst: boolean },
): { before_ms: number; ascending_from_ms?: number } {
  if (oldestFirst)
    return {
      before_ms: nextSecond(now_ms),
      ascending_from_ms: bound_s === undefined ? 0 : (bound_s + 1) * 1000,
    };
  return { before_ms: bound_s === undefined ? nextSecond(now_ms) : bound_s * 1000 };
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
  next: NonNullable<Page["next"]>,
  { limit, oldestFirst }: { limit: number; oldestFirst: boolean },
): Record<string, number> {
  const second = next.before_s - 1;
  const before = oldestFirst ? second - 1 : second + 1;
  return { before, skip: next.skip, limit, through: next.through };
}
