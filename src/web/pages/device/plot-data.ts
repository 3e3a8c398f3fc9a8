import { day_ms } from "../../../base/time.ts";
import type { Downsampled, DownsampledRequest } from "../../../store/store.ts";
import type { VisibleStore } from "../../../store/visible-store.ts";
import { HttpError } from "../../server/http-errors.ts";
import { encoders, readAcceptEncoding, sent, textResponse } from "../../server/responses.ts";
import { type Asked, memoryBySite, type Site, sentBy } from "../site.ts";
import { hereUntil_ms, readUntil_ms, uncertainTimesIn, uncoveredOf } from "../uncovered.ts";
import { encodePlot, type Measure, measures, type PlotData } from "./day-plots.ts";
import { type CalendarSpan, newestBefore, readSpan, requireDevice, usualSpans } from "./device-request.ts";

/**
 * A measure of a device in a span of days, thinned for a plot: as the bytes of `day-plots.ts`, or as a picture where the address ends with `.svg`.
 *
 * @throws HttpError where there is no such device or measure, or the token may not see it
 */
export async function plotOf(asked: Asked, acceptEncoding: string | null): Promise<Response> {
  const { store, site, now_ms, params, query } = asked;
  const { kind, item } = await requireDevice(store, params);
  const [name = "", ending] = (params["measure"] ?? "").split(".", 2);
  const measure: Measure | undefined = Object.hasOwn(measures, name)
    ? measures[name as keyof typeof measures]
    : undefined;
  if (measure === undefined || measure.kind !== kind || (ending ?? "svg") !== "svg")
    throw new HttpError("path_unknown", {});
  const home = item.record.currenthomeid ?? undefined;
  const zone = await site.zoneOf(home);
  const span = readSpan(query, { zone, now_ms, usual: usualSpans[kind] });
  const of = { item: item.key, subtype: item.record.subtypename, home, measure, span };
  const data = await plotData(asked, of);
  if (ending === "svg") {
    const { rasterPicture } = await import("./raster-picture.tsx");
    const edges_ms = [span.whole.from_ms, ...span.days.map(({ to_ms }) => to_ms)];
    const times = { locale: asked.locale, zone, now_ms };
    const headers = { "Content-Type": "image/svg+xml", "Cache-Control": "no-store" };
    return textResponse(
      rasterPicture({ data, measure, edges_ms, times }),
      acceptEncoding ?? undefined,
      headers,
    );
  }
  const bytes = encodePlot(data);
  const { coding } = readAcceptEncoding(acceptEncoding ?? undefined);
  return sent(coding === undefined ? bytes : encoders[coding](bytes), {
    headers: {
      "Content-Type": "application/octet-stream",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      Vary: "Accept-Encoding",
      ...(coding === undefined ? {} : { "Content-Encoding": coding }),
    },
  });
}

async function plotData(
  { site, store, now_ms }: Asked,
  of: { item: number; subtype: string; home: number | undefined; measure: Measure; span: CalendarSpan },
): Promise<PlotData> {
  const { item, subtype, home, measure, span } = of;
  const { kind, series, field, mask } = measure;
  const { from_ms, to_ms } = span.whole;
  const finest_ms = measure.step_ms ?? (await epoch_ms(store, { item, series }));
  const step_ms = finest_ms * stepsAtOnce((to_ms - from_ms) / finest_ms);
  const until_ms = Math.max(from_ms + step_ms, Math.min(to_ms, now_ms + 1));
  const request = { series, item, field, from_ms, before_ms: to_ms, step_ms };
  const today_ms = span.days.find((day) => day.to_ms > now_ms)?.from_ms ?? to_ms;
  const thinned = await downsampledDays(
    { store, site },
    { ...request, ...(mask !== undefined && { mask }), today_ms },
  );
  const here_ms = hereUntil_ms(await sentBy(site, home));
  const read_ms = await readUntil_ms(store, { item, kind, subtype, now_ms });
  const state = await store.itemState(item, home === undefined ? undefined : [home]);
  const replaced_ms = state?.replaced?.at_ms;
  const uncovered = await uncoveredOf(store, {
    item,
    kind,
    from_ms,
    to_ms: until_ms,
    here_ms,
    read_ms,
    replaced_ms,
  });
  const { count: counts } = thinned;
  const levels = mask === undefined ? levelsOf(thinned, measure) : statesOf(thinned);
  unbridge(levels, { counts, uncovered, from_ms, step_ms });
  const doubts = await uncertainTimesIn(site, { home, from_ms, to_ms: until_ms });
  return { from_ms, step_ms, counts, levels, uncovered: [...uncovered, ...doubts] };
}

/** How many of so many steps are drawn as one: those of an hour in whole numbers. */
function stepsAtOnce(steps: number): number {
  return divisions.find((at_once) => steps / at_once <= steps_most) ?? 60;
}

/** The levels that the greatest values of the steps reach. */
function levelsOf({ greatest }: Steps, { least }: Measure): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(greatest, (value) => least.findLastIndex((reached) => value >= reached) + 1);
}

/**
 * 1 where a state was on. It lasts from the step of the reading that began it to the step of the one that ended it; where the next reading does not end it nothing
 * says how long it lasted, and each reading stands for its step alone.
 */
