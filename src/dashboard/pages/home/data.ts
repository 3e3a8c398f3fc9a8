import type { Show } from "../../page.ts";

export interface HomeData {
  readonly home: number | null;
  readonly zone: string;
}

/** A home: every device, what it tells, and what needs somebody. */
export const showHome: Show<HomeData> = async ({ site, now_ms, locale }) => {
  const home = site.home ?? null;
  const data = { home, zone: await site.zoneOf(site.home), now_ms, locale, trail: [] };
  return { title: home === null ? "Home" : `Home ${home}`, data };
};
