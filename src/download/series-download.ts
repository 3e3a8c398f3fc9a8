import { type TSchema, Type } from "@sinclair/typebox";
import { OperatorError } from "../errors.ts";
import { Provenance } from "../provenance.ts";
import type { ReadingNumber } from "../reading.ts";
import { type SeriesName, seriesNames, seriesOf, type Value } from "../series.ts";
import type { InterfaceReader } from "./answers.ts";
import type { HeldReadings, HeldRow, SeriesOfItem } from "./held-readings.ts";
import type { SecondsSpan } from "./span.ts";

/**
 * Receives what has arrived of a series of an item since the last page that is held, page by page: afterwards every reading
 * of the span that was on the server's disk when this was called is held. Where the server does not know the place any more,
 * the series is received from the beginning, and what is held already stays.
 *
 * @returns false where the server has no such series or item
 */
export async function bringUpToDate(options: {
  answers: InterfaceReader;
  held: HeldReadings;
  of: SeriesOfItem;
  itemname: string;
  span: SecondsSpan;
  /** Told of every page, with the readings it added. */
  onPage: (count: number) => void;
}): Promise<boolean> {
  const { answers, held, of, span, onPage } = options;
  const path = pathOf(of.series, options.itemname);
  const first = `?since=${beginning(span)}&limit=${page_max}&precision=ms&provenance=yes`;
  // Ends: each page lies behind the one before, and a series is begun again only where it had begun.
  for (;;) {
    const { next } = held.progress(of);
    const answer = await answers.get<readonly ServedRecord[]>(path, next ?? first, pageSchemas[of.series]);
    if (answer === undefined) return false;
    if (answer === "gone") {
      if (next === undefined) noPlace(path);
      held.beginAgain(of);
      continue;
    }
    const rows = answer.body.map((record) => rowOf(of.series, record));
    const numbers = answer.body.map(numberIn);
    if (rows.length > 0) held.add(of, rows, numbers, answer.next ?? noPlace(path));
    onPage(rows.length);
    if (rows.length < page_max) return true;
  }
}

/** The beginning of a span, as `since` says it. */
function beginning({ since_s, until_s }: SecondsSpan): string {
  if (until_s !== undefined) return `@${since_s ?? 0}/${until_s}`;
  return since_s === undefined ? "" : `@${since_s}`;
}

function noPlace(path: string): never {
  throw new OperatorError(
    `the answer to ${path} does not say where to begin or to go on`,
    "update the server: `since` came with version 0.9",
  );
}

const numberFields = { epoch: Type.Optional(Type.String()), number: Type.Optional(Type.Integer()) };

/** The identity of a reading; undefined where the server does not know it. */
function numberIn({ epoch, number }: ServedRecord): ReadingNumber | undefined {
  return typeof epoch === "string" && typeof number === "number" ? { epoch, number } : undefined;
}

/** The records of a page as they are served, a schema for each series. */
const pageSchemas = Object.fromEntries(
  seriesNames.map((series) => {
    const fields = Object.entries(seriesOf(series).fields).map(([name, { schema }]) => [name, schema]);
    const record = {
      stamp: Type.Integer(),
      ...Object.fromEntries(fields),
      ...Provenance.properties,
      ...numberFields,
    };
    return [series, Type.Array(Type.Object(record))];
  }),
) as unknown as Readonly<Record<SeriesName, TSchema>>;

function pathOf(series: SeriesName, itemname: string): string {
  const { kind, path } = seriesOf(series);
  return `/items/${kind}/${encodeURIComponent(itemname)}/${path}`;
}

function rowOf(series: SeriesName, record: ServedRecord): HeldRow {
  const names = [...Object.keys(seriesOf(series).fields), ...Object.keys(Provenance.properties)];
  return [record.stamp, ...names.map((name) => record[name] ?? null)];
}

type ServedRecord = Readonly<Record<string, Value>> & { readonly stamp: number };

const page_max = 1000;
