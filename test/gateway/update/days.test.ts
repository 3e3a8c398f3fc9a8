import { expect, test } from "bun:test";
import { day_ms, hour_ms } from "../../../src/base/time.ts";
import {
  afterLook,
  beginDays,
  faultInDays,
  isWatched,
  numberDue,
  type Seen,
  type SeenGateway,
  withHeld,
} from "../../../src/gateway/update/release-days.ts";
import type { UpdaterOptions } from "../../../src/gateway/update/release-trial.ts";
import { lookAgain } from "../../../src/gateway/update/release-watch.ts";
import type { Baseline, Days } from "../../../src/gateway/update/update-state.ts";
import { CommandFailed } from "../../../src/gateway/update/updated-home.ts";

const watch_ms = 3 * day_ms;
const look_ms = hour_ms / 2;
const make = { name: "sensors", items: ["one", "two"], silence_ms: 3 * hour_ms };
const baseline: Baseline = { heard: [make], restarts_a_day: 0, drivers: [], pages: [], uploads: true };

/** A box at a time after the switch; absent parts are as on a box where all is well. */
interface Box {
  readonly at_ms: number;
  readonly boot?: string;
  readonly monotonic_ms?: number;
  readonly unix_ms?: number;
  readonly restarts?: number;
  readonly memory?: number;
  readonly data?: number;
  readonly readings?: number;
  readonly heard?: string;
  readonly answers?: boolean;
  readonly paused?: boolean;
}

function seen(box: Box): Seen {
  const { at_ms, boot = "a", monotonic_ms = at_ms, unix_ms = Date.UTC(2026, 10, 1) + at_ms } = box;
  const { restarts = 0, memory = 80e6, data = 1e9, readings = 0, heard = String(at_ms) } = box;
  const gateway: SeenGateway = {
    paused: box.paused === true,
    memory_bytes: memory,
    epoch: "e",
    last_seq: readings,
    heard: { sensors: heard },
  };
  const answered = box.answers === false ? {} : { gateway };
  return { boot, now: { monotonic_ms, unix_ms }, restarts, data_bytes: data, ...answered };
}

/** Looks at a box each half hour for three days; the first fault, and when it was found. */
function judged(
  at: (at_ms: number) => Omit<Box, "at_ms">,
  { every_ms = look_ms, of = baseline }: { every_ms?: number; of?: Baseline } = {},
): { fault?: string; at_h: number } {
  const rules = { baseline: of, watch_ms };
  let days = beginDays(seen({ at_ms: 0, ...at(0) })) as Days;
  for (let at_ms = every_ms; days.watched_ms < watch_ms; at_ms += every_ms) {
    if (at_ms > 10 * watch_ms) throw new Error("it never ends");
    days = afterLook(days, seen({ at_ms, ...at(at_ms) }), rules);
    const fault = faultInDays(days, rules);
    if (fault !== undefined) return { fault, at_h: at_ms / hour_ms };
  }
  return { at_h: days.watched_ms / hour_ms };
}

test("a release with which all is well is watched for three days", () => {
  expect(judged(() => ({}))).toEqual({ at_h: 72 });
});

test("only time in which the box runs and the gateway answers counts, no look for more than six hours, and the first after a start for one", () => {
  const rules = { baseline, watch_ms };
  const first = beginDays(seen({ at_ms: 0 })) as Days;
  const watched = (box: Box) => afterLook(first, seen(box), rules).watched_ms;
  expect(watched({ at_ms: hour_ms })).toBe(hour_ms);
  // Off for a day, and on for an hour.
  expect(watched({ at_ms: day_ms, boot: "b", monotonic_ms: hour_ms })).toBe(hour_ms);
  expect(watched({ at_ms: day_ms })).toBe(6 * hour_ms);
  expect(watched({ at_ms: day_ms, boot: "b", monotonic_ms: 5 * hour_ms })).toBe(hour_ms);
  expect(watched({ at_ms: hour_ms, answers: false })).toBe(0);
});

