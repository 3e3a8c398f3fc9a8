import { day_ms, isIn, type TimeSpan } from "../../../base/time.ts";
import { capital } from "../../../base/words.ts";
import type { DerivedRow } from "../../../domain/derived/home-data.ts";
import type { SeriesName } from "../../../domain/series.ts";
import { readingsIn } from "../device/device-request.ts";
import type { DeviceRow, RowSources } from "../home/home-devices.ts";
import { open } from "../home/strip-data.ts";
import type { Asked } from "../site.ts";
import { durationText, numberText } from "../time-text.ts";

/** Something that happened in a home, in words. */
export interface LogEntry {
  readonly at_ms: number;
  /** The name of a device, which its words follow. */
  readonly name?: string;
  readonly words: string;
}

interface LogbookOf {
  readonly devices: readonly DeviceRow[];
  readonly time: TimeSpan;
  readonly sources: Pick<RowSources, "measured" | "homes">;
  /** The room or kind that is asked for; null: all. */
  readonly only: string | null;
}

/** The logbook of a home, by the derived measures of the interface, its doors and its scale; the oldest first. */
export async function logbookOf(asked: Asked, of: LogbookOf): Promise<LogEntry[]> {
  const { time, sources } = of;
  const entries: LogEntry[] = [];
  for (const { name, words } of told) {
    for (const row of await sources.measured({ name }, around(time)))
      entries.push(...words(row, asked, of).filter(({ at_ms }) => isIn(time, at_ms)));
  }
  entries.push(...(await readingsOf(asked, of)));
  return entries.sort((one, other) => one.at_ms - other.at_ms).slice(-entries_max);
}

/** The night of the next morning begins on the day itself. */
function around({ from_ms, to_ms }: TimeSpan): TimeSpan {
  return { from_ms, to_ms: to_ms + day_ms };
}

/** Measures that tell what happened, and their words for it. */
const told: readonly {
  readonly name: "room_visits" | "outings" | "nights" | "doses";
  readonly words: (row: DerivedRow, asked: Asked, of: LogbookOf) => LogEntry[];
}[] = [
  {
    name: "room_visits",
    words: ({ at_ms, values }, _asked, { only }) => {
      const room = String(values["room"]);
      const isAsked = only === null || only === "Rooms" || only.toLowerCase() === room.toLowerCase();
      return isAsked ? [{ at_ms, words: `${capital(room)}${forText(values["dwell_min"])}` }] : [];
    },
  },
  {
    name: "outings",
    words: ({ at_ms, values }, _asked, { only }) =>
      only === null || only === "Doors"
        ? [
            { at_ms, words: `Nobody at home${forText(values["away_min"])}` },
            ...momentOf(values["stop"], "Back at home"),
          ]
        : [],
  },
  {
    name: "nights",
    words: ({ values }, _asked, { only }) =>
      only === null || only === (values["source"] === "watch" ? "Watch" : "Rooms")
        ? [
            ...momentOf(values["start"], values["source"] === "watch" ? "Falls asleep" : "In bed"),
            ...momentOf(values["stop"], values["source"] === "watch" ? "Awake" : "Out of bed"),
          ]
        : [],
  },
  {
    name: "doses",
    words: ({ values }, _asked, { devices }) => {
      const box = devices.find(({ name }) => name === values["itemname"]);
      return box === undefined ? [] : momentOf(values["at"], ": dose taken", box.title);
    },
  },
];

/** Entries of doors and scales, which no measure tells. */
async function readingsOf(
  { store, locale }: Asked,
  { devices, time, sources }: LogbookOf,
): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for (const { kind, subtype, name, title } of devices) {
    const series: SeriesName | undefined =
      kind === "scales" ? "scale_weights" : subtype === "door" ? "wirelesssensor_events" : undefined;
    const item = series && (await store.item(kind, name, sources.homes));
    if (series === undefined || item === undefined) continue;
    const asked = { series, item: item.key, span: time, ...(sources.homes && { homes: sources.homes }) };
    const own: LogEntry[] = [];
    for await (const rows of readingsIn(store, asked)) {
      for (const [at_ms, value] of rows) {
        if (kind === "scales")
          own.push({ at_ms, name: title, words: `: ${numberText(Number(value) / 1_000, locale, 1)} kg` });
        else if ((Number(value) & open) !== 0) own.push({ at_ms, name: title, words: " opened" });
      }
      own.splice(0, own.length - entries_max);
    }
    entries.push(...own);
  }
  return entries;
}

/** A moment of a measure, unix seconds; none where it is not known. */
function momentOf(at_s: unknown, words: string, name?: string): LogEntry[] {
  return typeof at_s === "number" ? [{ at_ms: at_s * 1_000, ...(name && { name }), words }] : [];
}

function forText(minutes: unknown): string {
  return typeof minutes === "number" && minutes >= 1 ? `, ${durationText(minutes * 60_000)}` : "";
}

/** Entries of a page: the newest. */
const entries_max = 1_000;
