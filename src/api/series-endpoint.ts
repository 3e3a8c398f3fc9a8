import { type TObject, Type } from "@sinclair/typebox";
import { type SeriesDefinition, type SeriesName, seriesOf, type Value } from "../series.ts";
import type { Page, PageRow } from "../store/store.ts";
import { type Endpoint, endpoint, readers } from "./endpoint.ts";
import { ApiError } from "./errors.ts";
import { before, limit, precision, skip, through } from "./parameters.ts";

/** The endpoint of a series: `/items/{kind}/{itemname}/{path}`, made from its entry in the series table alone. */
export function seriesEndpoint(series: SeriesName): Endpoint {
  const definition = seriesOf(series);
  const fields = Object.keys(definition.fields);
  return endpoint({
    template: `/items/${definition.kind}/{itemname}/${definition.path}`,
    summary: `${definition.title} of an item, newest first`,
    since: definition.since,
    scopes: readers,
    path: Type.Object({
      itemname: Type.String({ description: "name of an item, or its itemid where no item has that name" }),
    }),
    query: Type.Object({ skip, limit, before, through, precision }),
    response: Type.Array(seriesRecord(definition)),
    handle: async ({ store, path, query, now_ms }) => {
      const item = await store.item(definition.kind, path.itemname);
      if (item === undefined)
        throw new ApiError("item_unknown", { typename: definition.kind, itemname: path.itemname });
      if (!hasSeries(definition, item.record.subtypename)) return { body: [] };
      const page = await store.page({
        series,
        item: item.key,
        before_ms: query.before === undefined ? nextSecond(now_ms) : query.before * 1000,
        skip: query.skip,
        limit: query.limit,
        ...(query.through === undefined ? {} : { through: query.through }),
      });
      return {
        body: recordsOf(fields, page.rows, query.precision),
        ...(page.next === undefined ? {} : { next: nextPage(page.next, query.limit) }),
      };
    },
  });
}

/** A record of a series as it is served: `stamp`, then the fields in the order of the table. */
export function seriesRecord(definition: SeriesDefinition): TObject {
  const stamp = Type.Integer({ description: `${definition.stampMeaning} (unix timestamp)` });
  const fields = Object.entries(definition.fields).map(([name, field]) => [
    name,
    { ...field.schema, description: field.unit === "" ? field.meaning : `${field.meaning} (${field.unit})` },
  ]);
  return Type.Object({ stamp, ...Object.fromEntries(fields) });
}

/**
 * Rows as records. Plain objects of one shape and one JSON.stringify over the page are what was fastest when
 * measured: putting the text together piece by piece took 1.5 times as long for a series of one field, and 2.5
 * to 4 times as long for the wide ones.
 */
export function recordsOf(
  fields: readonly string[],
  rows: readonly PageRow[],
  unit: "s" | "ms",
): Record<string, Value>[] {
  const records: Record<string, Value>[] = [];
  for (const row of rows) {
    const record: Record<string, Value> = { stamp: unit === "ms" ? row[0] : Math.floor(row[0] / 1000) };
    for (let index = 0; index < fields.length; index += 1)
      record[fields[index] as string] = row[index + 1] ?? null;
    records.push(record);
  }
  return records;
}

/**
 * The default of `before`: the whole second after now. `before` is exclusive and in seconds, so this is the
 * least value that leaves nothing out that has happened; a reading stamped later than that by a device whose
 * clock is ahead is served once its time has come.
 */
function nextSecond(now_ms: number): number {
  return (Math.floor(now_ms / 1000) + 1) * 1000;
}

/** An item whose subtype is not known may have any series of its kind. */
function hasSeries(definition: SeriesDefinition, subtypename: string): boolean {
  return (
    definition.subtypes === undefined || subtypename === "null" || definition.subtypes.includes(subtypename)
  );
}

function nextPage(next: NonNullable<Page["next"]>, limit: number): Record<string, number> {
  return { before: next.before_s, skip: next.skip, limit, through: next.through };
}
