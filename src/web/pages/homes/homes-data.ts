import { day_ms } from "../../../base/time.ts";
import { isTimezone } from "../../../base/timezone.ts";
import type { FleetHome } from "../../../domain/fleet-home.ts";
import type { DailyArrivals, FirmwareOfModel } from "../../../store/central/central-store.ts";
import { alertCounts, knownSinceIn } from "../alerts/alerts-data.ts";
import { isWhole } from "../asked-home.ts";
import { type KnownSince, type NeedyHome, needsVisit, toBring, whyOf } from "../home/home-needs.ts";
import type { Fleet, Show, Site } from "../site.ts";
import {
  type ArrivalState,
  arrivalStatesOf,
  type DayRange,
  dateOf,
  lastDays,
  type MissingRow,
  missingRow,
} from "./daily-arrivals.ts";
import { addressIn, type HomesAddress, type HomesViewName, isOfAll, type Sort } from "./homes-address.ts";
import { chosenHomes, type Facet } from "./homes-facets.ts";

export interface HomesData {
  readonly address: HomesAddress;
  /** The token may not see all homes that there are. */
  readonly cut: boolean;
  /** How many homes there are. */
  readonly all: number;
  /** Ways to choose among them. */
  readonly facets: readonly Facet[];
  /** How many are chosen, how many of these need a visit, and how many something that can be done from afar. */
  readonly homes: number;
  readonly visits: number;
  readonly remote: number;
  readonly silent: number;
  readonly batteries: number;
  /** Open alerts, and those that nobody deals with; null where central tells nobody. */
  readonly alerts: { readonly open: number; readonly unclaimed: number } | null;
  /** The first homes that need something, those that lose most data first. */
  readonly needy: readonly LosingHome[];
  /** How many rows the view has in all, and on how many pages. */
  readonly found: number;
  readonly pages: number;
  readonly view: HomesView;
}

/** `missing`: how much of the last days' data is not here, percent; null where that was not looked at. */
export interface LosingHome extends NeedyHome {
  readonly missing: number | null;
}

export type HomesView =
  | { readonly rows: readonly HomeRow[] }
  | { readonly map: readonly MissingRow[]; readonly days: readonly string[] }
  /** Numbers of homes, each with a picture of its activity, and of all homes those that are late with theirs. */
  | { readonly pictures: readonly number[]; readonly late: readonly number[] }
  | { readonly silent: readonly SilentRow[]; readonly replaced: readonly ReplacedRow[] }
  | { readonly batteries: readonly BatteryRow[] }
  | { readonly versions: readonly VersionRow[] }
  /** `mixed`: models of which not all devices have the same firmware. */
  | { readonly firmware: readonly FirmwareRow[]; readonly mixed: number };

export interface HomeRow {
  readonly homeid: number;
  readonly zone: string;
  /** Of the last nights, the oldest first; `last` is the date of the day that the last one brought. */
  readonly nights: readonly ArrivalState[];
  readonly last: string;
  readonly upload_ms: number | null;
  readonly backlog: number | null;
  readonly items: number;
  readonly silent: number;
  readonly version: string | null;
  readonly needs: "visit" | "remote" | null;
}

export interface SilentRow {
  readonly homeid: number;
  readonly zone: string;
  readonly typename: string;
  readonly itemname: string;
  readonly heard_ms: number | null;
}

/** A device that another one took the place of, and that the inventory still has there: some of them. */
export interface ReplacedRow {
  readonly homeid: number;
  readonly zone: string;
  readonly typename: string;
  readonly itemname: string;
  readonly by: string;
  readonly at_ms: number;
}

export interface BatteryRow {
  readonly homeid: number;
  readonly zone: string;
  readonly typename: string;
  readonly itemname: string;
  readonly percent: number | null;
  readonly millivolts: number | null;
  /** Since when central has known of it; null where it keeps no alerts. */
  readonly known_ms: number | null;
}

export interface VersionRow {
  readonly version: string | null;
  /** Rings of the homes that have it. */
  readonly rings: readonly number[];
  /** Homes that refused it, or went back from it, and why: some of them. */
  readonly refused: readonly { readonly homeid: number; readonly message: string }[];
  readonly homes: number;
  /** Some of them. */
  readonly homeids: readonly number[];
}

/** One version of a model; homes are some of them. */
export type FirmwareRow = Pick<FirmwareOfModel, "model"> &
  FirmwareOfModel["versions"][number] & { readonly more: number };