test("a release that crashes every six minutes has to go within the hour, and one that crashes once a day as before stays", () => {
  expect(judged((at_ms) => ({ restarts: Math.floor(at_ms / (hour_ms / 10)) }))).toEqual({
    fault: "it had to be started again 5 times, and 3 times are the most",
    at_h: 0.5,
  });
  const daily = { of: { ...baseline, restarts_a_day: 1 } };
  expect(judged((at_ms) => ({ restarts: Math.floor((2 * at_ms) / day_ms) }), daily)).toEqual({ at_h: 72 });
  // systemd counts from 0 again after a start on purpose.
  const counted = judged((at_ms) => ({ restarts: Math.floor(at_ms / hour_ms) % 2 }));
  expect(counted.fault).toStartWith("it had to be started again 4 times");
});

test("a leak of 5 MB an hour is found after a day, and memory that comes and goes, or settles, is none", () => {
  const hours = (at_ms: number) => at_ms / hour_ms;
  const leak = judged((at_ms) => ({ memory: 80e6 + 5e6 * hours(at_ms) }));
  expect(leak).toEqual({
    fault: "its memory grows: from 83 MB to 170 MB in a day, and never less",
    at_h: 24,
  });
  expect(judged((at_ms) => ({ memory: 80e6 + 60e6 * (hours(at_ms) % 2) }))).toEqual({ at_h: 72 });
  expect(judged((at_ms) => ({ memory: 80e6 + Math.min(60e6, 5e6 * hours(at_ms)) }))).toEqual({ at_h: 72 });
  expect(judged((at_ms) => ({ memory: 80e6 + 1.5e6 * hours(at_ms) }))).toEqual({ at_h: 72 });
});

test("files may grow with the readings, and for a moment, and not by themselves", () => {
  const hours = (at_ms: number) => at_ms / hour_ms;
  const fills = judged((at_ms) => ({ data: 1e9 + 5e6 * hours(at_ms) }));
  expect(fills).toEqual({ fault: "its data grow by 60 MB more than its readings need", at_h: 18 });
  const records = judged((at_ms) => ({ data: 1e9 + 5e6 * hours(at_ms), readings: 6_000 * hours(at_ms) }));
  expect(records).toEqual({ at_h: 72 });
  // The database is written anew in some minutes.
  const peak = judged((at_ms) => ({ data: at_ms % day_ms === 0 ? 2e9 : 1e9 }));
  expect(peak).toEqual({ at_h: 72 });
});

test("a release that is deaf to a make after an hour has to go once its busiest device should have spoken", () => {
  const deaf = judged((at_ms) => ({ heard: String(Math.min(at_ms, hour_ms)) }));
  expect(deaf).toEqual({ fault: "nothing was heard of sensors", at_h: 4.5 });
  expect(isWatched(make, watch_ms)).toBe(true);
  // A single device may have an empty battery; one that is heard once a week is not missed in three days.
  expect(isWatched({ ...make, items: ["one"] }, watch_ms)).toBe(false);
  expect(isWatched({ ...make, silence_ms: 7 * day_ms }, watch_ms)).toBe(false);
});

test("a home that pauses its recording misses no device", () => {
  const paused = (at_ms: number) => at_ms > hour_ms && at_ms < day_ms;
  const at = (at_ms: number) => ({ paused: paused(at_ms), heard: String(paused(at_ms) ? 0 : at_ms) });
  expect(judged(at)).toEqual({ at_h: 72 });
});

