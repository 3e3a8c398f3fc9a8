import type { Kind } from "../../../kinds.ts";
import type { RecentlyUsed } from "../../../recently-used.ts";
import type { SeriesName } from "../../../series.ts";
import type { SeenStore } from "../../../store/seen-store.ts";
import type { PageStart, SeriesRecord } from "../../../store/store.ts";
import { columns, type TimeWindow } from "./window.ts";

/** The readings of an item in a window, thinned to what its strip shows. */
export interface Thinned {
  /** Columns in which something happened, ascending. */
  readonly marks: readonly number[];
  /** Sum of the steps of a watch. */
  readonly steps: number;
  /** When each sighting of a curtain sensor began, unix milliseconds, oldest first; of others nothing. */
  readonly sightings: readonly number[];
}

/** An item, by its key, as pages look at it. */
export interface ShownItem {
  readonly key: number;
  readonly kind: Kind;
  readonly homes?: readonly number[];
  /** It is one of a line that measures walking speed. */
  readonly inLine: boolean;
}

/** The series that the strip of a kind shows; a gateway has none. */
export const seriesOfStrip: Readonly<Partial<Record<Kind, SeriesName>>> = {
  wirelesssensors: "wirelesssensor_events",
  pillboxes: "pillbox_events",
  scales: "scale_weights",
  watches: "watch_epochs",
};

/** Thinned readings that are remembered, by what they were made of. */
export type StripMemory = RecentlyUsed<Thinned>;

/** Readings of an item thinned to the columns of a window; those of before are taken where nothing has come or changed since. */
export async function thinnedOf(
  store: SeenStore,
  { item, window, memory }: { item: ShownItem; window: TimeWindow; memory: StripMemory },
): Promise<Thinned> {
  const series = seriesOfStrip[item.kind];
  if (series === undefined) return nothing;
  const request = { series, item: item.key, ...(item.homes && { homes: item.homes }) };
  const asked = { ...request, before_ms: window.to_ms, skip: 0, limit: page_max, precision: "ms" } as const;
  const name = `${await store.pageMark(asked)} ${window.from_ms} ${window.to_ms} ${item.inLine}`;
  const known = memory.get(name);
  if (known !== undefined) return known;
  const records = await recordsIn(store, asked, window);
  const thinned = thin(records, { item, window });
  memory.set(name, thinned, thinned.marks.length + thinned.sightings.length + name.length);
  return thinned;
}

/** Records of the window, newest first. */
async function recordsIn(
  store: SeenStore,
  asked: Parameters<SeenStore["page"]>[0],
  { from_ms }: TimeWindow,
): Promise<SeriesRecord[]> {
  const all: SeriesRecord[] = [];
  let start: PageStart | undefined;
  for (let pages = 0; pages < pages_max; pages++) {
    const next = start && { before_ms: start.before_s * 1_000, skip: start.skip, through: start.through };
    const page = await store.page({ ...asked, ...next });
    for (const record of page.records) {
      if (record.stamp < from_ms) return all;
      all.push(record);
    }
    start = page.next;
    if (start === undefined) return all;
  }
  return all;
}

function thin(
  records: readonly SeriesRecord[],
  { item, window }: { item: ShownItem; window: TimeWindow },
): Thinned {
  const { from_ms, to_ms } = window;
  const column_ms = (to_ms - from_ms) / columns;
  const marks = new Set<number>();
  const sightings: number[] = [];
  let steps = 0;
  let seeing = false;
  for (const record of records.toReversed()) {
    if (happened(item.kind, record)) marks.add(Math.floor((record.stamp - from_ms) / column_ms));
    if (item.kind === "watches") steps += Number(record["steps"]);
    if (item.inLine) {
      const sees = (Number(record["event"]) & presence) !== 0;
      if (sees && !seeing) sightings.push(record.stamp);
      seeing = sees;
    }
  }
  return { marks: [...marks], steps, sightings };
}

/** Whether a record says that something happened: a sensor saw somebody or a door opened, a box moved, somebody weighed himself or walked. */
export function happened(kind: Kind, record: SeriesRecord): boolean {
  if (kind === "wirelesssensors") return (Number(record["event"]) & (presence | open)) !== 0;
  return kind !== "watches" || Number(record["steps"]) > 0;
}

/** Bits of a zone status. */
export const open = 1;
export const presence = 2;

const nothing: Thinned = { marks: [], steps: 0, sightings: [] };
const page_max = 1_000;
/** Of one item: of more readings the newest are shown. */
const pages_max = 50;