/** All homes that the token may see: which of them need somebody, and what has arrived of them. */
export const showHomes: Show<HomesData> = async (asked) => {
  const { site, store, query, now_ms, locale } = asked;
  const address = addressIn(query);
  const there = await fleetFor(site).homes(store.homes);
  const { homes: all, facets } = await chosenHomes(asked, there, address);
  const visits = all.filter(needsVisit);
  const remote = all.filter((home) => home.needs.length > 0 && !needsVisit(home));
  const { view, found } = await viewMakers[address.show]({
    fleet: fleetFor(site),
    knownSince: (home) => knownSinceIn(site, home),
    of: isOfAll(address) ? store.homes : homeids(all),
    all,
    address,
    now_ms,
  });
  const data: HomesData = {
    address,
    cut: !isWhole(asked),
    all: there.length,
    facets,
    homes: all.length,
    visits: visits.length,
    remote: remote.length,
    silent: sum(all, ({ silent }) => silent.length),
    batteries: sum(all, ({ low_batteries }) => low_batteries.length),
    alerts: alertCounts(asked) ?? null,
    // Other views are about something else, and have their own first rows.
    needy: address.show === "homes" ? await needyHomes(site, [...visits, ...remote], now_ms) : [],
    found,
    pages: Math.max(1, Math.ceil(found / rowsOfPage(address))),
    view,
  };
  return { title: "All homes", data: { ...data, now_ms, locale, trail: [] } };
};

function fleetFor(site: Site): Fleet {
  if (site.fleet === undefined) throw new Error("the page of all homes is central's");
  return site.fleet;
}

interface Viewing {
  readonly fleet: Fleet;
  readonly knownSince: (home: number) => KnownSince;
  /** The numbers of the chosen homes; undefined: all that there are. */
  readonly of: readonly number[] | undefined;
  /** The chosen homes. */
  readonly all: readonly FleetHome[];
  readonly address: HomesAddress;
  readonly now_ms: number;
}

/** A view, and how many rows it has on all of its pages. */
interface MadeView {
  readonly view: HomesView;
  readonly found: number;
}

const viewMakers: Readonly<Record<HomesViewName, (viewing: Viewing) => MadeView | Promise<MadeView>>> = {
  homes: homesView,
  missing: missingView,
  activity: ({ all, address }) => ({
    view: { pictures: homeids(onPage(all, address)), late: homeids(all.filter(isLate)) },
    found: all.length,
  }),
  silent: silentView,
  batteries: ({ all, address, knownSince }) => {
    const found = all.flatMap((home) => {
      const known = knownSince(home.homeid);
      return home.low_batteries.map(
        (one): BatteryRow => ({
          ...{ homeid: home.homeid, zone: zoneOf(home), ...one },
          known_ms: known("battery_low", one.itemname) ?? null,
        }),
      );
    });
    found.sort((one, other) => (one.percent ?? 0) - (other.percent ?? 0));
    return { view: { batteries: onPage(found, address) }, found: found.length };
  },
  versions: ({ all, address }) => {
    const found = versionRows(all);
    return { view: { versions: onPage(found, address) }, found: found.length };
  },
  firmware: firmwareView,
};

function onPage<Row>(rows: readonly Row[], address: HomesAddress): readonly Row[] {
  const size = rowsOfPage(address);
  return rows.slice((address.page - 1) * size, address.page * size);
}

async function homesView({ fleet, all, address, now_ms }: Viewing): Promise<MadeView> {
  const shown = onPage(inOrder(all, address), address);
  const zones = new Zones(shown, nights_shown, now_ms);
  const arrivals = await fleet.dailyArrivals(homeids(shown), zones.from_day);
  const rows = shown.map((home, place) => homeRow(home, arrivals[place], zones));
  return { view: { rows }, found: all.length };
}

async function missingView({ fleet, all, address, now_ms }: Viewing): Promise<MadeView> {
  const shown = onPage(all, address);
  const zones = new Zones(shown, map_days, now_ms);
  const map = await missingRows(fleet, shown, zones);
  return { view: { map, days: zones.dates() }, found: all.length };
}

async function missingRows(fleet: Fleet, homes: readonly FleetHome[], zones: Zones): Promise<MissingRow[]> {
  if (homes.length === 0) return [];
  const [arrivals, devices] = await Promise.all([
    fleet.dailyArrivals(homeids(homes), zones.from_day),
    fleet.coverageIn(homeids(homes), zones.span),
  ]);
  const byHome = Map.groupBy(devices, ({ home }) => home);
  return homes.map((home, place) => {
    const range = zones.of(home);
    const states = arrivalStatesOf(arrivals[place] ?? nothing, range);
    return missingRow(home.homeid, byHome.get(home.homeid) ?? [], states, range, zones.from_day);
  });
}

