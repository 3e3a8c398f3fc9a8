import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { hour_ms } from "../../../src/base/time.ts";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { sensor, sensorEvent } from "../../../testbed/sample.ts";
import { boxPage, fillBox, now_ms, zone } from "./device-history.ts";
import { serveHome } from "./device-home.ts";

describe.skipIf(chromiumPath === undefined)(`what stands in a row (${noChromium})`, () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await TestBrowser.start();
  });
  afterAll(() => browser?.[Symbol.asyncDispose]());

  test.each([0, 7, 14])(
    "the times above strips can be read at any width, %i hours after noon",
    async (hours) => {
      await using serving = await serveHome({ now_ms: now_ms + hours * hour_ms, home: 12, zone });
      await serving.store.append([sensorEvent(sensor(1), now_ms, 0b1)], {});
      await using visit = await serving.signIn(browser, { locale: "en-GB" });
      const { page } = visit;
      const faults: string[] = [];
      for (const path of ["/", "/?span=week", "/?span=month", "/?span=year", "/day", "/day?span=week"]) {
        await page.goto(serving.origin + path);
        for (const width of [320, 390, 600, 768, 1_280]) {
          await page.setViewportSize({ width, height: 800 });
          const boxes = await page
            .locator(".axis")
            .first()
            .evaluate((axis) =>
              [...axis.querySelectorAll("text")]
                .filter((label) => getComputedStyle(label).display !== "none")
                .map((label) => ({ text: label.textContent, ...label.getBoundingClientRect().toJSON() })),
            );
          expect(boxes.length).toBeGreaterThan(1);
          for (const [place, box] of boxes.entries()) {
            const next_px = boxes[place + 1]?.left ?? width;
            if (box.right > next_px)
              faults.push(`${path} at ${width} px: ${box.text} ends behind ${next_px} px`);
          }
        }
      }
      expect(faults).toEqual([]);
    },
  );

  test.each([320, 390, 768])("the doses of a week stand on a phone of %i px, Saturday too", async (width) => {
    await using serving = await serveHome({ now_ms, home: 12, zone });
    await fillBox(serving.store);
    await using visit = await serving.signIn(browser, { locale: "en-GB", viewport: { width, height: 844 } });
    await visit.page.goto(serving.origin + boxPage);
    const days = await visit.page
      .locator(".doses thead th")
      .evaluateAll((cells) => cells.map((cell) => [cell.textContent, cell.getBoundingClientRect().right]));
    expect(days).toHaveLength(8);
    expect(days.filter(([, right]) => Number(right) > width)).toEqual([]);
    expect(
      await visit.page.locator(".wide:has(.doses)").evaluate((one) => one.scrollWidth - one.clientWidth),
    ).toBe(0);
  });
});
