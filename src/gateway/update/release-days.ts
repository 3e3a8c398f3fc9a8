/** The rules by which a release is judged for days after its trial, on what a look at the gateway sees each half hour. */

import type { Moment } from "../../base/clock.ts";
import { hour_ms } from "../../base/time.ts";
import type { Baseline, Days } from "./update-state.ts";

/** A look at the gateway. */
export interface Seen {
  readonly boot: string;
  readonly now: Pick<Moment, "monotonic_ms" | "unix_ms">;
  /** How often systemd has started the service again since it was last started on purpose. */
  readonly restarts: number;
  /** Of all files of the data. */
  readonly data_bytes: number;
  /** Absent where the gateway does not answer. */
  readonly gateway?: SeenGateway | undefined;
}

export interface SeenGateway {
  /** Nothing is recorded. */
  readonly paused: boolean;
  readonly memory_bytes: number;
  readonly epoch: string;
  readonly last_seq: number;
  /** By the name of a make in the baseline: something that differs once one of its devices was heard again. */
  readonly heard: Readonly<Record<string, string>>;
}

/** Rules of the days of a release. Their hours are 72nds of `watch_ms`, so that a short watch has short hours. */
export interface DaysRules {
  readonly baseline: Baseline;
  readonly watch_ms: number;
}

/** The first look. Undefined where the gateway does not answer. */
export function beginDays({ boot, now, restarts, data_bytes, gateway }: Seen): Days | undefined {
  if (gateway === undefined) return undefined;
  const { epoch, last_seq, heard } = gateway;
  return {
    watched_ms: 0,
    unanswered_ms: 0,
    last: { boot, ...rounded(now), restarts },
    began: { data_bytes, last_seq },
    restarts: 0,
    windows: [],
    heard: Object.entries(heard).map(([name, mark]) => ({ name, mark, at_ms: 0 })),
    noted: [{ at_ms: 0, epoch, seq: last_seq }],
    upload_faults: 0,
  };
}

/** The days after one more look. */
export function afterLook(days: Days, seen: Seen, { watch_ms }: DaysRules): Days {
  const { boot, now, gateway, data_bytes } = seen;
  const { last, began } = days;
  const hour = hourOf(watch_ms);
  const isSameBoot = boot === last.boot;
  const since_ms = isSameBoot ? now.monotonic_ms - last.monotonic_ms : now.monotonic_ms;
  const ran_ms_max = (isSameBoot ? window_hours : first_look_hours) * hour;
  const ran_ms = Math.round(Math.min(Math.max(0, since_ms), ran_ms_max));
  const again = isSameBoot && seen.restarts >= last.restarts ? seen.restarts - last.restarts : seen.restarts;
  const looked = {
    ...days,
    last: { boot, ...rounded(now), restarts: seen.restarts },
    restarts: days.restarts + again,
  };
  if (gateway === undefined) return { ...looked, unanswered_ms: days.unanswered_ms + ran_ms };
  const { epoch, last_seq, memory_bytes, paused } = gateway;
  const watched_ms = days.watched_ms + ran_ms;
  // Where a clock was set back, signs of life change nothing for so long: the store keeps the latest time. No device is missed until then.
  const back_ms = Math.max(0, last.unix_ms + (isSameBoot ? since_ms : 0) - now.unix_ms);
  const window = Math.floor(watched_ms / (window_hours * hour));
  const extra_bytes = data_bytes - began.data_bytes - reading_bytes * Math.max(0, last_seq - began.last_seq);
  const { memory_bytes: m = memory_bytes, extra_bytes: e = extra_bytes } = days.windows[window] ?? {};
  const least = { memory_bytes: Math.min(m, memory_bytes), extra_bytes: Math.min(e, extra_bytes) };
  const isNoteDue = watched_ms - (days.noted.at(-1)?.at_ms ?? Number.NEGATIVE_INFINITY) >= hour;
  return {
    ...looked,
    watched_ms,
    unanswered_ms: 0,
    windows: [...days.windows.slice(0, window), least],
    heard: days.heard.map(({ name, mark, at_ms }) => {
      const newest = gateway.heard[name] ?? mark;
      const blind_ms = back_ms > clock_step_ms ? watched_ms + Math.round(back_ms) : 0;
      const heard_ms = newest === mark && !paused ? 0 : watched_ms;
      return { name, mark: newest, at_ms: Math.max(at_ms, blind_ms, heard_ms) };
    }),
    noted: isNoteDue
      ? [...days.noted, { at_ms: watched_ms, epoch, seq: last_seq }].slice(-noted_max)
      : days.noted,
  };
}