function statesOf({ count, least, greatest, last }: Steps): Uint8Array<ArrayBuffer> {
  const levels = new Uint8Array(count.length);
  let begun: number | undefined;
  for (let step = 0; step < levels.length; step++) {
    if (count[step] === 0) continue;
    if (begun !== undefined && least[step] === 0) levels.fill(1, begun, step);
    if ((greatest[step] ?? 0) > 0) levels[step] = 1;
    begun = (last[step] ?? 0) > 0 ? step : undefined;
  }
  return levels;
}

/** Takes away what was only thought to last through a time in which nobody could know. */
function unbridge(
  levels: Uint8Array,
  { counts, uncovered, from_ms, step_ms }: Omit<PlotData, "levels">,
): void {
  for (const span of uncovered) {
    const first = Math.floor((span.from_ms - from_ms) / step_ms);
    const end = Math.min(levels.length, Math.ceil((span.to_ms - from_ms) / step_ms));
    for (let step = Math.max(0, first); step < end; step++) if (counts[step] === 0) levels[step] = 0;
  }
}

/** How long the epochs of a watch are, by the newest: where whole ones make up an hour. */
async function epoch_ms(
  store: VisibleStore,
  of: { item: number; series: Measure["series"] },
): Promise<number> {
  const newest = await newestBefore(store, { ...of, before_ms: Number.MAX_SAFE_INTEGER });
  const duration_s = Number(newest?.["duration"] ?? 60);
  return duration_s >= 60 && 3_600 % duration_s === 0 ? duration_s * 1_000 : 60_000;
}

/** A year in steps of three minutes: its rows are as low as these are narrow where a screen is 1,200 pixels wide. */
const steps_most = 200_000;
const divisions = [1, 2, 3, 5, 10, 30];

/** Columns that plots are drawn of. Numbers of eight bytes come first, so that all lie where arrays of them may begin. */
const columns = ["least", "greatest", "last", "count"] as const;
export type Steps = Pick<Downsampled, (typeof columns)[number]>;

/**
 * A series in steps: see `Store.thinned`. All but those of the last week are remembered, compressed, for as long as nothing of them has changed: a year of a busy sensor
 * takes a third of a second of a processor to read, and is the same at the next look but for its end.
 *
 * @param options.today_ms when today began, unix milliseconds
 */
export async function downsampledDays(
  { store, site }: { store: Pick<VisibleStore, "pageMark" | "downsampled">; site: Site },
  { today_ms, ...request }: DownsampledRequest & { readonly today_ms: number },
): Promise<Steps> {
  const { from_ms, before_ms, step_ms } = request;
  const past = Math.floor((Math.min(today_ms - anew_ms, before_ms) - from_ms) / step_ms);
  if (past <= 0) return store.downsampled(request);
  const parted_ms = from_ms + past * step_ms;
  const before = await rememberedSteps({ store, site }, { ...request, before_ms: parted_ms });
  if (parted_ms >= before_ms) return before;
  return joined(before, await store.downsampled({ ...request, from_ms: parted_ms }));
}

async function rememberedSteps(
  { store, site }: Parameters<typeof downsampledDays>[0],
  request: DownsampledRequest,
): Promise<Steps> {
  const { series, item, homes, before_ms } = request;
  const page = { series, item, before_ms, skip: 0, limit: 1, precision: "ms" } as const;
  const mark = await store.pageMark({ ...page, ...(homes && { homes }) });
  const name = `${mark} ${JSON.stringify(request)}`;
  const memory = memoryOf(site);
  const known = memory.get(name);
  if (known !== undefined) return unpacked(known);
  const steps = await store.downsampled(request);
  const bytes = packed(steps);
  memory.set(name, bytes, bytes.length + name.length);
  return steps;
}

function packed(steps: Steps): Uint8Array {
  const parts = columns.map((column) => steps[column]);
  const bytes = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at);
    at += part.byteLength;
  }
  return Bun.zstdCompressSync(bytes, { level: 1 });
}

function unpacked(packed: Uint8Array): Steps {
  const { buffer } = new Uint8Array(Bun.zstdDecompressSync(packed));
  const steps = buffer.byteLength / (3 * 8 + 4);
  const numbers = (column: number) => new Float64Array(buffer, column * steps * 8, steps);
  return {
    least: numbers(0),
    greatest: numbers(1),
    last: numbers(2),
    count: new Uint32Array(buffer, 3 * steps * 8, steps),
  };
}

function joined(before: Steps, after: Steps): Steps {
  const numbers = (column: "least" | "greatest" | "last") => {
    const all = new Float64Array(before[column].length + after[column].length);
    all.set(before[column]);
    all.set(after[column], before[column].length);
    return all;
  };
  const count = new Uint32Array(before.count.length + after.count.length);
  count.set(before.count);
  count.set(after.count, before.count.length);
  return { least: numbers("least"), greatest: numbers("greatest"), last: numbers("last"), count };
}

/** The store marks no change before its newest 1,000 readings: a sensor that has fewer in a week is read soon. */
const anew_ms = 7 * day_ms;
/** Those of some sensors in a year. */
const memory_bytes_max = 1_000_000;
/** Steps of a site, by what they were made of. */
const memoryOf = memoryBySite<Uint8Array>(memory_bytes_max);
