import type { SeriesName } from "../series.ts";
import type { ArrivalPosition, ArrivalsRequest } from "../store/store.ts";

/** A place in a walk in order of arrival, with all that the walk is of. */
export interface Cursor {
  readonly series: SeriesName;
  readonly item: number;
  readonly span: ArrivalsRequest["span"];
  readonly position: ArrivalPosition;
}

/** A cursor as clients carry it: nothing in it is theirs to read. */
export function cursorText({ series, item, span, position }: Cursor): string {
  const { epoch, revision, seq, stamp_ms } = position;
  const fields = [epoch, series, item, revision, seq, stamp_ms, span.from_ms, span.before_ms];
  return Buffer.from(fields.join(" ")).toString("base64url");
}

/** The cursor that a text stands for; undefined for a text that `cursorText` does not make. */
export function readCursor(text: string): Cursor | undefined {
  const decoded = Buffer.from(text, "base64url").toString("latin1");
  if (!/^[0-9a-f]{32} [a-z_]{1,40}( [0-9]{1,16}){6}$/.test(decoded)) return undefined;
  const [epoch = "", series = "", ...rest] = decoded.split(" ");
  const [item = 0, revision = 0, seq = 0, stamp_ms = 0, from_ms = 0, before_ms = 0] = rest.map(Number);
  const position = { epoch, revision, seq, stamp_ms };
  return { series: series as SeriesName, item, span: { from_ms, before_ms }, position };
}
