import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { HouseholdReport } from "../../../src/web/pages/report/household-report.ts";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { lintelHere } from "../../../testbed/command-here.ts";
import { Site } from "../../../testbed/front-door.ts";
import { makeMonth } from "../../demo/month.ts";

/** A demo's data, made once: a month up to now, with no driver to add to it. */
const site = new Site({ commands: lintelHere });
beforeAll(() => makeMonth(site.data));
afterAll(() => site.remove());

async function reported(...words: string[]): Promise<HouseholdReport> {
  const { code, out, said } = await site.lintel("report", "--data", site.data, "--json", ...words);
  expect({ code, said }).toEqual({ code: 0, said: "" });
  return JSON.parse(out);
}

test("a month of the demo: doses of both boxes, and walks at the speed of an old woman", async () => {
  const { pillboxes, walking } = await reported();
  expect(pillboxes.map(({ itemname }) => itemname)).toEqual(["pillbox-morning", "pillbox-evening"]);
  for (const { doses, reloads } of pillboxes) {
    const count = (status: string) => doses.filter((dose) => dose.status === status).length;
    expect(doses).toHaveLength(28);
    expect(count("taken")).toBeGreaterThan(18);
    expect(reloads.length).toBeGreaterThanOrEqual(3);
  }
  expect(walking).toHaveLength(1);
  const days = walking[0]?.days ?? [];
  const medians = days.flatMap(({ speeds }) => (speeds === undefined ? [] : [speeds.median]));
  expect(medians.length).toBeGreaterThan(25);
  expect(Math.min(...medians)).toBeGreaterThan(0.6);
  expect(Math.max(...medians)).toBeLessThan(1.1);
  expect(Math.max(...medians) - Math.min(...medians)).toBeGreaterThan(0.05);
});

test("in the power cut a dose is unknown or taken, never missed", async () => {
  const { pillboxes } = await reported("--item", "pillbox-evening");
  const [box] = pillboxes;
  expect(box?.unknown).toHaveLength(1);
  const from_ms = box?.unknown[0]?.from_ms ?? 0;
  const date = Temporal.Instant.fromEpochMilliseconds(from_ms)
    .toZonedDateTimeISO(box?.timezone ?? "")
    .toPlainDate();
  const dose = box?.doses.find((one) => one.date === date.toString());
  expect(["unknown", "taken"]).toContain(dose?.status ?? "");
});

test("asked for some items and days, it tells of those alone", async () => {
  const { pillboxes, walking } = await reported("--item", "pillbox-morning");
  expect([pillboxes.length, walking.length]).toEqual([1, 0]);
  const curtain = await reported("--item", "hall-curtain-2");
  expect([curtain.pillboxes.length, curtain.walking.length]).toEqual([0, 1]);
  const [since, until] = [pillboxes[0]?.doses[3]?.date ?? "", pillboxes[0]?.doses[5]?.date ?? ""];
  const short = await reported("--since", since, "--until", until);
  expect(short.pillboxes[0]?.doses).toEqual(pillboxes[0]?.doses.slice(3, 5) ?? []);
  expect(short.walking[0]?.days).toHaveLength(2);
});

test("for people it draws weeks and boxes, without a colour in a pipe", async () => {
  const { code, out, said } = await site.lintel("report", "--data", site.data);
  expect({ code, said }).toEqual({ code: 0, said: "" });
  expect(out).toContain("Sun        Mon        Tue        Wed        Thu        Fri        Sat");
  expect(out).toMatch(/✓ \d\d:\d\d/);
  expect(out).toMatch(/\d{4}-\d\d-\d\d +\d+ +0\.\d\d +0\.\d\d–[01]\.\d\d +├[─▒█]+┤/);
  expect(out).not.toContain("\u001b");
  expect(out.split("\n").filter((line) => line !== line.trimEnd())).toEqual([]);
});

test("what can't be reported is one line that says why", async () => {
  const cases: [string[], string][] = [
    [["--item", "pillbox-mornig"], "the inventory has no item pillbox-mornig: did you mean pillbox-morning?"],
    [["--home", "99"], "nothing is known of home 99: give --home a home that has items, by its number"],
    [
      ["--since", "2026-03-02", "--until", "2026-03-02"],
      "--since 2026-03-02 is not before --until 2026-03-02: give an earlier --since",
    ],
  ];
  for (const [words, line] of cases) {
    const { code, out, said } = await site.lintel("report", "--data", site.data, ...words);
    expect({ code, out, said }).toEqual({ code: 2, out: "", said: `lintel: ${line}\n` });
  }
  const { code, said } = await site.lintel("report", "--data", site.data, "--since", "2026-02-30");
  expect([code, said.trimEnd().split("\n").length]).toEqual([2, 1]);
  expect(said).toContain("It must be a day such as 2026-01-31");
});