/** The first homes that need something: by how much of the data of the last days is not here, those to be visited before others. */
async function needyHomes(site: Site, homes: readonly FleetHome[], now_ms: number): Promise<LosingHome[]> {
  const fleet = fleetFor(site);
  const compared = homes
    .toSorted((one, other) => likelyLoss(other, now_ms) - likelyLoss(one, now_ms))
    .slice(0, compared_max);
  const rows =
    compared.length === 0 ? [] : await missingRows(fleet, compared, new Zones(compared, loss_days, now_ms));
  const losses = new Map(rows.map(({ homeid, percent }) => [homeid, percent]));
  return homes
    .map((home) => ({ home, missing: losses.get(home.homeid) ?? null }))
    .sort((one, other) => (other.missing ?? 0) - (one.missing ?? 0))
    .slice(0, needy_max)
    .map(({ home, missing }) => ({ ...needyHome(home, knownSinceIn(site, home.homeid)), missing }));
}

/** The share of the last days' data that a home loses by what it has told, 0 to 1: what its devices' interruptions say is dearer to find. */
export function likelyLoss(
  { last_upload_ms, items, silent }: Pick<FleetHome, "last_upload_ms" | "items" | "silent">,
  now_ms: number,
): number {
  const since = (at_ms: number | null) => Math.min(1, (now_ms - (at_ms ?? 0)) / (loss_days * day_ms));
  const silence = silent.reduce((sum, { heard_ms }) => sum + since(heard_ms), 0);
  return Math.max(since(last_upload_ms), silence / Math.max(1, items));
}

/** Nothing has come of a home when it should have. */
function isLate({ needs }: FleetHome): boolean {
  return needs.some(({ type }) => type === "upload_overdue" || type === "never_heard");
}

function silentView({ all, address }: Viewing): MadeView {
  const found = all.flatMap((home) =>
    home.silent.map((one): SilentRow => ({ homeid: home.homeid, zone: zoneOf(home), ...one })),
  );
  found.sort((one, other) => (one.heard_ms ?? 0) - (other.heard_ms ?? 0));
  const replaced = all.flatMap((home) =>
    home.replaced.map((one): ReplacedRow => ({ homeid: home.homeid, zone: zoneOf(home), ...one })),
  );
  replaced.sort((one, other) => other.at_ms - one.at_ms);
  const view = { silent: onPage(found, address), replaced: replaced.slice(0, rows_shown) };
  return { view, found: found.length };
}

async function firmwareView({ fleet, of, address }: Viewing): Promise<MadeView> {
  const models = await fleet.firmware(of);
  const found = models.flatMap(({ model, versions }) =>
    versions.map(
      (version): FirmwareRow => ({
        model,
        ...version,
        homes: version.homes.slice(0, homes_named),
        more: Math.max(0, version.homes.length - homes_named),
      }),
    ),
  );
  const mixed = models.filter(({ versions }) => versions.length > 1).length;
  return { view: { firmware: onPage(found, address), mixed }, found: found.length };
}

function versionRows(all: readonly FleetHome[]): VersionRow[] {
  const refused = Map.groupBy(all.flatMap(refusedBy), ({ version }) => version);
  const running = Map.groupBy(all, ({ version }) => version);
  const released = new Set([...running.keys()].map((version) => version?.split("+")[0]));
  const nowhere = [...refused.keys()].filter((version) => !released.has(version));
  return [...running, ...nowhere.map((version) => [version, []] as const)]
    .map(
      ([version, homes]): VersionRow => ({
        version,
        rings: [...new Set(homes.flatMap(({ update }) => update?.ring ?? []))].toSorted((a, b) => a - b),
        refused: (refused.get(version?.split("+")[0] ?? "") ?? []).slice(0, homes_named),
        homes: homes.length,
        homeids: homeids(homes).slice(0, homes_named),
      }),
    )
    .sort((one, other) => other.homes - one.homes);
}

/** Releases that a home refused or went back from. */
function refusedBy({ homeid, update }: FleetHome): { version: string; homeid: number; message: string }[] {
  const refusals = update?.refusals ?? [];
  return refusals.flatMap(({ version, message }) =>
    version === undefined ? [] : { version, homeid, message },
  );
}

