import {
  daysAfter,
  isIn,
  type LocalDay,
  localDate,
  localDays,
  startOfDate_ms,
  type TimeSpan,
} from "../../../base/time.ts";
import { readOnce } from "../../../store/derived/derived-rows.ts";
import { HttpError } from "../../server/http-errors.ts";
import { isWhole } from "../asked-home.ts";
import { erasedIn } from "../erased.ts";
import { devicesIn, homeOf } from "../home/home-data.ts";
import type { DeviceRow } from "../home/home-devices.ts";
import { groupsOf } from "../home/home-page.tsx";
import { type TimeWindow, windowOf } from "../home/strip-window.ts";
import { type Noting, notingIn } from "../notes/notes-data.ts";
import type { LastErasure } from "../parts/erased-text.ts";
import { isMoment, kindWords } from "../parts/note-words.ts";
import type { PausedNow } from "../parts/paused-text.ts";
import { pausedAt } from "../paused.ts";
import { type Asked, type Show, trailTo } from "../site.ts";
import { momentText, type Times } from "../time-text.ts";
import { dayAnswer } from "./day-answer.ts";
import { type LogEntry, logbookOf } from "./logbook.ts";

/** A day of a home, or the week that ends with it: every device on one axis, and what happened in words. */
export interface HomeDayData {
  readonly home: number | null;
  readonly zone: string;
  /** Where the page is. */
  readonly path: string;
  readonly date: string;
  readonly span: "day" | "week";
  readonly window: TimeWindow;
  /** Dates of the days before and after; the day after is null where it has not begun. */
  readonly earlier: string;
  readonly later: string | null;
  /** Rooms and kinds that the home has, and the one that is shown; null: all. */
  readonly groups: readonly string[];
  readonly only: string | null;
  readonly devices: readonly Pick<DeviceRow, "kind" | "name" | "title" | "marks" | "often" | "uncovered">[];
  /** Sentences of the derived measures about it; null where they tell nothing. */
  readonly answer: string | null;
  /** The oldest first. */
  readonly log: readonly LogEntry[];
  readonly noting: Noting;
  /** Why nothing of today has a date, in a sentence. */
  readonly undated: string | null;
  /** The pause that is under way in the time that is shown. */
  readonly paused: PausedNow | null;
  /** Its last erasure, where no device has been heard since. */
  readonly erased: LastErasure | null;
  readonly isWhole: boolean;
}

export const showHomeDay: Show<HomeDayData> = async (given) => {
  // Its measures are made of the same readings.
  const asked = { ...given, store: readOnce(given.store) };
  const { site, query, now_ms, locale } = asked;
  const home = await homeOf(asked);
  const zone = await site.zoneOf(home);
  const today = localDate(zone, now_ms);
  const date = dateOf(asked, zone, today);
  const span = query.get("span") === "week" ? "week" : "day";
  const days = daysUntil(date, span === "week" ? 7 : 1, zone);
  const time = { from_ms: days[0]?.from_ms ?? 0, to_ms: days.at(-1)?.to_ms ?? 0 };
  const window = windowOf(time, { span, columns: columnsOf(time, days.length), zone });
  const { devices, sources } = await devicesIn(asked, { home, zone, window });
  const groups = groupsOf(devices);
  const only = groups.find(({ title }) => title === query.get("only")) ?? null;
  const shown = only?.rows ?? groups.flatMap(({ rows }) => rows);
  const log = await logbookOf(asked, { devices: shown, time, sources, only: only?.title ?? null });
  const about = { days, devices: shown, only: only?.title ?? null, locale, now_ms };
  const answer = await dayAnswer(sources.measured, about);
  const noting = await notingIn(asked, { home, time });
  const paused = await pausedAt(asked, home);
  const troubles = isIn(time, now_ms) ? ((await site.troublesOf?.(home)) ?? []) : [];
  const path = site.role === "gateway" ? "/day" : `/homes/${home}/day`;
  const name = home === undefined ? "Home" : `Home ${home}`;
  return {
    title: `${date}, ${name}`,
    data: {
      home: home ?? null,
      ...{
        zone,
        path,
        date,
        span,
        window,
        answer,
        log: logWith(log, noting, { time, times: { locale, zone, now_ms } }),
        noting,
        paused: paused !== null && paused.from_ms < time.to_ms ? paused : null,
        undated: troubles.find(({ undated }) => undated)?.what ?? null,
        erased: devices.every(({ heard_ms }) => heard_ms === null) ? await erasedIn(asked, home) : null,
        isWhole: isWhole(asked),
      },
      earlier: daysAfter(date, -1),
      later: date < today ? daysAfter(date, 1) : null,
      groups: groups.map(({ title }) => title),
      only: only?.title ?? null,
      devices: shown.map(({ kind, name, title, marks, often, uncovered }) => {
        return { kind, name, title, marks, often, uncovered };
      }),
      now_ms,
      locale,
      trail: [...trailTo(site.role, home), { href: path, text: span === "week" ? "Week" : "Day" }],
    },
  };
};

/** The logbook with the notes that begin in its time, the oldest first. */
function logWith(
  log: readonly LogEntry[],
  { notes }: Noting,
  { time, times }: { time: TimeSpan; times: Times },
): LogEntry[] {
  const noted = notes
    .filter(({ from_ms }) => isIn(time, from_ms))
    .map((note) => {
      const { kind, from_ms, to_ms, words } = note;
      const until = to_ms === null || isMoment(note) ? "" : ` until ${momentText(to_ms, times)}`;
      const noted = `Noted: ${kindWords[kind].toLowerCase()}${until}${words === null ? "" : `, ${words}`}`;
      return { at_ms: from_ms, words: noted };
    });
  return [...log, ...noted].sort((one, other) => one.at_ms - other.at_ms);
}

/** @throws HttpError where the address has no date, or one that has not come */
function dateOf({ query }: Asked, zone: string, today: string): string {
  const date = query.get("date") ?? today;
  const isDate = /^\d{4}-\d\d-\d\d$/.test(date) && startOfDate_ms(zone, date) !== undefined;
  if (isDate && date <= today && date > "1970") return date;
  throw new HttpError("parameter_malformed", {
    parameter: "date",
    expected: "a past date such as 2026-11-03",
  });
}

function daysUntil(date: string, count: number, zone: string): LocalDay[] {
  const from_ms = startOfDate_ms(zone, daysAfter(date, 1 - count)) ?? 0;
  return localDays(zone, { from_ms, to_ms: (startOfDate_ms(zone, date) ?? 0) + 1 });
}

/** Minutes of a day, and seven of them of a week. */
function columnsOf({ from_ms, to_ms }: TimeSpan, days: number): number {
  return Math.round((to_ms - from_ms) / 60_000 / days);
}