test("a configuration's own lines are used, and a faulty one is named with its line", async () => {
  const place = (index: number, metres: number) => `{ item = "hall-curtain-${index}", metres = ${metres} }`;
  const configured = (sensors: string) => {
    writeFileSync(site.config, `data = "${site.data}"\n\n[walking]\nhall = [${sensors}]\n`);
    return site.lintel("report", "--config", site.config, "--json");
  };
  const twice = await configured([place(1, 0), place(2, 1.5), place(3, 3), place(4, 4.5)].join(", "));
  const [wide] = (JSON.parse(twice.out) as HouseholdReport).walking;
  const [known] = (await reported()).walking;
  expect(wide?.walks[0]?.speed).toBeCloseTo(2 * (known?.walks[0]?.speed ?? 0), 2);
  const faults: [string, string][] = [
    [
      place(1, 0),
      "walking.hall has 1 sensors: name at least 3: with fewer, speeds cannot be told from errors",
    ],
    [
      [place(1, 0), place(2, 1), place(2, 2)].join(","),
      "walking.hall has hall-curtain-2 twice: name each sensor once",
    ],
    [
      [place(1, 0), place(2, 1), place(3, 1)].join(","),
      "walking.hall has hall-curtain-2 and hall-curtain-3 at the same place: give each its own distance in metres, 0.1 apart or more",
    ],
  ];
  for (const [sensors, line] of faults) {
    const { code, said } = await configured(sensors);
    expect({ code, said: said.replace(site.config, "F") }).toEqual({
      code: 2,
      said: `lintel: F line 4: ${line}\n`,
    });
  }
  const wrong = await configured('{ item = "hall-curtain-1", meters = 0 }');
  expect([wrong.code, wrong.said.includes("line 4: walking.hall is")]).toEqual([2, true]);
});

test("of days before anything was heard there is nothing to tell, and without [walking] there are no lines", async () => {
  const bare = join(site.directory, "bare");
  cpSync(site.data, bare, { recursive: true });
  writeFileSync(join(bare, "lintel.toml"), "");
  const { pillboxes, walking } = JSON.parse(
    (await site.lintel("report", "--data", bare, "--json", "--until", "2026-01-02")).out,
  ) as HouseholdReport;
  expect(walking).toEqual([]);
  expect(pillboxes[0]?.doses).toEqual([]);
});

test("the page has the numbers of --json, each of them, and asks for nothing outside", async () => {
  const file = join(site.data, "report.html");
  const report = await reported("--html", file);
  const html = await Bun.file(file).text();
  expect(statSync(file).mode & 0o777).toBe(0o600);

  const shown = new Map<string, number>();
  for (const [, value, path, per = "1", text] of html.matchAll(
    /<data value="([^"]*)" data-of="([^"]*)"(?: data-per="(\d+)")?>([^<]*)<\/data>/g,
  )) {
    if (value === "null") {
      expect([valueAt(report, path ?? ""), text]).toEqual([null, "unknown"]);
      continue;
    }
    expect(valueAt(report, path ?? "")).toBe(Number(value));
    const digits = (text?.split(".")[1] ?? "").length;
    const read = Number(text?.replaceAll(",", ""));
    expect(Math.abs(read - Number(value) / Number(per))).toBeLessThanOrEqual(0.5 * 10 ** -digits + 1e-9);
    shown.set(path ?? "", Number(value));
  }
  const wanted = [
    ...pathsIn(report, "walking", /^walking\.\d+\.weeks\.\d+\.speeds\./),
    ...pathsIn(report, "weights", /^weights\.\d+\.weeks\.\d+\.kilograms\./),
    ...pathsIn(report, "sleep", /^sleep\.\d+\.days\.\d+\.asleep\./),
    ...pathsIn(report, "activity", /^activity\.\d+\.days\.\d+\.events$/),
    ...pathsIn(report, "missing", /^missing\.\d+\.total\./),
  ];
  for (const kind of ["walking", "weights", "sleep", "activity", "missing"])
    expect(wanted.some((path) => path.startsWith(kind))).toBe(true);
  expect([...shown.keys()].sort()).toEqual(wanted.sort());

  const cells = [...html.matchAll(/data-date="([^"]*)" data-status="([^"]*)"/g)].map(
    ([, date, status]) => `${date} ${status}`,
  );
  const doses = report.pillboxes.flatMap((box) => box.doses.map(({ date, status }) => `${date} ${status}`));
  expect(cells.sort()).toEqual(doses.sort());
  const marks = [...html.matchAll(/<path class="minute"[^>]* d="([^"]*)"/g)].reduce(
    (sum, [, d = ""]) => sum + (d.split("M").length - 1),
    0,
  );
  expect(marks).toBe(
    report.activity.flatMap(({ days }) => days).reduce((sum, { minutes }) => sum + minutes.length, 0),
  );
  expect(html).toContain('fill="url(#nothing-not-listening)"');

  expect(html).not.toContain("<script");
  expect(html.match(/(?:src|href|action)="(?!data:)[^"]*"|url\((?!#)[^)]*\)|@import/g)).toBeNull();
});