/** Why a release has to go; undefined where nothing speaks against it. */
export function faultInDays(days: Days, { baseline, watch_ms }: DaysRules): string | undefined {
  const { watched_ms, restarts } = days;
  const hour = hourOf(watch_ms);
  const restarts_max = restarts_least + restart_times * baseline.restarts_a_day;
  if (restarts > restarts_max)
    return `it had to be started again ${restarts} times, and ${restarts_max} times are the most`;
  if (days.unanswered_ms > window_hours * hour) return "it does not answer on its control socket";
  const whole = days.windows.slice(0, Math.floor(watched_ms / (window_hours * hour)));
  const memory = whole.slice(-growing_windows).map(({ memory_bytes }) => memory_bytes);
  const [first = 0, latest = 0] = [memory[0], memory.at(-1)];
  const grows = memory.every((bytes, place) => place === 0 || bytes > (memory[place - 1] ?? 0));
  if (memory.length === growing_windows && grows && latest - first > memory_growth_bytes)
    return `its memory grows: from ${megabytes(first)} to ${megabytes(latest)} in a day, and never less`;
  const extra_bytes = whole.at(-1)?.extra_bytes ?? 0;
  if (extra_bytes > data_growth_bytes)
    return `its data grow by ${megabytes(extra_bytes)} more than its readings need`;
  const deaf = days.heard.find(({ name, at_ms }) => {
    const make = baseline.heard.find((one) => one.name === name);
    return make !== undefined && watched_ms - at_ms > make.silence_ms;
  });
  return deaf && `nothing was heard of ${deaf.name}`;
}

/** Whether a make is judged in the days: one device may die in them, of two one would still speak. */
export function isWatched({ items, silence_ms }: Baseline["heard"][number], watch_ms: number): boolean {
  return items.length > 1 && silence_ms <= watch_ms;
}

/** The newest of the numbers that central must hold by now: the upload of each night has sent it, and may have been put off by one. */
export function numberDue(days: Days, { watch_ms }: DaysRules): Days["noted"][number] | undefined {
  const before_ms = days.watched_ms - upload_hours * hourOf(watch_ms);
  return days.noted.findLast(({ at_ms }) => at_ms <= before_ms);
}

/** The days once central is known to hold a number that was noted. */
export function withHeld(days: Days, { at_ms }: Days["noted"][number]): Days {
  return { ...days, upload_faults: 0, noted: days.noted.filter((one) => one.at_ms > at_ms) };
}

/** Times in a row that an upload may fail: another one may have been under way. */
export const upload_faults_max = 1;

const rounded = ({ monotonic_ms, unix_ms }: Seen["now"]) => ({
  monotonic_ms: Math.round(monotonic_ms),
  unix_ms,
});
const hourOf = (watch_ms: number) => Math.max(1, watch_ms / watch_hours);
const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;

/** Hours of `watch_seconds`, three days. */
const watch_hours = 72;
/** A look counts for no longer, in which memory and data are taken where they were least: a moment's peak is no growth. */
const window_hours = 6;
/** The first look comes soon after a start, and counts for no longer: devices have had no time to speak. */
const first_look_hours = 1;
const growing_windows = 4;
/** 2 MB an hour, from the first of these windows to the last. */
const memory_growth_bytes = 2e6 * window_hours * (growing_windows - 1);
/** So many more files than readings need, with 1 kB for each reading. */
const data_growth_bytes = 32e6;
const reading_bytes = 1_000;
/** In all days, besides three times those of a day of the release before. */
const restarts_least = 3;
const restart_times = 3;
/** After which a number must be at central: a night, and one more that was missed. */
const upload_hours = 30;
/** Numbers that are noted: one an hour. */
const noted_max = 40;
/** A clock that is put right by less hides no device. */
const clock_step_ms = hour_ms / 60;
