import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { hour_ms, localDate } from "../../../src/base/time.ts";
import { quartilesOf } from "../../../src/domain/derived/quartiles.ts";
import { decodePlot, type PlotData } from "../../../src/web/pages/device/day-plots.ts";
import type { DeviceData } from "../../../src/web/pages/device/device-data.ts";
import { chromiumPath, noChromium, TestBrowser, type Visit } from "../../../testbed/browser.ts";
import {
  boxPage,
  doorDrawn,
  doorName,
  doorPage,
  doubt,
  fillBox,
  fillDoor,
  fillLine,
  line,
  longDay,
  now_ms,
  zone,
} from "./device-history.ts";
import { type PagesServing, serveHome } from "./device-home.ts";

let serving: PagesServing;
beforeAll(async () => {
  serving = await serveHome({ now_ms, home: 12, zone, doubts: [doubt], walking: [line] });
  await fillDoor(serving.store);
  await fillBox(serving.store);
  await fillLine(serving.store);
});
afterAll(() => serving[Symbol.asyncDispose]());

const span = "from=2026-10-20&until=2026-11-01";

describe("a device's files", () => {
  const file = `/downloads/wirelesssensors/${doorName}/events`;

  test("have the readings of the days shown, as the interface answers the request on the page", async () => {
    const page = await (await serving.ask(`${doorPage}?${span}`)).text();
    const [, request = ""] =
      /'(http:[^']+)'/.exec(page.replaceAll("&amp;", "&").replaceAll("&#39;", "'")) ?? [];
    const records = await serving.records(request);
    // Two of each day, and four of the day on which half past two came twice.
    expect(records).toHaveLength(12 * 2 + 4);
    expect(await (await serving.ask(`${file}.json?${span}`)).json()).toEqual(records);
    const csv = await (await serving.ask(`${file}.csv?${span}`)).text();
    const doorId = (await serving.store.item("wirelesssensors", doorName))?.record.itemid;
    expect(csv).toBe(
      `itemid,itemname,homeid,stamp,event,clock\r\n${records
        .map(
          ({ stamp = 0, event }) =>
            `${doorId},${doorName},12,${new Date(stamp).toISOString()},${event},synchronised\r\n`,
        )
        .join("")}`,
    );
  });

  test("are empty for days without readings, and as page and plot refused for days that there are not", async () => {
    const before = "from=2020-01-01&until=2020-01-02";
    expect(await (await serving.ask(`${file}.json?${before}`)).json()).toEqual([]);
    for (const days of [
      "from=2026-11-02&until=2026-11-01",
      "from=2026-13-01",
      "span=9w",
      "from=2020-01-01&until=2026-01-01",
    ])
      for (const place of [`${file}.json`, doorPage, `/plots/wirelesssensors/${doorName}/activity`])
        expect((await serving.ask(`${place}?${days}`)).status).toBe(422);
    const refusal = await (await serving.ask(`${doorPage}?span=9w`)).text();
    expect(refusal).toContain('<a href="?">open the page without it</a>');
  });
});

test("what a token may not see is at no address of a device, and neither is what there is not", async () => {
  const places = [
    doorPage,
    `/plots/wirelesssensors/${doorName}/activity`,
    `/downloads/wirelesssensors/${doorName}/events.json`,
  ];
  for (const place of places) expect((await serving.ask(place)).status).toBe(200);
  for (const place of places) expect((await serving.ask(place, serving.tokens.foreign)).status).toBe(404);
  for (const place of places) expect((await serving.ask(place.replace(doorName, "nobody"))).status).toBe(404);
  expect((await serving.ask(`/devices/toasters/${doorName}`)).status).toBe(404);
});

test("a plot of a year has fewer steps than minutes, and all readings of the year", async () => {
  const url = `/plots/wirelesssensors/${doorName}/activity`;
  const plotOf = async (span: string) =>
    decodePlot(await (await serving.ask(`${url}?span=${span}`)).arrayBuffer());
  const [weeks, year] = [await plotOf("8w"), await plotOf("1y")];
  expect(weeks.step_ms).toBe(60_000);
  expect(year.counts.length).toBeLessThanOrEqual(200_000);
  expect(hour_ms % year.step_ms).toBe(0);
  const sum = ({ counts }: PlotData) => counts.reduce((total, count) => total + count, 0);
  const records = await serving.records(`/v0.9/items/wirelesssensors/${doorName}/events`);
  expect([sum(weeks), sum(year)]).toEqual([records.length, records.length]);
});

