import type { TimeSpan } from "../../base/time.ts";
import type { DerivedRow } from "../../domain/derived/home-data.ts";
import { derivedRows } from "../../store/derived/derived-rows.ts";
import type { AskedMeasure, MeasuredHome } from "../../store/derived/home-readings.ts";
import { type Asked, memoryBySite } from "./site.ts";

/** A home as its measures are asked for. */
export async function measuredHome(
  { store, site, now_ms }: Pick<Asked, "store" | "site" | "now_ms">,
  home: number | undefined,
): Promise<MeasuredHome> {
  return {
    store,
    home,
    zone: await site.zoneOf(home),
    walking: (await site.walkingOf?.(home)) ?? [],
    now_ms,
  };
}

/** Rows of a measure of a home in a span, oldest first: the numbers of the interface. Those of before are taken where nothing has come or changed since. */
export async function measuredRows(
  asked: Pick<Asked, "store" | "site" | "now_ms">,
  of: AskedMeasure & { readonly home: number | undefined },
  span: TimeSpan,
): Promise<DerivedRow[]> {
  const memory = memoryOf(asked.site);
  return derivedRows(await measuredHome(asked, of.home), { name: of.name, only: of.only, memory }, span);
}

/** Rows that are kept of a site: walks of a year of a home, and months of other measures. */
const rows_max = 50_000;
const memoryOf = memoryBySite<readonly DerivedRow[]>(rows_max);
