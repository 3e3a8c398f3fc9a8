import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { serveHomes, signIn } from "./homes-central.ts";
import { servePages } from "./pages-server.ts";
import { states } from "./states.ts";

describe.skipIf(chromiumPath === undefined)(`pages at every width (${noChromium})`, () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await TestBrowser.start();
  });
  afterAll(() => browser?.[Symbol.asyncDispose]());

  test("names of sixty characters leave no column of single words", async () => {
    await using serving = await (states["names of sixty characters"] as (typeof states)[string])();
    await using visit = await serving.signIn(browser, { locale: "en-GB" });
    const { page } = visit;
    for (const [width, path, lines_max] of [
      [768, "/day", 4],
      [1_280, "/day", 3],
      [2_560, "/day", 2],
      [2_560, "/", 2],
    ] as const) {
      await page.setViewportSize({ width, height: 1_000 });
      await page.goto(serving.origin + path);
      const lines = await page
        .locator(path === "/" ? ".device-row .name" : ".day-strips a")
        .evaluateAll((names) =>
          names.map((name) =>
            Math.round(
              name.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(name).lineHeight),
            ),
          ),
        );
      expect(lines.length).toBeGreaterThan(5);
      expect([width, path, Math.max(...lines)]).toEqual([width, path, lines_max]);
    }
  });

  test("short names leave the room to the strips of a day", async () => {
    await using serving = await (states["a usual home"] as (typeof states)[string])();
    await using visit = await serving.signIn(browser, { locale: "en-GB" });
    const { page } = visit;
    for (const width of [320, 768, 2_560]) {
      await page.setViewportSize({ width, height: 1_000 });
      await page.goto(`${serving.origin}/day`);
      const strips = await page
        .locator(".day-strips .strip")
        .evaluateAll((all) => all.map((strip) => strip.getBoundingClientRect().toJSON()));
      const [list, axis] = await page
        .locator(".day-strips, .day-strips .axis")
        .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
      expect(new Set(strips.map(({ left }) => left))).toEqual(new Set([Number(axis)]));
      expect(Number(axis) - Number(list)).toBeLessThan(130);
    }
  });

  test("on a phone the view that is shown is in sight among the views of central", async () => {
    const served = await serveHomes();
    try {
      const width = 320;
      await using visit = await browser.visit({ locale: "en-GB", viewport: { width, height: 568 } });
      const { page } = visit;
      await signIn(visit, served);
      for (const view of ["batteries", "firmware"]) {
        await page.goto(`${served.central.origin}/?show=${view}`);
        const shown = await page
          .locator(".views [aria-current]")
          .evaluate((one) => one.getBoundingClientRect().toJSON());
        expect(shown.left).toBeGreaterThanOrEqual(0);
        expect(shown.right).toBeLessThanOrEqual(width);
      }
    } finally {
      await served[Symbol.asyncDispose]();
    }
  });

  test("no line ends behind the hyphens of an option", async () => {
    await using serving = await servePages();
    for (const width of [320, 768, 2_560]) {
      await using visit = await browser.visit({ locale: "en-GB", viewport: { width, height: 568 } });
      const { page } = visit;
      await page.goto(`${serving.origin}/sign-in`);
      const text = await page.locator("#help").textContent();
      expect(text).toContain("lintel token create NAME --link.");
      expect(
        await page.locator(".option").evaluateAll((all) => all.map((one) => one.getClientRects().length)),
      ).toEqual([1]);
    }
  });

  test("no line is longer than one can read on a wide screen", async () => {
    await using serving = await (states["an empty home"] as (typeof states)[string])();
    await using visit = await serving.signIn(browser, {
      locale: "en-GB",
      viewport: { width: 2_560, height: 1_300 },
    });
    for (const path of ["/mesh", "/burn-in", "/acceptance"]) {
      await visit.page.goto(serving.origin + path);
      const [width, letter] = await visit.page
        .locator("main h1 + p")
        .first()
        .evaluate((first) => {
          const { width } = first.getBoundingClientRect();
          return [width, Number.parseFloat(getComputedStyle(first).fontSize)];
        });
      expect(Number(width) / Number(letter)).toBeLessThan(50);
    }
  });
});