function homeRow(home: FleetHome, nights: DailyArrivals | undefined, zones: Zones): HomeRow {
  const { homeid, last_upload_ms, backlog, items, silent, version, needs } = home;
  const range = zones.of(home);
  return {
    homeid,
    zone: zoneOf(home),
    nights: arrivalStatesOf(nights ?? nothing, range),
    last: dateOf(range.to_day - 1),
    upload_ms: last_upload_ms,
    backlog,
    items,
    silent: silent.length,
    version,
    needs: needs.length === 0 ? null : needsVisit(home) ? "visit" : "remote",
  };
}

function needyHome(home: FleetHome, knownSince: KnownSince): NeedyHome {
  return {
    homeid: home.homeid,
    zone: zoneOf(home),
    why: whyOf(home, knownSince),
    bring: needsVisit(home) ? toBring(home) : [],
  };
}

/** Days of homes, by their zones: a programme has few of these. */
class Zones {
  readonly #ranges: ReadonlyMap<string, DayRange>;

  constructor(homes: readonly FleetHome[], count: number, now_ms: number) {
    const zones = new Set(homes.map(zoneOf));
    this.#ranges = new Map([...zones].map((zone) => [zone, lastDays(zone, count, now_ms)]));
  }

  of(home: FleetHome): DayRange {
    return this.#ranges.get(zoneOf(home)) as DayRange;
  }

  /** The first day of any of them. */
  get from_day(): number {
    return this.#ranges
      .values()
      .reduce((least, { from_day }) => Math.min(least, from_day), Number.MAX_SAFE_INTEGER);
  }

  /** All of their time. */
  get span(): { start_ms: number; stop_ms: number } {
    const ranges = [...this.#ranges.values()];
    return {
      start_ms: Math.min(...ranges.map(({ from_day, endOf_ms }) => endOf_ms(from_day - 1))),
      stop_ms: Math.max(...ranges.map(({ to_day, endOf_ms }) => endOf_ms(to_day - 1))),
    };
  }

  /** The dates of all days that are over in one of them. */
  dates(): string[] {
    if (this.#ranges.size === 0) return [];
    const to_day = this.#ranges.values().reduce((most, range) => Math.max(most, range.to_day), this.from_day);
    return Array.from({ length: to_day - this.from_day }, (_, place) => dateOf(this.from_day + place));
  }
}

/** The zone of a home; of one that has not told it, or told one that is unknown here, UTC. */
function zoneOf({ timezone }: FleetHome): string {
  return timezone !== null && isTimezone(timezone) ? timezone : "UTC";
}

function inOrder(homes: readonly FleetHome[], { sort, down }: HomesAddress): FleetHome[] {
  const sorted = homes.toSorted(orders[sort]);
  return down ? sorted.reverse() : sorted;
}

const orders: Readonly<Record<Sort, (one: FleetHome, other: FleetHome) => number>> = {
  home: (one, other) => one.homeid - other.homeid,
  needs: (one, other) => rankOf(other) - rankOf(one),
  upload: (one, other) => (one.last_upload_ms ?? 0) - (other.last_upload_ms ?? 0),
  silent: (one, other) => one.silent.length - other.silent.length,
  backlog: (one, other) => (one.backlog ?? 0) - (other.backlog ?? 0),
  version: (one, other) => (one.version ?? "").localeCompare(other.version ?? "", "en", { numeric: true }),
};

/** Visits come first. */
function rankOf(home: FleetHome): number {
  return needsVisit(home) ? 2 : Math.sign(home.needs.length);
}

function rowsOfPage({ show }: HomesAddress): number {
  if (show === "activity") return pictures_shown;
  return show === "missing" ? map_homes : rows_shown;
}

function homeids(homes: readonly FleetHome[]): number[] {
  return homes.map(({ homeid }) => homeid);
}

function sum(homes: readonly FleetHome[], of: (home: FleetHome) => number): number {
  return homes.reduce((all, home) => all + of(home), 0);
}

const nothing = { first_day: undefined, days: [] };
/** Homes that need something and are told of before all others. */
const needy_max = 20;
/** Homes whose loss of the last days is compared: their devices' interruptions are read for it. */
const compared_max = 200;
const loss_days = 7;
const rows_shown = 50;
const nights_shown = 30;
const map_days = 60;
/** Homes of a page of the map: their devices' interruptions are read for it. */
const map_homes = 50;
/** Each is made when it is asked for. */
const pictures_shown = 100;
const homes_named = 10;
