import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { faultsOfLoad } from "../../../testbed/page-load.ts";
import { boxPage, doorPage, line, scalePath, serveHistory } from "./device-history.ts";
import type { PagesServing } from "./device-home.ts";

/** `homes.test.ts` and `walk.test.ts` measure the two pages that are not served here. */
describe.skipIf(chromiumPath === undefined)(`script and style (${noChromium})`, () => {
  let serving: PagesServing;
  let browser: TestBrowser;
  beforeAll(async () => {
    serving = await serveHistory();
    browser = await TestBrowser.start();
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await serving?.[Symbol.asyncDispose]();
  });

  test.each([
    ["a refusal", "/nothing"],
    ["the home", "/"],
    ["the day of a home", "/day?date=2026-11-19"],
    ["what is recorded", "/recorded"],
    ["how devices hear each other", "/mesh"],
    ["the record of the installation", "/acceptance"],
    ["something found", "/find?q=door"],
    ["a device with a raster", `${doorPage}?span=4w`],
    ["a device with doses", boxPage],
    ["a device with curves", `/devices/${scalePath}?span=4w`],
    [
      "a device with a raster and a curve",
      `/devices/wirelesssensors/${line.sensors[1]?.item}?from=2026-09-28&until=2026-11-21`,
    ],
    ["a device with a spiral", `${doorPage}?span=4w&as=spiral`],
  ])("of %s take at most 60 kB, none of it is found late, and nothing moves as it comes", async (_, path) => {
    await using visit = await serving.signIn(browser);
    for (const size of [
      { width: 1_280, height: 800 },
      { width: 390, height: 844 },
    ]) {
      await visit.page.setViewportSize(size);
      await visit.page.goto(serving.origin + path);
      expect(await faultsOfLoad(visit.page)).toEqual([]);
    }
  });

  test("of a curve that cannot be loaded are told in its place, and the page works on", async () => {
    await using visit = await serving.signIn(browser);
    const { page } = visit;
    await page.route(/\/assets\/.*\/curve-/, (route) => route.abort());
    await page.goto(`${serving.origin}/devices/${scalePath}?span=4w`);
    const told = page.locator(".plot [role=status]", { hasText: "load the page again" });
    await told.first().waitFor();
    expect(visit.faults.filter((fault) => !fault.includes("ERR_FAILED"))).toEqual([]);
  });

  test("of the way in, where nobody is signed in, take no more", async () => {
    await using visit = await browser.visit();
    await visit.page.goto(`${serving.origin}/sign-in`);
    expect(await faultsOfLoad(visit.page)).toEqual([]);
  });
});
