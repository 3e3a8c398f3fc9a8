import { day_ms, localDays, type TimeSpan } from "../../../base/time.ts";
import { isTimezone } from "../../../base/timezone.ts";
import { capital } from "../../../base/words.ts";
import { acceptanceAnswer } from "../../../domain/acceptance.ts";
import { type Quartiles, quartilesOf } from "../../../domain/derived/quartiles.ts";
import type { WalkingLine } from "../../../domain/derived/walking-passes.ts";
import type { Kind } from "../../../domain/kinds.ts";
import type { Item } from "../../../domain/records/item.ts";
import type { AskedMeasure } from "../../../store/derived/home-readings.ts";
import { type GivenName, isDevice } from "../../../store/inventory/given-names.ts";
import { linesOf } from "../../../store/inventory/walking-lines.ts";
import type { ItemOverview } from "../../../store/store.ts";
import type { VisibleStore } from "../../../store/visible-store.ts";
import { HttpError } from "../../server/http-errors.ts";
import { knownSinceIn } from "../alerts/alerts-data.ts";
import { isKnown, isWhole } from "../asked-home.ts";
import { erasedIn } from "../erased.ts";
import { measuredHome, measuredRows } from "../measures.ts";
import { type Noting, notingIn } from "../notes/notes-data.ts";
import type { LastErasure } from "../parts/erased-text.ts";
import type { PausedNow } from "../parts/paused-text.ts";
import { pausedAt } from "../paused.ts";
import { shownConflicts, titleOf } from "../shown-devices.ts";
import {
  type Asked,
  memoryBySite,
  type SentBy,
  type Show,
  type Site,
  sentBy,
  type Trouble,
  trailTo,
} from "../site.ts";
import { listText, momentText, type Times } from "../time-text.ts";
import { hereUntil_ms, uncertainTimesIn } from "../uncovered.ts";
import { type DeviceRow, type RowSources, rowOf } from "./home-devices.ts";
import { type HomeNeed, needsOf, toBring, whyOf } from "./home-needs.ts";
import { knownText } from "./home-words.tsx";
import type { StripContent } from "./strip-data.ts";
import { isSpanName, type TimeWindow, windowAt } from "./strip-window.ts";

/** A home: its tasks, and every device. */
export interface HomePageData {
  readonly home: number | null;
  readonly zone: string;
  /** At central: until when what was recorded here has been sent, unix milliseconds. */
  readonly here_ms: number | null;
  /** Where the page is. */
  readonly path: string;
  readonly window: TimeWindow;
  /** The pause of the recording that is under way. */
  readonly paused: PausedNow | null;
  /** Its last erasure, where no device has been heard since. */
  readonly erased: LastErasure | null;
  readonly needs: readonly HomeNeed[];
  readonly devices: readonly DeviceRow[];
  readonly walking: readonly WalkingRow[];
  /** The token may see everything: where there is nothing, there is nothing for anybody. */
  readonly isWhole: boolean;
  /** At central: whether the home was accepted, and how its first night was, in words. */
  readonly accepted: string | null;
  /** Whoever looks may set up the home. */
  readonly maySetUp: boolean;
  /** At central: what devices were called in the home, where the inventory has another name. */
  readonly proposals: readonly ProposedName[];
  readonly noting: Noting;
}

/** Walking speed on a line of curtain sensors in the window, m/s. */
export interface WalkingRow {
  readonly name: string;
  /** Its sensors that are shown. */
  readonly items: readonly string[];
  readonly speeds: Quartiles | null;
}

