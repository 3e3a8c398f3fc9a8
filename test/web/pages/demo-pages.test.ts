import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { faultsOfLoad } from "../../../testbed/page-load.ts";
import { serveDemoHistory } from "./demo-history.ts";
import type { PagesServing } from "./device-home.ts";

/** Pages of the demo's home with each form of plot. */
const pages = [
  "/",
  "/?span=week",
  "/day?date=2026-11-19",
  "/devices/wirelesssensors/kitchen-wall",
  "/devices/wirelesssensors/hall-curtain-2",
  "/devices/wirelesssensors/bedroom-wall?series=measures",
  "/devices/watches/watch-1",
  "/devices/scales/scale-bathroom",
  "/devices/pillboxes/pillbox-morning",
];

describe.skipIf(chromiumPath === undefined)(`the demo's home in Chromium (else ${noChromium})`, () => {
  let serving: PagesServing;
  let browser: TestBrowser;
  beforeAll(async () => {
    serving = await serveDemoHistory();
    browser = await TestBrowser.start();
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await serving[Symbol.asyncDispose]();
  });

  test.each(pages)("%s does not move as it comes, and is in English in a German browser", async (path) => {
    await using visit = await serving.signIn(browser, { locale: "de-DE" });
    const { page } = visit;
    for (const size of [
      { width: 1_280, height: 800 },
      { width: 390, height: 844 },
    ]) {
      await page.setViewportSize(size);
      await page.goto(serving.origin + path);
      expect(await faultsOfLoad(page)).toEqual([]);
    }
    expect(await page.textContent("main")).not.toMatch(
      /(Mon|Diens|Donners|Frei|Sams|Sonn)tag|Mittwoch| Uhr|\d,\d kg/,
    );
    expect(visit.faults).toEqual([]);
  });

  test("the strips of the home have half of a wide page, and all of its plots one legend", async () => {
    await using visit = await serving.signIn(browser, { viewport: { width: 1_280, height: 800 } });
    const strips = visit.page.locator(".home-devices .strip");
    expect(await strips.count()).toBe(17);
    for (const strip of await strips.all())
      expect((await strip.boundingBox())?.width).toBeGreaterThan(0.5 * 1_184);
    expect(await visit.page.getByText("nothing happened").count()).toBe(1);
  });

  test.each(pages)("%s is not blank without script", async (path) => {
    const context = { javaScriptEnabled: false, viewport: { width: 1_280, height: 2_000 } };
    await using visit = await browser.visit(context);
    const { page } = visit;
    await page.goto(`${serving.origin}/sign-in`);
    await page.getByRole("textbox").fill(serving.tokens.read);
    await page.getByRole("button").first().click();
    await page.goto(serving.origin + path);
    await page.locator("h1").waitFor();
    const plots = page.locator(".plot, .doses");
    // Each plot is a picture of the server, or a table.
    for (let place = 0; place < (await plots.count()); place += 1) {
      const plot = plots.nth(place);
      const picture = plot.locator("img");
      const [box, rows] = [
        (await picture.count()) === 0 ? null : await picture.boundingBox(),
        await plot.locator("tr, ol li").count(),
      ];
      expect([path, place, (box?.height ?? 0) > 100 || rows > 0]).toEqual([path, place, true]);
    }
    if (path.startsWith("/devices")) expect(await plots.count()).toBeGreaterThan(0);
  });
});
