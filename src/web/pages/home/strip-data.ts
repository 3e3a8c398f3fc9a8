import type { RecentlyUsed } from "../../../base/recently-used.ts";
import { alarmBits, eventBit } from "../../../domain/event-words.ts";
import type { Kind } from "../../../domain/kinds.ts";
import type { SeriesName } from "../../../domain/series.ts";
import type { SeriesRecord } from "../../../store/store.ts";
import type { VisibleStore } from "../../../store/visible-store.ts";
import type { TimeWindow } from "./strip-window.ts";

/** The readings of an item in a window, as far as its page shows them. */
export interface StripContent {
  /** Columns in which something happened, ascending. */
  readonly marks: readonly number[];
  /** How often in each of them, as far as that is drawn. */
  readonly often: readonly number[];
  /** Sum of the steps of a watch. */
  readonly steps: number;
}

/** An item, by its key, as pages look at it. */
export interface StripItem {
  readonly key: number;
  readonly kind: Kind;
  readonly homes?: readonly number[];
}

/** Readings that are remembered, by what they were made of. */
export type StripMemory = RecentlyUsed<StripContent>;

/** The series that the strip of a kind shows; a gateway has none. */
export const seriesOfStrip: Readonly<Partial<Record<Kind, SeriesName>>> = {
  wirelesssensors: "wirelesssensor_events",
  pillboxes: "pillbox_events",
  scales: "scale_weights",
  watches: "watch_epochs",
};

interface StripRequest {
  readonly item: StripItem;
  readonly window: Pick<TimeWindow, "span" | "from_ms" | "to_ms" | "columns">;
  readonly memory: StripMemory;
}

/** Readings of an item in the columns of a window. */
export async function stripContentOf(
  store: VisibleStore,
  { item, window, memory }: StripRequest,
): Promise<StripContent> {
  if (window.span !== "year") return rememberedOf(store, { item, window, memory });
  // What comes today changes nothing of the days before.
  const today_ms = window.to_ms - (window.to_ms - window.from_ms) / window.columns;
  const before = { ...window, to_ms: today_ms, columns: window.columns - 1 };
  const today = { ...window, from_ms: today_ms, columns: 1 };
  const past = await rememberedOf(store, { item, window: before, memory });
  const present = await rememberedOf(store, { item, window: today, memory });
  return {
    marks: [...past.marks, ...present.marks.map((column) => column + before.columns)],
    often: [...past.often, ...present.often],
    steps: past.steps + present.steps,
  };
}

/** Those of before are taken where nothing has come or changed since. */
async function rememberedOf(
  store: VisibleStore,
  { item, window, memory }: StripRequest,
): Promise<StripContent> {
  const series = seriesOfStrip[item.kind];
  if (series === undefined) return nothing;
  const { span, from_ms, to_ms, columns } = window;
  const of = { series, item: item.key, ...(item.homes && { homes: item.homes }) };
  const asked = { ...of, before_ms: to_ms, skip: 0, limit: 1, precision: "ms" } as const;
  const name = `${await store.pageMark(asked)} ${from_ms} ${to_ms}`;
  const known = memory.get(name);
  if (known !== undefined) return known;
  const step_ms = (to_ms - from_ms) / columns;
  const { count, nonzero, sum } = await store.downsampled({
    ...of,
    ...happeningOf(item.kind),
    from_ms,
    before_ms: to_ms,
    step_ms,
  });
  const happenings = item.kind === "pillboxes" ? count : nonzero;
  const marks = Array.from(happenings.keys()).filter((column) => happenings[column] !== 0);
  const steps =
    item.kind === "watches" ? sum.reduce((all, one) => all + (Number.isNaN(one) ? 0 : one), 0) : 0;
  const often = span === "year" ? marks.map((column) => happenings[column] ?? 0) : [];
  const shown = { marks, often, steps };
  memory.set(name, shown, marks.length + often.length + name.length);
  return shown;
}

/** The field of a kind that says whether something happened. */
function happeningOf(kind: Kind): { readonly field: string; readonly mask?: number } {
  if (kind === "scales") return { field: "weight" };
  if (kind === "watches") return { field: "steps" };
  return kind === "pillboxes" ? { field: "event" } : { field: "event", mask: alarmBits };
}

/** Whether a record says that something happened: a sensor saw somebody or a door opened, a box moved, somebody weighed himself or walked. */
export function happened(kind: Kind, record: SeriesRecord): boolean {
  if (kind === "wirelesssensors") return (Number(record["event"]) & alarmBits) !== 0;
  return kind !== "watches" || Number(record["steps"]) > 0;
}

export const open = 1 << eventBit.opened;

const nothing: StripContent = { marks: [], often: [], steps: 0 };
