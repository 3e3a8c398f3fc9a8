import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromiumPath, noChromium, TestBrowser } from "./browser.ts";
import { doorName, doorPage, fillDoor, now_ms, zone } from "./device-history.ts";
import { type PagesServing, servePages } from "./device-home.ts";

let serving: PagesServing;
beforeAll(async () => {
  serving = await servePages({ now_ms, home: 12, zone });
  await fillDoor(serving.store);
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
    expect(csv).toBe(
      `itemname,stamp,event\r\n${records
        .map(({ stamp = 0, event }) => `${doorName},${new Date(stamp).toISOString()},${event}\r\n`)
        .join("")}`,
    );
  });

  test("are empty for days without readings, and refused for days that there are not", async () => {
    const before = "from=2020-01-01&until=2020-01-02";
    expect(await (await serving.ask(`${file}.json?${before}`)).json()).toEqual([]);
    for (const days of [
      "from=2026-11-02&until=2026-11-01",
      "from=2026-13-01",
      "span=9w",
      "from=2020-01-01&until=2026-01-01",
    ])
      expect((await serving.ask(`${file}.json?${days}`)).status).toBe(422);
  });
});

test("what a token may not see is at no address of a device, and neither is what there is not", async () => {
  const places = [doorPage, `/downloads/wirelesssensors/${doorName}/events.json`];
  for (const place of places) expect((await serving.ask(place)).status).toBe(200);
  for (const place of places) expect((await serving.ask(place, serving.tokens.foreign)).status).toBe(404);
  for (const place of places) expect((await serving.ask(place.replace(doorName, "nobody"))).status).toBe(404);
  expect((await serving.ask(`/devices/toasters/${doorName}`)).status).toBe(404);
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
      "This door sensor was last heard today 12:00. The newest of its 88 readings is of today 07:02.",
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
});
