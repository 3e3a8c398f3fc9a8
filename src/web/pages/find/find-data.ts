import { deviceWords } from "../../../domain/device-words.ts";
import { isKind } from "../../../domain/kinds.ts";
import { views } from "../homes/homes-address.ts";
import { deviceHref } from "../parts/page-frame.tsx";
import { type Asked, type Show, trailTo } from "../site.ts";

/** Homes, devices, people and pages that are called by some words, as far as the token sees them. */
export interface FindData {
  readonly asked: string;
  readonly groups: readonly FoundGroup[];
}

/** The first that were found of a kind. */
export interface FoundGroup {
  readonly title: string;
  readonly found: readonly Found[];
}

export interface Found {
  readonly href: string;
  readonly text: string;
  /** Where or what it is; empty where the text says it. */
  readonly more: string;
}

/** Homes, devices, people and pages by their names. */
export const showFind: Show<FindData> = async (asked) => {
  const { site, query, now_ms, locale } = asked;
  const text = (query.get("q") ?? "").trim().slice(0, asked_length_max);
  const groups = text === "" ? [] : await foundOf(asked, text);
  return {
    title: "Find",
    data: { asked: text, groups, now_ms, locale, trail: trailTo(site.role, site.home) },
  };
};

async function foundOf(asked: Asked, text: string): Promise<FoundGroup[]> {
  const groups = [
    { title: "Homes", found: await homesFound(asked, text) },
    { title: "Devices", found: await devicesFound(asked, text) },
    { title: "People", found: await peopleFound(asked, text) },
    { title: "Pages", found: best(pagesOf(asked), text) },
  ];
  return groups.filter(({ found }) => found.length > 0);
}

/** Homes of a central, by number or place. */
async function homesFound({ site, store }: Asked, text: string): Promise<Found[]> {
  if (site.fleet === undefined) return [];
  const places = new Map(
    (await store.records("homes")).map(({ homeid, locationname, cityname, citystatename }) => [
      homeid,
      [locationname, cityname, citystatename].filter((one) => one !== null).join(", "),
    ]),
  );
  const heard = await site.fleet.homes(store.homes);
  const numbers = new Set([...heard.map(({ homeid }) => homeid), ...places.keys()]);
  const homes = [...numbers].map((homeid) => ({
    href: `/homes/${homeid}`,
    text: `Home ${homeid}`,
    more: places.get(homeid) ?? "",
  }));
  return best(homes, text);
}

/** Devices by name or address. */
async function devicesFound({ site, store }: Asked, text: string): Promise<Found[]> {
  const items = await store.itemsLike(text, { limit: found_max });
  return items.map(({ typename, subtypename, itemname, currenthomeid }) => {
    const kind = isKind(typename) ? deviceWords(typename, subtypename).noun : typename;
    const home = site.role === "central" && currenthomeid !== null ? `, home ${currenthomeid}` : "";
    return { href: deviceHref(typename, itemname), text: itemname, more: kind + home };
  });
}

/** Subjects by name, with a link to each of the homes that they are enrolled in. */
async function peopleFound({ site, store }: Asked, text: string): Promise<Found[]> {
  const subjects = await store.records("subjects");
  const named = subjects.map(({ subjectid, subjectname, fname, lname }) => ({
    subjectid,
    text: subjectname ?? [fname, lname].filter((one) => one !== null).join(" "),
  }));
  const found: Found[] = [];
  for (const { subjectid, text: name } of best(named, text)) {
    const homes = new Set(
      (await store.recordsOf("project_enrollments", subjectid)).flatMap(({ homeid }) => homeid ?? []),
    );
    for (const homeid of homes)
      found.push({
        href: site.role === "gateway" ? "/" : `/homes/${homeid}`,
        text: name,
        more: `home ${homeid}`,
      });
  }
  return found.slice(0, found_max);
}

/** Pages that are of no single home or device, and at a gateway those of its home. */
function pagesOf({ site, token }: Asked): Found[] {
  const page = (href: string, text: string, more = "") => ({ href, text, more });
  const help = [
    page("/docs", "Help", "documents"),
    page(`${site.api}/docs`, "The interface", "for programs"),
  ];
  if (site.role === "central")
    return [
      ...Object.entries(views).map(([show, text]) => page(show === "homes" ? "/" : `/?show=${show}`, text)),
      page("/alerts", "Alerts"),
      ...(site.sql === undefined ? [] : [page("/sql", "SQL", "query, DuckDB")]),
      ...help,
    ];
  return [
    page("/", "This home", "all devices"),
    page("/day", "The day of this home", "logbook"),
    page("/recorded", "What is recorded", "pause the recording"),
    page("/mesh", "How Zigbee devices hear each other", "mesh, signal"),
    page("/acceptance", "Acceptance", "record of the installation"),
    page("/burn-in", "Burn-in", "proof of the hardware"),
    ...(token.scope === "admin"
      ? [page("/walk", "Set up this home", "let devices in, name, replace, test")]
      : []),
    ...help,
  ];
}

/** The things that have all words of a text, those first that have the last of them as a word, then those with a word that begins with it. */
function best<Thing extends { readonly text: string; readonly more?: string }>(
  things: readonly Thing[],
  text: string,
): Thing[] {
  const words = text.toLocaleLowerCase().split(/\s+/u);
  const ranked = things.flatMap((thing) => {
    const within = ` ${thing.text} ${thing.more ?? ""} `.toLocaleLowerCase();
    if (!words.every((word) => within.includes(word))) return [];
    const last = words.at(-1);
    return { thing, rank: within.includes(` ${last} `) ? 0 : within.includes(` ${last}`) ? 1 : 2 };
  });
  ranked.sort((one, other) => one.rank - other.rank);
  return ranked.slice(0, found_max).map(({ thing }) => thing);
}

/** Letters of what is looked for, and things of each kind that are shown. */
const asked_length_max = 100;
const found_max = 8;
