import { needLevels, needRules } from "../../../domain/fleet-home.ts";
import { centralItself, type Outage, type Undelivered } from "../../../domain/outage.ts";
import { HttpError } from "../../server/http-errors.ts";
import { isWhole } from "../asked-home.ts";
import type { KnownSince } from "../home/home-needs.ts";
import { type AlertDesk, type Asked, type Show, trailTo } from "../site.ts";

/** Open alerts of the homes that the token sees. */
export interface AlertsData {
  /** False where central was started without a file of alerts. */
  readonly isOn: boolean;
  readonly zone: string;
  readonly open: number;
  /** Alerts that nobody has acknowledged. */
  readonly unclaimed: number;
  /** How many homes have an alert, and whether central itself has one. */
  readonly homes: number;
  readonly ofCentral: boolean;
  /** Those that nobody deals with first, then in order of number. */
  readonly groups: readonly AlertGroup[];
  readonly page: number;
  readonly pages: number;
  /** The name of the token, where it may acknowledge; null where it may not. */
  readonly name: string | null;
  /** Null for a token that does not see every home: addresses of people are not for it. */
  readonly delivery: {
    readonly recipients: AlertDesk["recipients"];
    /** Without subjects: they may name a home that is restricted by now. */
    readonly undelivered: readonly Omit<Undelivered, "subject">[];
  } | null;
}

export interface AlertGroup {
  /** Null: central itself. */
  readonly home: number | null;
  readonly alerts: readonly ShownAlert[];
}

interface ShownAlert extends Pick<Outage, "id" | "message" | "since_ms"> {
  readonly title: string;
  /** Who was told, and when first; null before anybody was. */
  readonly told: { readonly at_ms: number; readonly to: readonly string[] } | null;
  /** When somebody hears of it, in words, where nobody has yet. */
  readonly later: string;
  readonly acknowledged: { readonly at_ms: number; readonly by: string | null } | null;
}

export const showAlerts: Show<AlertsData> = async (asked) => {
  const { site, query, now_ms, locale, token } = asked;
  const desk = site.alerts;
  const outages = openIn(asked);
  const whole = isWhole(asked);
  const byHome = [...Map.groupBy(outages, ({ home }) => home)].sort(
    ([one, of], [other, ofOther]) => rankOf(of) - rankOf(ofOther) || one - other,
  );
  const rows = byHome.flatMap(([, of]) => of);
  const pages = Math.max(1, Math.ceil(rows.length / rows_max));
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(query.get("page"))) || 1));
  const shown = rows.slice((page - 1) * rows_max, page * rows_max);
  const data: AlertsData = {
    isOn: desk !== undefined,
    zone: await site.zoneOf(undefined),
    open: rows.length,
    unclaimed: rows.filter(isUnclaimed).length,
    homes: byHome.filter(([home]) => home !== centralItself).length,
    ofCentral: byHome.some(([home]) => home === centralItself),
    groups: [...Map.groupBy(shown, ({ home }) => home)].map(([home, of]) => ({
      home: home === centralItself ? null : home,
      alerts: of.map((outage) => shownAlert(outage, whole)),
    })),
    ...{ page, pages },
    name: token.scope === "admin" ? token.name : null,
    delivery:
      desk === undefined || !whole
        ? null
        : {
            recipients: desk.recipients,
            undelivered: desk.undelivered.map(({ to, made_ms, failure }) => ({ to, made_ms, failure })),
          },
  };
  return { title: "Alerts", data: { ...data, now_ms, locale, trail: trailTo(site.role, undefined) } };
};

/** How many alerts are open that the token sees, and how many of them nobody deals with; undefined where central tells nobody. */
export function alertCounts(asked: Asked): { readonly open: number; readonly unclaimed: number } | undefined {
  if (asked.site.alerts === undefined) return undefined;
  const outages = openIn(asked);
  return { open: outages.length, unclaimed: outages.filter(isUnclaimed).length };
}

/** Since when the open alerts of a home have been known. */
export function knownSinceIn(
  { alerts }: Pick<Asked["site"], "alerts">,
  home: number | undefined,
): KnownSince {
  const own = (alerts?.open ?? []).filter((outage) => outage.home === home);
  return (type, item) => {
    const of = own.filter((one) => one.need === type && (item === undefined || one.item === item));
    return of.length === 0 ? undefined : Math.min(...of.map(({ since_ms }) => since_ms));
  };
}

/** Notes who deals with the alerts that were ticked; answers where to go on. */
export async function acknowledgeForm(asked: Asked, form: URLSearchParams): Promise<string> {
  const desk = deskOf(asked);
  const ticked = new Set(form.getAll("alert"));
  const ids = openIn(asked).flatMap(({ id }) => (ticked.has(String(id)) ? [id] : []));
  const by = form.get("by")?.trim().slice(0, name_max) || asked.token.name;
  desk.acknowledge(ids, `${by} (token ${asked.token.id})`);
  return "/alerts";
}

/** Sends a test to every recipient; answers where to go on. */
export async function testForm(asked: Asked): Promise<string> {
  await deskOf(asked).test();
  return "/alerts#recipients";
}

/** @throws HttpError where central tells nobody, or the token may not */
function deskOf({ site, token }: Asked): AlertDesk {
  if (site.alerts === undefined) throw new HttpError("path_unknown", {});
  if (token.scope !== "admin") throw new HttpError("alerts_scope", {});
  return site.alerts;
}

/** Open alerts of the homes that the token sees; those of central itself for whoever sees all. */
function openIn(asked: Asked): readonly Outage[] {
  const { site, store } = asked;
  const open = site.alerts?.open ?? [];
  const isSeen = (home: number) => home !== centralItself && (store.homes?.includes(home) ?? true);
  return open.filter(({ home }) => isSeen(home) || (home === centralItself && isWhole(asked)));
}

function isUnclaimed({ acknowledged }: Outage): boolean {
  return acknowledged === undefined;
}

function rankOf(outages: readonly Outage[]): number {
  return outages.some(isUnclaimed) ? 0 : 1;
}

function shownAlert(outage: Outage, whole: boolean): ShownAlert {
  const { id, need, message, since_ms, told, acknowledged, ripe_ms } = outage;
  const { title, level, after_h } = needRules[need];
  const times = Object.values(told);
  return {
    ...{ id, title, message, since_ms },
    told: times.length === 0 ? null : { at_ms: Math.min(...times), to: whole ? Object.keys(told) : [] },
    later: ripe_ms === undefined ? `once it has lasted ${after_h} hours` : needLevels[level].told,
    acknowledged:
      acknowledged === undefined ? null : { at_ms: acknowledged.at_ms, by: whole ? acknowledged.by : null },
  };
}

/** Alerts of a page: the form of all of them stays below the bytes that a form may have. */
const rows_max = 150;
const name_max = 100;
