import { day_ms, localDate, startOfDate_ms } from "../../../base/time.ts";
import { isRecording, seriesWords, severalWords } from "../../../domain/device-words.ts";
import { type RemoteOutcome, remoteRow } from "../../../domain/remote-request.ts";
import { type SeriesName, seriesNames } from "../../../domain/series.ts";
import { type Use, uses } from "../../../domain/uses.ts";
import type { GivenName } from "../../../store/inventory/given-names.ts";
import type { ItemOverview } from "../../../store/store.ts";
import { seenBy } from "../../../store/visible-store.ts";
import { type AskedHome, askedHome, requireHome, sees } from "../asked-home.ts";
import { seriesOfDevice } from "../device/device-request.ts";
import { erasedIn } from "../erased.ts";
import { type Noting, notingIn } from "../notes/notes-data.ts";
import type { LastErasure } from "../parts/erased-text.ts";
import type { PausedNow } from "../parts/paused-text.ts";
import { pausedAt, pauseLengths_ms } from "../paused.ts";
import { isInUse, titleOf } from "../shown-devices.ts";
import { type Asked, type Keeping, type RemoteHistory, type Show, type Site, trailTo } from "../site.ts";

/** All recorded data of a home, in words for its residents. */
export interface RecordedData extends AskedHome {
  readonly zone: string;
  readonly version: string;
  /** Devices that go by one name. */
  readonly groups: readonly DeviceGroup[];
  readonly people: readonly PersonKept[];
  readonly noting: Noting;
  /** When today began at the home, unix milliseconds. */
  readonly today_ms: number;
  readonly paused: PausedNow | null;
  readonly erased: LastErasure | null;
  /** How long the people of the home may pause by this page; none where they may not. */
  readonly pauses: readonly string[];
  readonly keeping: Keeping;
  /** Uses of what was recorded, and whether the people of the home allow each now. */
  readonly uses: readonly { readonly use: Use; readonly isAllowed: boolean }[];
  readonly keys: KeyCounts;
  /** Null: the study cannot ask the box for anything. */
  readonly remote: RemoteSeen | null;
}

export interface DeviceGroup {
  readonly words: ReturnType<typeof severalWords>;
  /** Everything that is written down, and when, of each of its series. */
  readonly notes: readonly { readonly when: string; readonly quantities: readonly string[] }[];
  readonly devices: readonly RecordedDevice[];
}

export interface RecordedDevice {
  /** By which the people of the home know it. */
  readonly name: string;
  /** Another device has replaced it. */
  readonly away: boolean;
  /** When there was last any sign of life, unix milliseconds. */
  readonly heard_ms: number | null;
  /** Readings that are kept. */
  readonly count: number;
}

/** Requests that the study may make to the box, and has made, in words that complete "The study asked the box to". */
export interface RemoteSeen {
  readonly allowed: readonly string[] | null;
  readonly asked: readonly { readonly at_ms: number; readonly words: string; readonly end: string }[];
}

/** Numbers of tokens that can see the data of the home, by scope, without their owners. */
export interface KeyCounts {
  readonly read: number;
  readonly admin: number;
  readonly sync: number;
}

/** Finds all recorded data of a home, for its residents. */
export const showRecorded: Show<RecordedData> = async (asked) => {
  const { site, store, token, now_ms, locale } = asked;
  // Of a home that is restricted the page says this, and nothing else of what was recorded.
  const seen = await seenBy(site.store, { binding: token.binding, restricted: true });
  const home = await askedHome(asked, seen ?? {});
  const paused = await pausedAt(asked, home);
  // A gateway has one home, also where nobody has told which.
  const items = await store.itemOverviews(site.role === "gateway" ? undefined : [home ?? 0]);
  const isRestricted = paused?.why === "restricted";
  if (site.role === "central" && items.length === 0 && !isRestricted) await requireHome(asked, home ?? 0);
  const [people, keys, zone, keeping, allowed, remote] = await Promise.all([
    home === undefined ? [] : peopleOf(asked, home),
    keysOf(site, home, now_ms),
    site.zoneOf(home),
    site.keepingOf?.(home) ?? {},
    usesOf(asked, home ?? 0),
    site.remoteOf?.(home),
  ]);
  const today_ms = startOfDate_ms(zone, localDate(zone, now_ms)) ?? now_ms;
  const noting = await notingIn(asked, { home, time: { from_ms: now_ms - notes_ms, to_ms: now_ms } });
  const trail = trailTo(site.role, home);
  const data = {
    role: site.role,
    home: home ?? null,
    zone,
    version: site.version,
    groups: groupsOf(items, await store.givenNames(home)),
    people,
    noting: paused?.why === undefined ? noting : { notes: [], form: null },
    today_ms,
    paused,
    erased: isRestricted ? null : await erasedIn(asked, home),
    pauses: site.household === undefined ? [] : [...pauseLengths_ms.keys()],
    keeping,
    uses: allowed,
    keys,
    remote: remote === undefined ? null : remoteSeen(remote),
    now_ms,
    locale,
    trail,
  };
  return { title: "What is recorded", data };
};

/** Notes of earlier times stand on the pages of those. */
const notes_ms = 28 * day_ms;