test("without script the days of a sensor are a picture that the server draws", async () => {
  const page = await (await serving.ask(`${doorPage}?${span}`)).text();
  const [, src = ""] = /<noscript><img src="([^"]+)"/.exec(page) ?? [];
  const picture = await serving.ask(src.replaceAll("&amp;", "&"));
  expect(picture.headers.get("Content-Type")).toBe("image/svg+xml");
  const shapes = await picture.text();
  // Twelve days; each has one opening, and the day of 25 hours two more.
  expect(shapes.match(/class="plain"/g)).toHaveLength(12);
  expect(shapes.match(/class="level"/g)).toHaveLength(12 + 2);
  expect((await serving.ask("/plots/wirelesssensors/none/activity.svg")).status).toBe(404);
  expect((await serving.ask(`/plots/wirelesssensors/${doorName}/activity.png?${span}`)).status).toBe(404);
});

test("the doses of a pill box are a week in a row: taken, missed, and unknown where nobody listened or it was filled", async () => {
  const page = await (await serving.ask(`${boxPage}?from=2026-11-01&until=2026-11-21`)).text();
  const cells = [...page.matchAll(/data-date="([^"]+)" data-status="([^"]+)"/g)];
  const others = cells.filter(([, , status]) => status !== "taken").map(([, date, status]) => [date, status]);
  expect(cells).toHaveLength(20);
  expect(new Map(others as [string, string][])).toEqual(
    new Map([
      ["2026-11-18", "missed"],
      ["2026-11-14", "unknown"],
      ["2026-11-10", "unknown"],
    ]),
  );
  // 1 November was a Sunday: three rows, the newest first, and a Saturday that has not come.
  expect([...page.matchAll(/<tr><th scope="row">/g)]).toHaveLength(3);
  expect(page).toContain("● 17 taken, × 1 missed, ▨ 2 not known.");
});

test("a sensor of a line has the walking speed of each week, as the interface has the walks", async () => {
  const page = await (
    await serving.ask(`/devices/wirelesssensors/${line.sensors[1]?.item}?from=2026-09-28&until=2026-11-21`)
  ).text();
  const [, shown = ""] = /id="shown">(.*)<\/script>/.exec(page) ?? [];
  const [curve] = (JSON.parse(shown) as { data: DeviceData }).data.walking;
  const walks = await serving.records("/v0.9/homes/12/derived/walks");
  const weeks_ms = [...new Set(curve?.weeks_ms ?? [])];
  expect(weeks_ms.map((week_ms) => localDate(zone, week_ms))).toEqual([
    ...["2026-09-28", "2026-10-05", "2026-10-12", "2026-10-19"],
    ...["2026-10-26", "2026-11-02", "2026-11-09", "2026-11-16"],
  ]);
  const expected = weeks_ms.map((week_ms, at) => {
    const end_ms = weeks_ms[at + 1] ?? Number.POSITIVE_INFINITY;
    const own = walks.filter(({ stamp = 0 }) => stamp * 1000 >= week_ms && stamp * 1000 < end_ms);
    return quartilesOf(own.map(({ speed = 0 }) => speed));
  });
  const known = (values: readonly (number | null)[] = []) => values.filter((value) => value !== null);
  expect(known(curve?.trend?.median)).toEqual(expected.flatMap((week) => week?.median ?? []));
  expect(known(curve?.trend?.lower)).toEqual(expected.flatMap((week) => week?.lower ?? []));
  // Nobody walked in the week of 2 November, and nobody listened on the 10th: no line is drawn across either.
  const drawn = (curve?.at_ms ?? []).map((at, index) => ({
    date: localDate(zone, at),
    value: curve?.lines[0]?.values[index] ?? null,
  }));
  const breaks = drawn.flatMap(({ date, value }) => (value === null ? [date] : []));
  expect(breaks).toEqual(expect.arrayContaining(["2026-11-05", "2026-11-10"]));
});

