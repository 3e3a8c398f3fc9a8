import type { SeriesName } from "../series.ts";
import type { ArrivalPosition, ArrivalsRequest, PlacementPosition } from "../store/store.ts";

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
