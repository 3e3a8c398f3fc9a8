import { afterAll, beforeAll, expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import { demoHome } from "../../../src/demo/devices.ts";
import { quartilesOf } from "../../../src/domain/derived/quartiles.ts";
import type { DeviceData } from "../../../src/web/pages/device/device-data.ts";
import type { HomePageData } from "../../../src/web/pages/home/home-data.ts";
import type { HomeDayData } from "../../../src/web/pages/home-day/home-day-data.ts";
import { numberText } from "../../../src/web/pages/time-text.ts";
import { demoFrom_ms, demoNow_ms, serveDemoHistory } from "./demo-history.ts";
import type { PagesServing } from "./device-home.ts";

const [now_ms, from_ms] = [demoNow_ms, demoFrom_ms];

let serving: PagesServing;
beforeAll(async () => {
  serving = await serveDemoHistory();
});
afterAll(() => serving[Symbol.asyncDispose]());

type Row = Readonly<Record<string, unknown>>;

/** Records of a measure, as the interface answers them; the oldest first. */
function derived(name: string): Promise<readonly Row[]> {
  const path = `/v0.9/homes/${demoHome}/derived/${name}`;
  const asked =
    answered.get(name) ?? serving.records(path).then((records: readonly Row[]) => records.toReversed());
  answered.set(name, asked);
  return asked;
}
const answered = new Map<string, Promise<readonly Row[]>>();

async function shownAt<Data>(path: string): Promise<{ data: Data; text: string }> {
  const page = await (await serving.ask(path)).text();
  const [, json = ""] = /id="shown">(.*?)<\/script>/s.exec(page) ?? [];
  return {
    data: JSON.parse(json).data,
    text: page.replace(/<script.*?<\/script>/gs, "").replace(/<[^>]*>/g, ""),
  };
}

/** A form of sentence, and what the interface has in the place of each of its groups. */
interface Sentence {
  readonly form: RegExp;
  readonly measure: string;
  readonly numbers: (rows: readonly Row[], found: readonly (string | undefined)[]) => readonly unknown[];
  /** The device that the rows are of; absent: the home. */
  readonly field?: string;
}

const number = (text: string | undefined) => (text === undefined ? undefined : Number(text));
/** `8\u00a0h\u00a010`, `25 min`. */
const minutes = (text: string | undefined) => {
  if (text === undefined) return undefined;
  const [, hours, rest] = /^(?:(\d+)\sh\s)?(\d+)(?:\smin)?$/.exec(text) ?? [];
  return 60 * Number(hours ?? 0) + Number(rest);
};
const times = (text: string | undefined) =>
  text === undefined
    ? undefined
    : (["never", "once", "twice"].indexOf(text) + 1 || Number.parseInt(text, 10) + 1) - 1;

const valuesOf = (rows: readonly Row[], field: string) =>
  rows.flatMap((row) => (row[field] === null ? [] : [Number(row[field])]));
const median = (values: readonly number[]) => quartilesOf([...values])?.median;
const last = (rows: readonly Row[], field: string) => valuesOf(rows, field).at(-1);
const usual = (rows: readonly Row[], field: string) => median(valuesOf(rows, field).slice(0, -1));
const inWeek = (rows: readonly Row[], weeks: number) =>
  rows.filter(({ stamp }) => Math.floor((now_ms - Number(stamp) * 1_000) / (7 * day_ms)) === weeks);
const rounded = (value: number | undefined, digits = 0) =>
  value === undefined ? undefined : Number(numberText(value, "en", digits).replaceAll(",", ""));

const sentences: readonly Sentence[] = [
  {
    form: /^Took (\d+) of (\d+) doses in (\d+) days(?:; last missed [^.]+)?\.(?: (\d+) more (?:is|are) not known\.)?$/,
    measure: "doses",
    field: "itemname",
    numbers: (all, [taken, known, days, unknown]) => {
      // From the first day of which anything is known.
      const rows = all.slice(all.findIndex(({ status }) => status !== "unknown"));
      const count = (...statuses: string[]) =>
        rows.filter(({ status }) => statuses.includes(`${status}`)).length;
      const missing = count("unknown");
      return [
        [number(taken), count("taken", "late")],
        [number(known), count("taken", "late", "missed")],
        [number(days), new Set(rows.map(({ day }) => day)).size],
        [number(unknown), missing === 0 ? undefined : missing],
      ];
    },
  },
  {
    form: /^([\d.]+) kg this week, (?:up|down) ([\d.]+) kg in (?:a|(\d+)) weeks?\.$/,
    measure: "weight_daily",
    field: "itemname",
    numbers: (rows, [week, change, weeks]) => {
      const of = (ago: number) => median(valuesOf(inWeek(rows, ago), "weight_kg")) ?? Number.NaN;
      return [
        [number(week), rounded(of(0), 1)],
        [number(change), rounded(Math.abs(of(0) - of(number(weeks) ?? 1)), 1)],
      ];
    },
  },
  {
    form: /^Slept (.+?) (?:last night|in the night to \w+)(?:, usually (.+))?\.$/,
    measure: "nights",
    numbers: (rows, [night, often]) => [
      [minutes(night), rounded(last(rows, "asleep_min"))],
      [minutes(often), rounded(usual(rows, "asleep_min"))],
    ],
  },
  {
    form: /^(?:Not up|Up (.+?)) (?:last night|in the night to \w+)(?:, as usual|, usually (.+))?\.$/,
    measure: "nights",
    numbers: (rows, [up, often]) => [
      [times(up) ?? 0, last(rows, "breaks")],
      ...(often === undefined ? [] : [[times(often), rounded(usual(rows, "breaks"))]]),
    ],
  },
  {
    form: /^(?:Not out|Out for (.+?)) (?:today|yesterday|on \w+)(?:, usually (.+) a day)?\.$/,
    measure: "out_of_home",
    numbers: (rows, [out, often]) => [
      [minutes(out) ?? 0, rounded(last(rows, "away_min"))],
      [minutes(often), rounded(usual(rows, "away_min"))],
    ],
  },
  {
    form: /^(?:Not in|In) the (.+?)(?: (once|twice|\d+ times))? (?:today|yesterday|on \w+)(?:, as usual|, usually (.+))?\.$/,
    measure: "room_days",
    numbers: (rows, [room, visits, often]) => {
      const own = rows.filter((row) => row["room"] === room);
      return [
        [times(visits) ?? 0, last(own, "visits")],
        ...(often === undefined ? [] : [[times(often), rounded(usual(own, "visits"))]]),
      ];
    },
  },
  {
    form: /^Walks at ([\d.]+)\u00a0m\/s this week(?:, as usual|, usually ([\d.]+))?\.$/,
    measure: "walks",
    numbers: (rows, [speed, often]) => {
      const isNew = ({ stamp }: Row) => now_ms - Number(stamp) * 1_000 < 7 * day_ms;
      const before = rounded(
        median(
          valuesOf(
            rows.filter((row) => !isNew(row)),
            "speed",
          ),
        ),
        2,
      );
      const week = rounded(median(valuesOf(rows.filter(isNew), "speed")), 2);
      return [
        [number(speed), week],
        [number(often) ?? week, before],
      ];
    },
  },
];

test("each number that the pages of the demo's home answer with is the interface's", async () => {
  const home = await shownAt<HomePageData>("/");
  const used = new Set<Sentence>();
  const silent: string[] = [];
  for (const { kind, name, subtype } of home.data.devices) {
    const { data, text } = await shownAt<DeviceData>(`/devices/${kind}/${encodeURIComponent(name)}`);
    if (data.answer === null) {
      silent.push(`${subtype} ${name}`);
      continue;
    }
    expect(text).toContain(data.answer);
    const sentence = sentences.find(({ form }) => form.test(data.answer ?? ""));
    // A sentence of another form would have numbers that nobody compares.
    if (sentence === undefined) throw new Error(`${name}: ${data.answer}`);
    used.add(sentence);
    const { form, measure, field, numbers } = sentence;
    const rows = (await derived(measure)).filter((row) => field === undefined || row[field] === name);
    for (const pair of numbers(rows, (form.exec(data.answer) ?? []).slice(1)) as [unknown, unknown][])
      expect([name, data.answer, pair[0]]).toEqual([name, data.answer, pair[1]]);
  }
  expect(sentences.filter((one) => !used.has(one)).map(({ form }) => form.source)).toEqual([]);
  // Doors of cupboards tell of no measure.
  expect(silent.filter((one) => !one.startsWith("door "))).toEqual([]);
});

test("the page of the home has the walks and doses of the interface", async () => {
  const { data, text } = await shownAt<HomePageData>("/");
  const isShown = ({ stamp }: Row) =>
    Number(stamp) * 1_000 >= data.window.from_ms && Number(stamp) * 1_000 < data.window.to_ms;
  const walks = valuesOf((await derived("walks")).filter(isShown), "speed");
  expect(text).toContain(`walking ${rounded(median(walks), 2)}\u00a0m/s, ${walks.length} passes`);
  const doses = await derived("doses");
  const boxes = data.devices.flatMap(({ name, latest }) =>
    latest?.type === "doses" ? [{ name, latest }] : [],
  );
  expect(boxes).toHaveLength(2);
  for (const { name, latest } of boxes) {
    const rows = doses.filter((row) => row["itemname"] === name).slice(-7);
    expect(latest.doses.map(({ date, status }) => [date, status] as unknown[])).toEqual(
      rows.map(({ day, status }) => [day, status]),
    );
  }
});

/** Numbers in the answer of a day, each with the usual one. */
const ofDays: readonly (readonly [
  form: RegExp,
  measure: string,
  field: string,
  read: (text: string) => unknown,
  digits?: number,
])[] = [
  [/slept (\d+\sh\s\d+)(?:, usually (\d+\sh\s\d+))?/i, "nights", "asleep_min", minutes],
  [
    /(?:not )?up(?: (once|twice|\d+ times))? in the night(?:, usually (never|once|twice|\d+ times))?/i,
    "nights",
    "breaks",
    (text) => (text === "" ? 0 : times(text)),
  ],
  [
    /(?:not out|out for (\d+\sh\s\d+|\d+\smin))(?:, usually (\d+\sh\s\d+|\d+\smin))?/i,
    "out_of_home",
    "away_min",
    (text) => (text === "" ? 0 : minutes(text)),
  ],
  [/walked at (\d+\.\d+)\u00a0m\/s(?:, usually (\d+\.\d+))?/i, "walk_days", "speed", number, 2],
  [
    /took ([\d,]+) steps(?:, usually ([\d,]+))?/i,
    "steps_daily",
    "steps",
    (text) => number(text.replaceAll(",", "")),
  ],
  [/weighed (\d+\.\d+) kg(?:, usually (\d+\.\d+))?/i, "weight_daily", "weight_kg", number, 1],
];

test("the page of a day begins with the numbers of its measures, beside the medians of the four weeks before", async () => {
  const used = new Set<string>();
  const doses = await derived("doses");
  for (let day = 8; day <= 19; day += 1) {
    const date = `2026-11-${String(day).padStart(2, "0")}`;
    const { data, text } = await shownAt<HomeDayData>(`/day?date=${date}`);
    let answer = data.answer ?? "";
    expect(text).toContain(answer);
    for (const [form, measure, field, read, digits = 0] of ofDays) {
      const [found, value, usual] = form.exec(answer) ?? [];
      if (found === undefined) continue;
      used.add(field);
      answer = answer.replace(found, "");
      const rows = await derived(measure);
      const own = rows.find((row) => row["day"] === date);
      const before = rows.filter((row) => {
        const ago_s = Number(own?.["stamp"]) - Number(row["stamp"]);
        return ago_s > 0 && ago_s <= 28 * 86_400 + 3_600 && row["source"] === own?.["source"];
      });
      expect([date, found, read(value ?? "")]).toEqual([date, found, rounded(Number(own?.[field]), digits)]);
      const often = quartilesOf(valuesOf(before, field));
      if (usual !== undefined)
        expect([date, found, read(usual)]).toEqual([date, found, rounded(often?.median, digits)]);
    }
    const own = doses.filter((row) => row["day"] === date);
    const count = (...statuses: string[]) =>
      own.filter(({ status }) => statuses.includes(`${status}`)).length;
    const [, taken, known] = /Took (\d) of (\d) doses?\./.exec(answer) ?? [];
    expect([date, number(taken), number(known)]).toEqual([
      date,
      count("taken", "late"),
      count("taken", "late", "missed"),
    ]);
    const [, unknown = "0"] = /(\d) more dose is not known\./.exec(answer) ?? [];
    expect([date, number(unknown)]).toEqual([date, count("unknown")]);
    // No number is left that nobody compared.
    expect(answer.replace(/Took \d of \d doses?\.|\d more dose is/g, "")).not.toMatch(/\d/);
  }
  expect(used.size).toBe(ofDays.length);
});

test("the page of a week begins with the medians of its days, and that of a kind with its own measure alone", async () => {
  const week = (await shownAt<HomeDayData>("/day?date=2026-11-19&span=week")).data.answer ?? "";
  const isIn = ({ day }: Row) => `${day}` >= "2026-11-13" && `${day}` <= "2026-11-19";
  const [, slept] = /slept (\d+\sh\s\d+) a night/i.exec(week) ?? [];
  const nights = (await derived("nights")).filter(isIn);
  expect(minutes(slept)).toBe(rounded(median(valuesOf(nights, "asleep_min"))));
  const doors = (await shownAt<HomeDayData>("/day?date=2026-11-19&only=Doors")).data.answer;
  expect(doors).toMatch(/^Out for [^.]+\.$/);
});

/** Wordings that said nothing, or something else, to the people who tried the pages. */
const gone =
  /no device comes in|active for \d+ (days|weeks)|(some|many) steps for|Nobody any more|time of UTC|Keep it\b|battery \d+\.\d+ V/;

test("no page of that home says what nobody understood, or begins before there was anything", async () => {
  const home = await shownAt<HomePageData>("/");
  const paths = home.data.devices.map(({ kind, name }) => `/devices/${kind}/${encodeURIComponent(name)}`);
  for (const path of ["/", "/?span=week", "/day", "/recorded", "/mesh", "/acceptance", ...paths]) {
    const { text, data } = await shownAt<Partial<DeviceData>>(path);
    expect([path, gone.exec(text)?.[0]]).toEqual([path, undefined]);
    if (data.span === undefined || data.span.edges_ms === undefined) continue;
    expect(data.span.from_ms).toBeGreaterThanOrEqual(from_ms - day_ms);
    // One legend for all plots of the page.
    expect(text.split("nothing happened").length - 1).toBeLessThanOrEqual(1);
  }
});
