import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { hour_ms } from "../../../src/base/time.ts";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { sensor, sensorEvent } from "../../../testbed/sample.ts";
import { now_ms, zone } from "./device-history.ts";
import { serveHome } from "./device-home.ts";

describe.skipIf(chromiumPath === undefined)(`the times above strips (${noChromium})`, () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await TestBrowser.start();
  });
  afterAll(() => browser?.[Symbol.asyncDispose]());

  test.each([0, 7, 14])("can be read at any width, %i hours after noon", async (hours) => {
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
  });
});