/** A home: every device with its readings, and the tasks. */
export const showHome: Show<HomePageData> = async (asked) => {
  const { site, store, query, now_ms, locale } = asked;
  const home = await homeOf(asked);
  const zone = await site.zoneOf(home);
  const span = query.get("span") ?? "day";
  const window = windowAt(now_ms, isSpanName(span) ? span : "day", zone);
  const found = await devicesIn(asked, { home, zone, window });
  const { devices, overviews, names, sources, sent, here_ms } = found;
  const records = overviews.map(({ record }) => record);
  // Walks of a year are told week by week, on the page of a sensor of the line.
  const { walking: configured } = await measuredHome(asked, home);
  const lines = window.span === "year" ? [] : linesOf(configured, names, records);
  const walking = await walkingRows(lines, new Set(devices.map(({ name }) => name)), sources);
  // Only readers who may see the home see faults of its box.
  const ownTroubles = async () => [
    ...(await troublesOf(site, { home, sent, times: { locale, zone, now_ms } })),
    ...(await zoneTroubles(store, { home, zone, told: sent ? sent.timezone : null })),
  ];
  const troubles = overviews.length === 0 && !isWhole(asked) ? [] : await ownTroubles();
  const lately = localDays(zone, { from_ms: now_ms - 2 * day_ms, to_ms: now_ms + 1 });
  const days = new Map(lately.map((day) => [day.date, day.from_ms]));
  const conflicts = shownConflicts(site.walk?.conflicts ?? [], { overviews, names, isWhole: isWhole(asked) });
  const name = home === undefined ? "Home" : `Home ${home}`;
  const path = site.role === "gateway" ? "/" : `/homes/${home}`;
  const isFresh = devices.every(({ heard_ms }) => heard_ms === null);
  const erased = isFresh ? await erasedIn(asked, home) : null;
  const needs = needsOf(troubles, devices, days, conflicts, knownSinceIn(site, home));
  return {
    title: name,
    data: {
      home: home ?? null,
      zone,
      here_ms: here_ms ?? null,
      path,
      window,
      paused: await pausedAt(asked, home),
      erased,
      needs:
        erased?.isWhole === true
          ? needs.map((need) => (need.type === "unheard" ? { ...need, isSinceErased: true } : need))
          : needs,
      devices,
      walking,
      noting: await notingIn(asked, { home, time: window }),
      isWhole: isWhole(asked),
      accepted: sent?.acceptance ? acceptanceAnswer(sent.acceptance) : null,
      maySetUp: site.walk !== undefined && asked.token.scope === "admin",
      proposals: site.role === "central" ? proposalsIn(names, records) : [],
      now_ms,
      locale,
      trail: trailTo(site.role, home),
    },
  };
};

/** The devices of a home as they were in a window, and all that they are made from. */
export async function devicesIn(
  asked: Asked,
  of: { home: number | undefined; zone: string; window: TimeWindow },
) {
  const { site, store, now_ms } = asked;
  const { home, zone, window } = of;
  const homes = home === undefined ? undefined : [home];
  const overviews = (await store.itemOverviews(homes)).filter(isShown);
  const names = await store.givenNames(home);
  const sent = await sentBy(site, home);
  const here_ms = hereUntil_ms(sent);
  const sources = {
    store,
    homes,
    zone,
    now_ms,
    window,
    memory: memoryOf(site),
    here_ms,
    doubts: await uncertainTimesIn(site, { home, from_ms: window.from_ms, to_ms: window.to_ms }),
    measured: (of: AskedMeasure, span: TimeSpan) => measuredRows(asked, { ...of, home }, span),
  };
  const devices: DeviceRow[] = [];
  // One after the other: a page takes no more of the store than one reader.
  for (const overview of overviews) {
    const found = await rowOf(overview, sources);
    const room = names.find((given) => isDevice(given, overview.record))?.room ?? null;
    const title = titleOf(overview, names);
    const replaced = replacedBy(overview, { title, overviews, names });
    devices.push({ ...found, title, room, replaced });
  }
  return { devices, overviews, names, sources, sent, here_ms };
}

/** Speeds on lines of which at least one sensor is shown. */
async function walkingRows(
  lines: readonly WalkingLine[],
  shown: ReadonlySet<string>,
  { measured, window }: Pick<RowSources, "measured" | "window">,
): Promise<WalkingRow[]> {
  const seen = lines.map(({ name, sensors }) => ({
    name,
    items: sensors.map(({ item }) => item).filter((item) => shown.has(item)),
  }));
  const only = seen.flatMap(({ items }) => items);
  const walks = only.length === 0 ? [] : await measured({ name: "walks", only }, window);
  return seen.flatMap(({ name, items }) => {
    if (items.length === 0) return [];
    const own = walks.filter(({ values }) => values["line"] === name);
    return [{ name, items, speeds: quartilesOf(own.map(({ values }) => Number(values["speed"]))) ?? null }];
  });
}

