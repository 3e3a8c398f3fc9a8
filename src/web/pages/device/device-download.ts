import { type SeriesName, seriesNames, seriesOf } from "../../../domain/series.ts";
import { columnsOfSeries, type Encoder, type RowItem, readingRows } from "../../../export/columns.ts";
import { csv } from "../../../export/text-formats.ts";
import type { ReadingRow, Store } from "../../../store/store.ts";
import { HttpError } from "../../server/http-errors.ts";
import { streamed } from "../../server/responses.ts";
import type { Asked } from "../site.ts";
import { readingsIn, readSpan, requireDevice, usualSpans } from "./device-request.ts";
import { recordOf } from "./reading-words.ts";

/**
 * The readings of a series of a device in a span of days, oldest first, as a file: `events.csv` with times as text in GMT, or `events.json`, a list of the records
 * of the interface with their stamps in milliseconds. It is read while it is sent, and ends as a broken one where the reader may see the device no more.
 *
 * @param ask answers what the reader sees by now
 * @throws HttpError where there is no such device or file, or the token may not see it
 */
export async function downloadOf(asked: Asked, ask: () => Promise<Pick<Asked, "store">>): Promise<Response> {
  const { site, now_ms, params, query } = asked;
  const { kind, item } = await requireDevice(asked.store, params);
  const [, path, ending = ""] = /^([a-z]+)\.(csv|json)$/.exec(params["file"] ?? "") ?? [];
  const series = seriesNames.find((name) => seriesOf(name).kind === kind && seriesOf(name).path === path);
  if (series === undefined) throw new HttpError("path_unknown", {});
  const { itemname, currenthomeid } = item.record;
  const zone = await site.zoneOf(currenthomeid ?? undefined);
  const span = readSpan(query, { zone, now_ms, usual: usualSpans[kind] });
  const encoder = ending === "csv" ? csvOf(series, item.record) : jsonOf(series);
  const name = `${itemname}-${path}-${span.from}-${span.until}.${ending}`;
  const store: Pick<Store, "oldestFirst"> = {
    oldestFirst: async (request) => {
      const now = (await ask()).store;
      await requireDevice(now, params);
      return now.oldestFirst(request);
    },
  };
  const plainName = name.replaceAll(/[^A-Za-z0-9._-]/g, "_");
  return streamed(streamOf(encoder, readingsIn(store, { series, item: item.key, span, provenance: true })), {
    headers: {
      "Content-Type": `${ending === "csv" ? "text/csv" : "application/json"}; charset=utf-8`,
      "Content-Disposition": `attachment; filename="${plainName}"; filename*=UTF-8''${encodeURIComponent(name).replaceAll("'", "%27")}`,
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
    },
  });
}

function streamOf(
  { head, encode, tail }: RowsEncoder,
  readings: AsyncGenerator<readonly ReadingRow[]>,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start: (to) => to.enqueue(head()),
    pull: async (to) => {
      const { value, done } = await readings.next();
      if (done !== true) return to.enqueue(encode(value));
      to.enqueue(tail());
      to.close();
    },
    cancel: async () => void (await readings.return(undefined)),
  });
}

interface RowsEncoder extends Pick<Encoder, "head" | "tail"> {
  encode(rows: readonly ReadingRow[]): Uint8Array;
}

function csvOf(series: SeriesName, item: RowItem): RowsEncoder {
  const { head, encode, tail } = csv(columnsOfSeries(series), "iso");
  const rowOf = readingRows(series);
  return { head, tail, encode: (rows) => encode(rows.map((row) => rowOf(item, row))) };
}

function jsonOf(series: SeriesName): RowsEncoder {
  const utf8 = new TextEncoder();
  let before = "[\n";
  return {
    head: () => new Uint8Array(),
    encode: (rows) => {
      const text = rows.map((row) => JSON.stringify(recordOf(series, row))).join(",\n");
      if (text === "") return new Uint8Array();
      const piece = before + text;
      before = ",\n";
      return utf8.encode(piece);
    },
    tail: () => utf8.encode(before === "[\n" ? "[]\n" : "\n]\n"),
  };
}
