import type { Lived } from "./diary.ts";

/**
 * The fewest steps that are still broken: of ever smaller parts, each is left out that nothing depends on.
 *
 * @param try_ lives some of the steps, by their places
 */
export async function shrink(
  steps: number,
  try_: (keep: readonly number[]) => Promise<Lived>,
): Promise<{ readonly keep: readonly number[]; readonly broken: string }> {
  let keep = Array.from({ length: steps }, (_, index) => index);
  let broken = "";
  let tries = 0;
  for (let part = Math.ceil(steps / 2); part >= 1; part = part === 1 ? 0 : Math.ceil(part / 2))
    for (let at = 0; at < keep.length && tries < tries_max; ) {
      tries += 1;
      const fewer = keep.toSpliced(at, part);
      const lived = await try_(fewer);
      if (lived.broken === undefined) at += part;
      else {
        keep = fewer;
        broken = lived.broken;
      }
    }
  return { keep, broken };
}

/** Places as text, such as `3,9,12-14`. */
export function placesText(places: readonly number[]): string {
  const spans: [number, number][] = [];
  for (const place of places) {
    const last = spans.at(-1);
    if (last !== undefined && last[1] === place - 1) last[1] = place;
    else spans.push([place, place]);
  }
  return spans.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(",");
}

/** The places in such a text. */
export function placesIn(text: string): number[] {
  return text.split(",").flatMap((span) => {
    const [from = Number.NaN, to = from] = span.split("-").map(Number);
    if (!Number.isInteger(from) || !Number.isInteger(to))
      throw new Error(`${span} is no place of a step, nor places such as 3-9`);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

const tries_max = 400;
