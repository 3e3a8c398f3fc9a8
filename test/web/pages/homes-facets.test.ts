import { afterAll, beforeAll, expect, test } from "bun:test";
import { day_ms, hour_ms } from "../../../src/base/time.ts";
import { importDocument } from "../../../src/import/file-import.ts";
import { activitySvg } from "../../../src/web/pages/homes/activity-picture.tsx";
import { likelyLoss } from "../../../src/web/pages/homes/homes-data.ts";
import { type HomesCentral, now_ms, serveHomes } from "./homes-central.ts";

let served: HomesCentral;
beforeAll(async () => {
  served = await serveHomes();
  const programme = {
    homes: [
      { homeid: 3, citystatename: "Oregon", countryname: "USA" },
      { homeid: 4, citystatename: "Oregon", countryname: "USA" },
      { homeid: 5, countryname: "Norway" },
      { homeid: 6 },
    ],
    projects: [{ projectid: 1 }],
    studies: [{ studyid: 8, studyname: "Sleep" }],
    subjects: [{ subjectid: 30 }, { subjectid: 50 }],
    project_enrollments: [
      { subjectid: 30, projectid: 1, homeid: 3 },
      { subjectid: 50, projectid: 1, homeid: 5 },
    ],
    study_enrollments: [
      { subjectid: 30, studyid: 8 },
      { subjectid: 50, studyid: 8 },
    ],
  };
  const { store } = served.central;
  await importDocument({ name: "programme", text: JSON.stringify(programme), store, dryRun: false });
});
afterAll(() => served[Symbol.asyncDispose]());

interface Data {
  readonly homes: number;
  readonly all: number;
  readonly visits: number;
  readonly facets: readonly {
    readonly name: string;
    readonly values: readonly { readonly value: string; readonly text: string; readonly homes: number }[];
  }[];
  readonly view: { readonly rows: readonly { readonly homeid: number }[] };
}

async function dataAt(path: string, token?: string): Promise<Data> {
  return (await served.data(path, token ?? (await served.mint("read")))) as unknown as Data;
}

async function rowsAt(path: string, token?: string): Promise<number[]> {
  return (await dataAt(path, token)).view.rows.map(({ homeid }) => homeid);
}

test("the address chooses homes by what they need, by region, study and version, and all of the page is about these", async () => {
  expect(await rowsAt("/?region=Oregon")).toEqual([3, 4]);
  expect(await rowsAt("/?region=Norway")).toEqual([5]);
  expect(await rowsAt("/?study=8")).toEqual([3, 5]);
  expect(await rowsAt("/?version=3.0.0")).toEqual([3, 6]);
  expect(await rowsAt("/?need=visit")).toEqual([4, 5]);
  expect(await rowsAt("/?need=none")).toEqual([3, 6]);
  expect(await rowsAt("/?need=battery_low")).toEqual([4]);
  expect(await dataAt("/?study=8&region=Norway")).toMatchObject({ all: 4, homes: 1, visits: 1 });
  expect(await rowsAt("/?region=nowhere")).toEqual([]);
});

test("each facet counts the homes that the others leave", async () => {
  const { facets } = await dataAt("/?region=Oregon");
  const values = (name: string) =>
    facets.find((one) => one.name === name)?.values.map(({ text, homes }) => [text, homes]);
  expect(values("region")).toEqual([
    ["Oregon", 2],
    ["Norway", 1],
  ]);
  expect(values("study")).toEqual([["Sleep", 1]]);
  expect(values("version")).toEqual([
    ["3.0.0", 1],
    ["4.0.0", 1],
  ]);
});

test("a token of one home is told of no study or region of another", async () => {
  const token = await served.mint("read", { homes: [4], projects: [], studies: [] });
  const { all, facets } = await dataAt("/", token);
  expect([all, facets.map(({ name, values }) => [name, values.length])]).toEqual([
    1,
    [
      ["need", 4],
      ["region", 1],
      ["study", 0],
      ["version", 1],
    ],
  ]);
  expect(await rowsAt("/?study=8", token)).toEqual([]);
});

test("a form chooses without script, and its links keep what is chosen", async () => {
  const token = await served.mint("read");
  const text = await (await served.page("/?region=Oregon&sort=upload", token)).text();
  expect(text).toContain("<h1>1 of these 2 homes needs a visit.</h1>");
  expect(text).toContain('<option value="Oregon" selected>');
  expect(text).toContain('<input type="hidden" name="sort" value="upload"');
  expect(text).toContain('href="/?show=missing&amp;region=Oregon"');
  expect(text).toContain('href="/?sort=upload#shown-homes">Show all 4');
});

test("the homes whose loss is compared are those that most likely lose most", () => {
  const loss = (last_upload_ms: number | null, heard: readonly (number | null)[], items = 4) => {
    const silent = heard.map((heard_ms) => ({ typename: "scales", itemname: "one", heard_ms }));
    return likelyLoss({ last_upload_ms, items, silent }, now_ms);
  };
  expect(loss(now_ms - 20 * hour_ms, [])).toBeCloseTo(20 / 168);
  expect(loss(now_ms - 20 * day_ms, [])).toBe(1);
  expect(loss(null, [], 0)).toBe(1);
  expect(loss(now_ms, [now_ms - 14 * day_ms, null])).toBe(0.5);
});

test("the picture of a home has the active minutes of the interface", async () => {
  const token = await served.mint("read");
  const picture = await (await served.page("/plots/homes/3/activity.svg", token)).text();
  const cells = [...picture.matchAll(/<path[^>]* d="([^"]*)"/g)].flatMap(([, path]) =>
    [...(path ?? "").matchAll(/M(\d+) (\d+)h/g)].map(([, x, y]) => `${Number(x) / 5} ${Number(y) / 4}`),
  );
  const answer = await fetch(`${served.central.origin}/v0.9/homes/3/derived/activity`, {
    headers: { Authorization: `bearer ${token}`, Accept: "application/json" },
  });
  const rows = (await answer.json()) as { day: string; hour: number; active_min: number | null }[];
  const drawn = rows.filter(({ active_min }) => active_min !== 0);
  // Sunday the 22nd is on top.
  const placeOf = (day: string) => (Date.UTC(2026, 10, 22) - Date.parse(day)) / day_ms;
  expect(cells.toSorted()).toEqual(drawn.map(({ day, hour }) => `${hour} ${placeOf(day)}`).toSorted());
  expect(drawn.length).toBeGreaterThan(100);
});

test("a picture tells apart four levels of activity and what is not known", () => {
  const minutes = [0, 1, 9, 10, 24, 25, 60, null];
  const rows = minutes.map((active_min, hour) => ({
    ...{ at_ms: 0, day: "2026-11-22", observed: 1 },
    values: { hour, active_min },
  }));
  const picture = activitySvg(rows, ["2026-11-22", "2026-11-21"]);
  // The day before the first reading has no ground.
  expect(picture).toContain('<rect fill="var(--raised)" width="120" height="4">');
  const levels = [...picture.matchAll(/<path fill="([^"]*)"(?: opacity="([^"]*)")? d="([^"]*)"/g)].map(
    ([, fill, opacity = "", path = ""]) => [fill, opacity.slice(0, 4), path.split("M").length - 1],
  );
  expect(levels).toEqual([
    ["var(--accent)", "0.33", 2],
    ["var(--accent)", "0.66", 2],
    ["var(--accent)", "1", 2],
    ["url(#nothing-not-listening)", "", 1],
  ]);
});
