import { day_ms } from "../durations.ts";
import { RecentlyUsed } from "../recently-used.ts";
import type { VisibleStore } from "../store/seen-store.ts";
import type { Downsampled, DownsampledRequest } from "../store/store.ts";
import type { Site } from "./page.ts";

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

/** Steps of a site, by what they were made of. */
function memoryOf(site: Site): RecentlyUsed<Uint8Array> {
  const memory = memories.get(site) ?? new RecentlyUsed({ weight_max: memory_bytes_max });
  memories.set(site, memory);
  return memory;
}
const memories = new WeakMap<Site, RecentlyUsed<Uint8Array>>();
/** The store marks no change before its newest 1,000 readings: a sensor that has fewer in a week is read soon. */
const anew_ms = 7 * day_ms;
/** Those of some sensors in a year. */
const memory_bytes_max = 1_000_000;
