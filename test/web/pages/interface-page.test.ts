import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromiumPath, noChromium, TestBrowser, type Visit } from "../../../testbed/browser.ts";
import { type Serving, serve } from "../../../testbed/serving.ts";
import { faultsForAll } from "./accessibility.ts";

if (chromiumPath === undefined) test.skip(`the page of the interface in a browser: ${noChromium}`, () => {});

describe.skipIf(chromiumPath === undefined)("the page of the interface in a browser", () => {
  let serving: Serving;
  let browser: TestBrowser;
  beforeAll(async () => {
    [serving, browser] = await Promise.all([serve(), TestBrowser.start()]);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await serving?.[Symbol.asyncDispose]();
  });

  const opened = async (width: number): Promise<Visit> => {
    const visit = await browser.visit({ viewport: { width, height: 844 } });
    await visit.page.goto(new URL("/v0.9", serving.api.url).href);
    return visit;
  };
  /** The examples of an endpoint: a request, and its answer. */
  const examples = ({ page }: Visit, endpoint: string) => page.locator(`#${endpoint} pre`).first();

  test("on a phone it folds, opens where a link of the contents leads and where it is tapped", async () => {
    await using visit = await opened(390);
    const { page } = visit;
    expect(await examples(visit, "wirelesssensor_events").isVisible()).toBe(false);
    expect(await page.locator("#wirelesssensor_events h3").isVisible()).toBe(true);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    await page.getByText("Contents").click();
    await page.locator('nav a[href="#wirelesssensor_events"]').click();
    await examples(visit, "wirelesssensor_events").waitFor();
    await page.locator("#scale_weights summary").first().click();
    await examples(visit, "scale_weights").waitFor();
    expect(await faultsForAll(page)).toEqual([]);
    expect(visit.faults).toEqual([]);
  });

  test("on a wide screen all of it is there", async () => {
    await using visit = await opened(1280);
    expect(await examples(visit, "wirelesssensor_events").isVisible()).toBe(true);
    expect(await visit.page.locator('nav a[href="#scale_weights"]').isVisible()).toBe(true);
  });
});
