/** A part of a plot's time, in milliseconds of its own: since midnight where days are rows, unix time elsewhere. */
export interface PlotView {
  readonly from_ms: number;
  readonly to_ms: number;
}

/** The view made closer or wider around a time, and moved; within the whole, and as long as the place in the address allows. */
export function changedView(
  view: PlotView,
  whole: PlotView,
  {
    factor = 1,
    around_ms = (view.from_ms + view.to_ms) / 2,
    by_ms = 0,
    place,
  }: { factor?: number; around_ms?: number | undefined; by_ms?: number; place: ViewPlace },
): PlotView {
  const { least_ms } = place;
  const most_ms = Math.min(whole.to_ms - whole.from_ms, place.most_ms ?? Number.POSITIVE_INFINITY);
  const length_ms = Math.min(most_ms, Math.max(least_ms, (view.to_ms - view.from_ms) * factor));
  const share = (around_ms - view.from_ms) / (view.to_ms - view.from_ms);
  const wanted_ms = around_ms - share * length_ms + by_ms;
  const from_ms = Math.min(Math.max(whole.from_ms, wanted_ms), whole.to_ms - length_ms);
  return { from_ms, to_ms: from_ms + length_ms };
}

/** The view moved on, as far as one press of a key does. */
export function movedView(view: PlotView, whole: PlotView, by: number, place: ViewPlace): PlotView {
  const third_ms = (view.to_ms - view.from_ms) / 3;
  return changedView(view, whole, { by_ms: by * Math.max(place.least_ms, third_ms), place });
}

/** How a view stands in the address of the page: `hours=6-12.5` by its name and the length of its unit. */
export interface ViewPlace {
  readonly name: string;
  readonly unit_ms: number;
  /** A view is never shorter, nor made longer than the most. */
  readonly least_ms: number;
  readonly most_ms?: number;
}

/** The view that an address has; undefined where it has none within the whole. */
export function viewIn(
  search: string,
  whole: PlotView,
  { name, unit_ms, least_ms }: ViewPlace,
): PlotView | undefined {
  const [, from, to] = /^([\d.]+)-([\d.]+)$/.exec(new URLSearchParams(search).get(name) ?? "") ?? [];
  const [from_ms, to_ms] = [Number(from) * unit_ms, Number(to) * unit_ms];
  const isIn = from_ms >= whole.from_ms && to_ms <= whole.to_ms && to_ms - from_ms >= least_ms;
  return isIn ? { from_ms, to_ms } : undefined;
}

/** Has the address of the page tell a view; undefined: none. */
export function keepView(view: PlotView | undefined, { name, unit_ms }: ViewPlace): void {
  const query = new URLSearchParams(location.search);
  const written = (ms: number) => String(Math.round((ms / unit_ms) * 100) / 100);
  if (view === undefined) query.delete(name);
  else query.set(name, `${written(view.from_ms)}-${written(view.to_ms)}`);
  const text = query.size === 0 ? "" : `?${query}`;
  history.replaceState(null, "", location.pathname + text + location.hash);
}

/** The change that the keyboard asks of a view: closer, wider, on, or the whole; undefined: nothing. */
export function changeBy(event: KeyboardEvent): { factor: number } | { by: number } | "whole" | undefined {
  const { key, shiftKey } = event;
  if (shiftKey && pans[key] !== undefined) return { by: pans[key] };
  if (key === "+" || key === "-") return { factor: key === "+" ? 0.5 : 2 };
  return key === "0" ? "whole" : undefined;
}

const pans: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };
