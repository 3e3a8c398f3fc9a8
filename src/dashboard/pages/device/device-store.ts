import { HttpError } from "../../../http/errors.ts";
import { isKind, type Kind } from "../../../kinds.ts";
import type { TimeSpan } from "../../../meaning/span.ts";
import type { SeriesName } from "../../../series.ts";
import type { VisibleStore } from "../../../store/seen-store.ts";
import type { ReadingRow, StoredItem } from "../../../store/store.ts";

/** @throws HttpError where there is no such device, or the token may not see it */
export async function requireDevice(
  store: VisibleStore,
  { kind = "", name: itemname = "" }: Readonly<Record<string, string>>,
): Promise<{ kind: Kind; item: StoredItem }> {
  if (!isKind(kind)) throw new HttpError("typename_unknown", { typename: kind });
  const item = await store.item(kind, itemname);
  if (item === undefined) throw new HttpError("item_unknown", { typename: kind, itemname });
  return { kind, item };
}

/** When the first reading of a series is of, unix milliseconds; undefined where there is none. */
export async function firstOf(
  store: VisibleStore,
  { series, item }: { series: SeriesName; item: number },
): Promise<number | undefined> {
  const { rows } = await store.oldestFirst({ series, item, from_ms: 0, before_ms: end_ms, limit: 1 });
  return rows[0]?.[0];
}

/** Readings of a span from old to new, some thousands at a time; with their provenance where that is asked for. */
export async function* readingsIn(
  store: VisibleStore,
  { series, item, span, provenance }: { series: SeriesName; item: number; span: TimeSpan; provenance?: true },
): AsyncGenerator<readonly ReadingRow[]> {
  const request = {
    series,
    item,
    from_ms: Math.max(0, span.from_ms),
    before_ms: span.to_ms,
    limit: rows_max,
    provenance,
  };
  let read = await store.oldestFirst(request);
  for (;;) {
    yield read.rows;
    if (read.next === undefined) return;
    read = await store.oldestFirst({ ...request, after: read.next });
  }
}

const rows_max = 2_000;
/** After every reading: the year 2100. */
const end_ms = Date.UTC(2100, 0);