function remoteSeen({ allow, asked }: RemoteHistory): RemoteSeen {
  const wordsOf = (name: string) => remoteRow(name)?.asked ?? "do something that it does not know";
  return {
    allowed: allow?.map(wordsOf) ?? null,
    asked: asked.slice(0, asked_shown_max).map(({ at_ms, request, outcome }) => ({
      ...{ at_ms, words: wordsOf(request) },
      end: outcome === undefined ? "It has not done that yet." : endWords[outcome],
    })),
  };
}

const endWords: Readonly<Record<RemoteOutcome, string>> = {
  done: "It did.",
  failed: "It could not.",
  refused: "It refused.",
};
const asked_shown_max = 20;

function groupsOf(items: readonly ItemOverview[], names: readonly GivenName[]): DeviceGroup[] {
  const groups = new Map<
    string,
    { words: ReturnType<typeof severalWords>; series: Set<SeriesName>; devices: RecordedDevice[] }
  >();
  for (const item of items) {
    const { record, heard_ms = null, series } = item;
    const kind = record.typename;
    if (!isRecording(kind)) continue;
    const words = severalWords(kind, record.subtypename);
    const group = groups.get(words.name) ?? { words, series: new Set(), devices: [] };
    groups.set(words.name, group);
    const held = new Set(series.map((one) => one.series));
    for (const name of seriesOfDevice(kind, record.subtypename, held)) group.series.add(name);
    const count = series.reduce((sum, one) => sum + one.count, 0);
    group.devices.push({ name: titleOf(item, names), away: !isInUse(item), heard_ms, count });
  }
  return [...groups.values()].map(({ words, series, devices }) => ({
    words,
    notes: seriesNames
      .filter((name) => series.has(name))
      .map((name) => ({ when: seriesWords[name].when, quantities: Object.values(seriesWords[name].fields) })),
    devices,
  }));
}

function usesOf({ site, now_ms }: Asked, home: number): Promise<RecordedData["uses"]> {
  const binding = { homes: [home], projects: [], studies: [] };
  return Promise.all(
    uses.map(async (use) => {
      const { leftOut = [] } = await site.store.visible(binding, false, { uses: [use], at_ms: now_ms });
      return { use, isAllowed: leftOut.length === 0 };
    }),
  );
}

/** Counts tokens that hold now and may see the home. Where there are very many different bindings, those beyond the bound count as well. */
async function keysOf(site: Site, home: number | undefined, now_ms: number): Promise<KeyCounts> {
  const keys = { read: 0, admin: 0, sync: 0 };
  const bindings = new Map<string, boolean>();
  for (const { scope, expires_ms, binding, restricted, home: bound } of await site.store.tokens()) {
    if (expires_ms !== undefined && expires_ms <= now_ms) continue;
    if (bound !== undefined && home !== undefined && bound !== home) continue;
    if (scope !== "sync") {
      const name = JSON.stringify([binding, restricted]);
      if (!bindings.has(name) && bindings.size < bindings_max)
        bindings.set(name, await sees(site, { binding, restricted }, home));
      if (bindings.get(name) === false) continue;
    }
    keys[scope] += 1;
  }
  return keys;
}

const bindings_max = 500;

/** Kinds of notes that the programme has about a participant, without their content. */
export interface PersonKept {
  readonly subject: number;
  /** Names of what is filled in: `name`, `date of birth`. */
  readonly fields: readonly string[];
  /** How many records there are of each kind that has any, in words with their number before them. */
  readonly records: readonly { readonly count: number; readonly words: string }[];
}

/** The people of a home whom the token may see. */
export async function peopleOf({ site, store }: Asked, home: number): Promise<PersonKept[]> {
  const { subjects } = await site.store.visible({ homes: [home], projects: [], studies: [] });
  const people: PersonKept[] = [];
  for (const subject of subjects.slice(0, people_max)) {
    const record: Readonly<Record<string, unknown>> | undefined = await store.record("subjects", subject);
    if (record === undefined) continue;
    const isFilled = (field: string) => record[field] !== null && record[field] !== undefined;
    const fields = fieldWords.filter(([, names]) => names.some(isFilled)).map(([words]) => words);
    const records: { count: number; words: string }[] = [];
    for (const [type, one, many] of recordWords) {
      const { length: count } = await store.recordsOf(type, subject);
      if (count > 0) records.push({ count, words: count === 1 ? one : many });
    }
    people.push({ subject, fields, records });
  }
  return people;
}

/** The page lists no more people of a home than this. */
const people_max = 50;

/** Fields of a participant, under the word that people have for them. */
const fieldWords: readonly (readonly [words: string, fields: readonly string[]])[] = [
  ["name", ["subjectname", "lname", "fname"]],
  ["title", ["titlename"]],
  ["sex", ["genderid", "gendername"]],
  ["date of birth", ["dob"]],
  ["date of death", ["dod"]],
  ["e-mail address", ["email"]],
  ["number in another list", ["oadc"]],
];

/** Kinds of record that belong to a participant, one of them and several. */
const recordWords = [
  ["phones", "phone number", "phone numbers"],
  ["contacts", "visit or call", "visits and calls"],
  ["scheduled_contacts", "planned visit or call", "planned visits and calls"],
  ["comments", "remark of the study’s staff", "remarks of the study’s staff"],
  ["project_enrollments", "entry about a project", "entries about projects"],
  ["study_enrollments", "entry about a study", "entries about studies"],
  ["subject_inventory", "device handed out", "devices handed out"],
] as const;