describe.skipIf(chromiumPath === undefined)(`a device's page in Chromium (else ${noChromium})`, () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await TestBrowser.start();
  });
  afterAll(() => browser[Symbol.asyncDispose]());

  test("says when it was heard, and each moment to the millisecond where it is pointed at", async () => {
    await using visit = await serving.signIn(browser, { locale: "en-GB" });
    const { page } = visit;
    await page.goto(`${serving.origin}${doorPage}?${span}&day=2026-10-25`);
    expect(await page.textContent(".answer")).toBe(
      "This door sensor was last heard today at 12:00. The newest of its 90 readings is of today at 07:02.",
    );
    const first = page.locator("section[aria-labelledby=day] li").first();
    expect(await first.textContent()).toBe("02:30:00.000 Opened");
    await first.locator("time").focus();
    const exact = await first
      .locator("time")
      .evaluate((time) => getComputedStyle(time, "::after").getPropertyValue("content"));
    expect(exact).toContain("GMT+02:00");
    const times = await page.locator("section[aria-labelledby=day] time").allTextContents();
    expect(times).toEqual(
      ["02:30:00.000", "02:30:10.125", "02:30:00.000", "02:30:10.125", "07:00:00.000", "07:02:30.000"].map(
        (text) => text,
      ),
    );
    expect(await page.textContent("section[aria-labelledby=day] p")).toBe(
      "A day of 25 hours: the clocks change.",
    );
    expect(visit.faults).toEqual([]);
  });

  test("draws each day as the interface tells it, in the calendar of the home", async () => {
    await using visit = await doorDrawn(serving, browser, "from=2026-10-20&until=2026-11-21");
    const { page } = visit;
    const records = await serving.records(`/v0.9/items/wirelesssensors/${doorName}/events?precision=ms`);
    await page.click("text=The same as a table");
    const rows = await page.locator(".plot tbody tr").evaluateAll((all) =>
      all.map((row) => ({
        from_ms: Number(row.getAttribute("data-from")),
        cells: [...row.querySelectorAll("td")].map((cell) => cell.textContent),
      })),
    );
    expect(rows).toHaveLength(32);
    for (const [index, { from_ms, cells }] of rows.entries()) {
      const to_ms = rows[index - 1]?.from_ms ?? Number.POSITIVE_INFINITY;
      const own = records.filter(({ stamp = 0 }) => stamp >= from_ms && stamp < to_ms);
      expect(cells[0]).toBe(String(own.length));
    }
    // The outage, and the silence from the last sign of life before it to the first behind it: at midnight and one o'clock in Berlin.
    const notKnown = new Map(rows.map(({ from_ms, cells }) => [localDate(zone, from_ms), Number(cells[2])]));
    expect([...notKnown].filter(([, hours]) => hours > 0)).toEqual([
      ["2026-11-13", 1],
      ["2026-11-12", 24],
      ["2026-11-10", 8],
    ]);
    // The door stood open before the outage and behind it, 24 minutes with those of the morning: how it stood in between nobody knows.
    const cut = rows.find(({ from_ms }) => localDate(zone, from_ms) === "2026-11-10");
    expect(cut?.cells[1]).toBe("0.4");
    expect(visit.faults).toEqual([]);
  });

  test("asks for a plot before its script is there, and once", async () => {
    await using visit = await serving.signIn(browser);
    const { page } = visit;
    await page.route("**/assets/*/*.js", (route) => route.abort());
    const early = page.waitForRequest(/\/plots\//);
    await page.goto(`${serving.origin}${doorPage}?${span}`);
    await early;
    await page.unroute("**/assets/*/*.js");
    await using other = await serving.signIn(browser);
    const asked: string[] = [];
    other.page.on("request", (request) => void asked.push(new URL(request.url()).pathname));
    await other.page.goto(`${serving.origin}${doorPage}?${span}`);
    await other.page.waitForSelector(".plot details");
    expect(asked.filter((path) => path.startsWith("/plots/"))).toHaveLength(1);
    expect(other.faults).toEqual([]);
  });

  test("draws what nobody could know as such, and nothing across it", async () => {
    await using visit = await doorDrawn(serving, browser, "from=2026-11-09&until=2026-11-16");
    const at = (at_ms: number) => rowAround(visit.page, at_ms);
    const open = await at(Date.UTC(2026, 10, 11, 6, 1));
    const quiet = await at(Date.UTC(2026, 10, 11, 12));
    const notListening = await at(Date.UTC(2026, 10, 10, 12));
    const silent = await at(Date.UTC(2026, 10, 12, 12));
    // Plain ground has one colour, an event is of another; hatched and dotted ground have several, and no two are alike.
    expect(new Set(quiet).size).toBe(1);
    expect(open).not.toEqual(quiet);
    for (const one of [notListening, silent]) expect(new Set(one).size).toBeGreaterThan(2);
    expect(notListening).not.toEqual(silent);
    // Where the time is uncertain a veil lies over all of it, faint at its edges.
    const inDoubt = await at((doubt.from_ms + doubt.to_ms) / 2);
    const edge = await at(doubt.from_ms + hour_ms / 8);
    expect(inDoubt).not.toEqual(quiet);
    expect(edge).not.toEqual(inDoubt);
    expect(await visit.page.textContent(".plot [role=status]")).toContain("not known for");
    expect(visit.faults).toEqual([]);
  });

  test("draws a day of 25 hours longer, and one of 23 shorter, than the others", async () => {
    await using autumn = await doorDrawn(serving, browser, "from=2026-10-24&until=2026-10-27");
    const layout = await layoutOf(autumn.page);
    expect(layout.view.to_ms).toBe(25 * hour_ms);
    const [twice, again] = longDay.halfPastTwo_ms.map((at_ms) => at_ms - longDay.from_ms);
    // Both half past twos are in their places, an hour from each other.
    expect([twice, again]).toEqual([2.5 * hour_ms, 3.5 * hour_ms]);
    for (const since_ms of [twice ?? 0, again ?? 0]) {
      const [event, hourLater] = [since_ms, since_ms + hour_ms / 2].map((ms) => longDay.from_ms + ms);
      expect(await rowAround(autumn.page, event ?? 0)).not.toEqual(
        await rowAround(autumn.page, hourLater ?? 0),
      );
    }
    // The day before has nothing where the 25th hour is: the ground of the page.
    const behind = await pixelAt(autumn.page, { row: 2, since_ms: 24.5 * hour_ms });
    const beyond = await pixelAt(autumn.page, { row: 1, since_ms: 24.5 * hour_ms });
    expect(behind).toBe("0,0,0,0");
    expect(beyond).not.toBe("0,0,0,0");
    await using spring = await doorDrawn(serving, browser, "from=2026-03-28&until=2026-03-31");
    expect((await layoutOf(spring.page)).view.to_ms).toBe(24 * hour_ms);
    expect(await pixelAt(spring.page, { row: 1, since_ms: 23.5 * hour_ms })).toBe("0,0,0,0");
    expect([...autumn.faults, ...spring.faults]).toEqual([]);
  });

  test("draws two weeks as a spiral, a turn a day, with the same numbers beside it", async () => {
    const days = "from=2026-11-02&until=2026-11-16";
    await using rows = await doorDrawn(serving, browser, days);
    await using spiral = await doorDrawn(serving, browser, `${days}&as=spiral`);
    const { page } = spiral;
    const said = ({ page }: Visit) => page.textContent(".plot [role=status]");
    expect(await said(spiral)).toBe(await said(rows));
    expect(await page.getAttribute(".plot [role=application]", "aria-label")).toContain(
      "28 readings in 14 days",
    );
    // In the direction of seven o'clock the door is open once a day, but on the day on which it was silent; in that of eight o'clock in the evening never.
    expect(await openings(page, 7)).toBe(13);
    expect(await openings(page, 20)).toBe(0);
    await page.click("text=8 weeks");
    await page.waitForURL(/as=spiral/);
    await page.waitForSelector(".plot details");
    await page.click("text=The same as a table");
    expect(await page.locator(".plot tbody tr").count()).toBe(14);
    expect([...rows.faults, ...spiral.faults]).toEqual([]);
  });

  test.each(["light", "dark"] as const)(
    "is sound for screen readers and fits 320 pixels, %s",
    async (colorScheme) => {
      const axe = await Bun.file(require.resolve("axe-core/axe.min.js")).text();
      await using visit = await doorDrawn(serving, browser, "span=8w&day=2026-11-18", {
        colorScheme,
        viewport: { width: 320, height: 700 },
      });
      const { page } = visit;
      await page.click("text=The same as a table");
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
      await page.evaluate(axe);
      const found = await page.evaluate("axe.run()");
      const { violations } = found as {
        violations: { id: string; impact: string; nodes: { html: string }[] }[];
      };
      const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      expect(serious.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
      expect(visit.faults).toEqual([]);
    },
  );
});

