import { type BurnInResult, burnInAnswer, burnInChecks, burnInNames } from "../../../domain/burn-in.ts";
import { type AskedHome, askedHome, requireHome } from "../asked-home.ts";
import { type KeptBurnIn, type Show, trailTo } from "../site.ts";

/** The record of the burn-in of a box. */
export interface BurnInData extends AskedHome {
  readonly zone: string;
  /** Null where there is none. */
  readonly record: {
    readonly answer: string;
    readonly version: string;
    readonly ended_ms: number;
    readonly key: string;
    /** Parts that are others than they were, in words. */
    readonly changed: readonly string[];
    readonly rows: readonly BurnInRow[];
  } | null;
}

interface BurnInRow {
  readonly title: string;
  readonly outcome: BurnInResult["outcome"];
  readonly found: string;
  /** Null where nothing has to be done. */
  readonly remedy: string | null;
}

export const showBurnIn: Show<BurnInData> = async (asked) => {
  const { site, now_ms, locale } = asked;
  const home = await askedHome(asked);
  const kept = await site.burnInOf?.(home);
  if (kept === undefined && site.role === "central") await requireHome(asked, home ?? 0);
  const data = {
    home: home ?? null,
    role: site.role,
    zone: await site.zoneOf(home),
    record: kept === undefined ? null : shownRecord(kept),
    now_ms,
    locale,
    trail: trailTo(site.role, home),
  };
  return { title: "The hardware at the bench", data };
};

function shownRecord({ record, changed }: KeptBurnIn): BurnInData["record"] {
  const { signed, key } = record;
  const { results, version, ended_ms } = signed;
  const rows = burnInNames.flatMap((name): BurnInRow[] => {
    const result = results[name];
    if (result === undefined) return [];
    const { title, remedy } = burnInChecks[name];
    const { outcome, found } = result;
    return [{ title, outcome, found, remedy: outcome === "failed" ? remedy : null }];
  });
  return { answer: burnInAnswer(results), version, ended_ms, key, changed, rows };
}