/** The home that is asked for: a gateway has one, whether it knows its number or not. */
export async function homeOf(asked: Asked): Promise<number | undefined> {
  if (asked.site.role === "gateway") return asked.site.home;
  const given = asked.params["home"] ?? "";
  const home = /^[0-9]{1,9}$/.test(given) ? Number(given) : undefined;
  if (home === undefined || !(await isKnown(asked, home)))
    throw new HttpError("record_unknown", { record: "home", id: given });
  return home;
}

/** At central what it knows of the gateway; what it says of devices is told with them. */
async function troublesOf(
  site: Site,
  { home, sent, times }: { home: number | undefined; sent: SentBy; times: Times },
): Promise<readonly Trouble[]> {
  if (site.troublesOf !== undefined) return site.troublesOf(home);
  if (!sent) return [];
  const needs = sent.needs.filter(({ type }) => type !== "item_silent" && type !== "battery_low");
  return needs.map((need) => {
    const of = { ...sent, needs: [need], silent: [], low_batteries: [] };
    const [why] = whyOf(of, knownSinceIn(site, home));
    if (why === undefined) return { what: `${need.message}.` };
    const since = why.since_ms === undefined ? "" : ` since ${momentText(why.since_ms, times)}`;
    const what = `${capital(why.text)}${since}${knownText(why.known_ms, times)}.`;
    const bring = toBring(of);
    const remedies = [...(bring.length === 0 ? [] : [`Bring ${listText(bring)}.`]), why.remedy ?? []].flat();
    return remedies.length === 0 ? { what } : { what, remedy: remedies.join(" ") };
  });
}

/** Words that stand where a time zone should. `zone` is the one that the page goes by. */
async function zoneTroubles(
  store: VisibleStore,
  { home, zone, told }: { home: number | undefined; zone: string; told: string | null },
): Promise<Trouble[]> {
  const recorded = home === undefined ? undefined : (await store.record("homes", home))?.timezone;
  return [
    ...(told === null || isTimezone(told)
      ? []
      : [
          {
            what: `The gateway says that its time zone is "${told}", and there is none of that name: days here are those of UTC.`,
            remedy: "Correct timezone in [home] of its configuration, and restart it.",
          },
        ]),
    // The zone of the page is one: most homes need no look at the list of zones.
    ...(typeof recorded !== "string" || recorded === zone || isTimezone(recorded)
      ? []
      : [
          {
            what: `The record of this home has the time zone "${recorded}", and there is none of that name: no local day is made of it.`,
            remedy: "Import the record with a name of the IANA list, such as Europe/Berlin.",
          },
        ]),
  ];
}

/** The device that took the place of another, by its name where that is shown and tells them apart. */
function replacedBy(
  { record, replaced }: ItemOverview,
  of: { title: string; overviews: readonly ItemOverview[]; names: readonly GivenName[] },
): DeviceRow["replaced"] {
  if (replaced === undefined) return null;
  const kind = record.typename as Kind;
  const other = of.overviews.find((one) => isDevice({ kind, address: replaced.by }, one.record));
  const by = other && titleOf(other, of.names);
  return { by: by === undefined || by === of.title ? replaced.by : by, at_ms: replaced.at_ms };
}

function isShown({ record }: ItemOverview): boolean {
  return record.statusname !== "Decommissioned" && record.typename !== "gateways";
}

/** Numbers that are kept: those of sixty devices in three windows, at 8 bytes. */
const memory_max = 100_000;
/** Strips of a site, thinned already. */
const memoryOf = memoryBySite<StripContent>(memory_max);

/** The name of a device in the home, where the inventory calls it otherwise. */
export interface ProposedName {
  readonly itemname: string;
  readonly name: string;
  readonly room: string | null;
  /** The device that it was put there for, by its name, where that is shown. */
  readonly instead: string | null;
}

/** Of the devices that are shown, whatever else was called something in the home. */
export function proposalsIn(names: readonly GivenName[], records: readonly Item[]): ProposedName[] {
  return records.flatMap((record) => {
    const given = names.find((one) => isDevice(one, record));
    if (given === undefined || given.name === record.itemname) return [];
    const { name, room = null, replaces } = given;
    const old = replaces && records.find((one) => isDevice({ ...given, address: replaces }, one));
    return [{ itemname: record.itemname, name, room, instead: old ? old.itemname : null }];
  });
}