test("a clock that is set back makes no device look unheard", () => {
  const back_ms = 10 * hour_ms;
  const start_ms = Date.UTC(2026, 10, 1);
  // The store keeps the latest time at which a device was heard.
  const at = (at_ms: number) => {
    const unix_ms = start_ms + at_ms - (at_ms >= day_ms ? back_ms : 0);
    return { unix_ms, heard: String(Math.max(unix_ms, start_ms + Math.min(at_ms, day_ms))) };
  };
  expect(judged(at)).toEqual({ at_h: 72 });
  // Over a power cut as well, and deafness after that is found.
  const deaf_ms = 2 * day_ms;
  const cut = judged((at_ms) => {
    const later = at_ms >= day_ms && { boot: "b", monotonic_ms: at_ms - day_ms };
    return { ...at(Math.min(at_ms, deaf_ms)), ...later, unix_ms: at(at_ms).unix_ms };
  });
  expect(cut).toEqual({ fault: "nothing was heard of sensors", at_h: 51.5 });
});

test("a number that was noted is due at central thirty hours later, and once it is there a later one is", () => {
  const rules = { baseline, watch_ms };
  let days = beginDays(seen({ at_ms: 0 })) as Days;
  const lookUntil = (until_ms: number) => {
    for (let at_ms = days.watched_ms + look_ms; at_ms <= until_ms; at_ms += look_ms)
      days = afterLook(days, seen({ at_ms, readings: Math.floor(at_ms / hour_ms) }), rules);
  };
  lookUntil(29 * hour_ms);
  expect(numberDue(days, rules)).toBeUndefined();
  lookUntil(32 * hour_ms);
  const due = numberDue(days, rules);
  expect(due).toEqual({ at_ms: 2 * hour_ms, epoch: "e", seq: 2 });
  if (due !== undefined) days = withHeld(days, due);
  expect(numberDue(days, rules)).toBeUndefined();
  lookUntil(watch_ms);
  expect(numberDue(days, rules)).toMatchObject({ seq: 42 });
});

test("an upload that central knows nothing of has to go at the second look, and one that cannot reach central never", async () => {
  const begun = beginDays(seen({ at_ms: 0, readings: 7 })) as Days;
  const trial = { phase: "days", version: "0.2.0", sha256: "", spent_ms: 0, runs: 1, baseline } as const;
  const looks = async (held: () => Promise<number>, upload: () => Promise<void>) => {
    let days = begun;
    for (let at_ms = look_ms; ; at_ms += look_ms) {
      const { gateway, data_bytes, ...rest } = seen({ at_ms, readings: 8 });
      const data = {
        bytesOfFiles: async () => data_bytes,
        heldAtCentral: held,
        uploadTruly: upload,
        async eraseInCopy() {},
      };
      const judge = { seen: async () => ({ ...rest, gateway }) };
      const options = { judge, data, target: { watch_ms, directory: "/" }, own: {}, log: { warn() {} } };
      const looked = await lookAgain(trial, days, options as unknown as UpdaterOptions);
      const { fault, over } = looked;
      if (fault !== undefined || over || at_ms > 2 * watch_ms) return { fault, over, at_h: at_ms / hour_ms };
      days = looked.days;
    }
  };
  const fails = (later: boolean) => async () => {
    throw new CommandFailed("no way", later);
  };
  const at_30 = { fault: "it cannot upload: no way", over: false, at_h: 30.5 };
  expect(await looks(async () => 6, fails(false))).toEqual(at_30);
  expect(await looks(async () => 8, fails(false))).toEqual({ fault: undefined, over: true, at_h: 72 });
  expect(
    await looks(
      async () => 6,
      async () => {},
    ),
  ).toEqual({ fault: undefined, over: true, at_h: 72 });
  const unreachable = { fault: undefined, over: false, at_h: 144.5 };
  expect(await looks(async () => 6, fails(true))).toEqual(unreachable);
  expect(await looks(fails(false) as () => Promise<never>, fails(false))).toEqual(unreachable);
});

test("a gateway that answers nobody for six hours at a time has to go, and none that is silent now and then", () => {
  const silent = judged((at_ms) => ({ answers: at_ms < hour_ms }));
  expect(silent).toEqual({ fault: "it does not answer on its control socket", at_h: 7 });
  expect(judged((at_ms) => ({ answers: (at_ms / hour_ms) % 8 < 4 }))).toEqual({ at_h: 72 });
});