test("central's store is cut to the home that is named, and tells the same of it as the gateway", async () => {
  const central = join(site.data, "central");
  const file = join(site.data, "central.html");
  const whole = await site.lintel("report", "--data", central, "--html", file);
  expect({ code: whole.code, said: whole.said }).toEqual({
    code: 2,
    said: "lintel: a page is of one home, and there are 4 here: give --home, of 1, 2, 3, 4\n",
  });
  const { code, out } = await site.lintel(
    "report",
    "--data",
    central,
    "--home",
    "1",
    "--html",
    file,
    "--json",
  );
  expect(code).toBe(0);
  const there: HouseholdReport = JSON.parse(out);
  const here = await reported();
  for (const part of ["weights", "sleep", "activity"] as const) expect(there[part]).toEqual(here[part]);
  const names = (report: HouseholdReport) => report.missing.map(({ itemname }) => itemname).sort();
  expect(names(there)).toEqual(names(here));
  expect(await Bun.file(file).text()).toContain("<h1>Home 1</h1>");
});

test("what is listened to, missing and unknown adds up to every day of the report", async () => {
  const { missing } = await reported();
  for (const { days, total } of missing)
    for (const { minutes, listened, unknown, missing } of [...days, total])
      expect(listened + unknown + Object.values(missing).reduce((sum, one) => sum + one, 0)).toBe(minutes);
});

test.skipIf(chromiumPath === undefined)(
  `a browser shows the page as it lies there, wide and narrow, light and dark${chromiumPath === undefined ? `: ${noChromium}` : ""}`,
  async () => {
    const file = join(site.data, "report.html");
    await reported("--html", file);
    await using browser = await TestBrowser.start();
    for (const [width, colorScheme] of [
      [390, "dark"],
      [1280, "light"],
    ] as const) {
      await using visit = await browser.visit({
        viewport: { width, height: 900 },
        colorScheme,
      });
      const asked: string[] = [];
      visit.page.on("request", (request) => asked.push(request.url()));
      await visit.page.goto(pathToFileURL(file).href);
      expect(asked).toEqual([pathToFileURL(file).href]);
      const plots: { height: number; right: number }[] = await visit.page.evaluate(
        `[...document.querySelectorAll(".rows, .field, .covered")].map((one) => one.getBoundingClientRect()).map(({ height, right }) => ({ height, right }))`,
      );
      expect(plots.length).toBeGreaterThan(20);
      for (const { height, right } of plots) {
        expect(height).toBeGreaterThan(10);
        expect(right).toBeLessThanOrEqual(width);
      }
    }
  },
);

function valueAt(report: object, path: string): unknown {
  return path.split(".").reduce<unknown>((at, name) => (at as Record<string, unknown>)?.[name], report);
}

/** Paths of all numbers below one of the report's parts that look so. */
function pathsIn(report: HouseholdReport, part: keyof HouseholdReport, form: RegExp): string[] {
  const found: string[] = [];
  const walk = (at: unknown, path: string) => {
    if (typeof at === "number" && form.test(path)) found.push(path);
    else if (typeof at === "object" && at !== null)
      for (const [name, value] of Object.entries(at)) walk(value, `${path}.${name}`);
  };
  walk(report[part], part);
  return found;
}