interface Layout {
  readonly left: number;
  readonly top: number;
  readonly rowHeight: number;
  readonly width: number;
  readonly view: { readonly from_ms: number; readonly to_ms: number };
  /** Where the days begin, the newest first. */
  readonly days_ms: readonly number[];
}

async function layoutOf(page: Page): Promise<Layout> {
  const text = await page.locator("canvas").getAttribute("data-layout");
  const starts = await page
    .locator(".plot tbody tr")
    .evaluateAll((rows) => rows.map((row) => Number(row.getAttribute("data-from"))));
  return { ...JSON.parse(text ?? "{}"), days_ms: starts };
}

/** Colours of a square of a row around a moment, pixel by pixel. */
async function rowAround(page: Page, at_ms: number): Promise<string[]> {
  const { days_ms } = await layoutOf(page);
  const row = days_ms.findIndex((day_ms) => day_ms <= at_ms);
  return pixels(page, { row, since_ms: at_ms - (days_ms[row] ?? 0), reach: 5 });
}

/** How often the colour of what happened is met on the way outwards from the middle of a spiral, towards an hour. */
function openings(page: Page, hour: number): Promise<number> {
  return page.evaluate((hour) => {
    const canvas = document.querySelector("canvas") as HTMLCanvasElement;
    const { width } = canvas;
    const copy = new OffscreenCanvas(width, width).getContext("2d", { willReadFrequently: true });
    copy?.drawImage(canvas, 0, 0);
    const data = copy?.getImageData(0, 0, width, width).data ?? [];
    // Green, and the ground is grey; beside the middle it is less than a pixel wide.
    const isGreen = (radius: number, minute: number) => {
      const angle = ((hour + minute / 60) / 24 - 0.25) * 2 * Math.PI;
      const [x, y] = [Math.cos(angle), Math.sin(angle)].map((one) => Math.floor(width / 2 + radius * one));
      const at = 4 * ((y ?? 0) * width + (x ?? 0));
      return (data[at + 1] ?? 0) - (data[at] ?? 0) > 15;
    };
    let runs = 0;
    let before = false;
    // The date in the middle has colours of its own at the edges of its letters.
    for (let radius = width / 16; radius < width / 2; radius += 0.5) {
      const is = [0, 1, 2, 3].some((minute) => isGreen(radius, minute));
      if (is && !before) runs++;
      before = is;
    }
    return runs;
  }, hour);
}

async function pixelAt(page: Page, place: { row: number; since_ms: number }): Promise<string> {
  return (await pixels(page, { ...place, reach: 0 }))[0] ?? "";
}

async function pixels(
  page: Page,
  { row, since_ms, reach }: { row: number; since_ms: number; reach: number },
) {
  const { left, top, rowHeight, width, view } = await layoutOf(page);
  const x = left + ((since_ms - view.from_ms) / (view.to_ms - view.from_ms)) * (width - left);
  const y = top + (row + 0.5) * rowHeight;
  return page.evaluate(
    ([x, y, reach]) => {
      const canvas = document.querySelector("canvas") as HTMLCanvasElement;
      const side = 2 * reach + 1;
      const copy = new OffscreenCanvas(side, side).getContext("2d", { willReadFrequently: true });
      copy?.drawImage(canvas, reach - Math.round(x), reach - Math.round(y));
      const data = copy?.getImageData(0, 0, side, side).data ?? [];
      return Array.from({ length: side * side }, (_, at) => data.slice(4 * at, 4 * at + 4).join());
    },
    [x, y, reach] as const,
  );
}
