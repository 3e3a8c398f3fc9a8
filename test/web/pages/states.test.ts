import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { eventually } from "../../../testbed/front-door.ts";
import { nightly } from "../../../testbed/nightly.ts";
import { faultsForAll } from "./accessibility.ts";
import { states } from "./states.ts";

describe.skipIf(chromiumPath === undefined)(`the page of a home (${noChromium})`, () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await TestBrowser.start();
  });
  afterAll(() => browser?.[Symbol.asyncDispose]());

  test.each(nightly ? Object.keys(states) : Object.keys(states).slice(0, 2))(
    "is whole at either end, in light and dark: %s",
    async (name) => {
      await using serving = await (states[name] as (typeof states)[string])();
      const { origin, tokens } = serving;
      await using visit = await serving.signIn(browser, { token: tokens.read, locale: "en-GB" });
      const { page } = visit;
      const device = await page.evaluate(() => document.querySelector<HTMLAnchorElement>("a.name")?.href);
      for (const address of [`${origin}/`, ...(device === undefined ? [] : [device])]) {
        await page.goto(address);
        for (const [width, colorScheme] of [
          [320, "dark"],
          [2_560, "light"],
        ] as const) {
          await page.setViewportSize({ width, height: 800 });
          await page.emulateMedia({ colorScheme });
          expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        }
        expect(await faultsForAll(page)).toEqual([]);
      }
      expect(visit.faults).toEqual([]);
    },
  );

  test("says what is to be done, and no more than that", async () => {
    const said = async (name: string) => {
      await using serving = await (states[name] as (typeof states)[string])();
      const text = await (await serving.ask("/", serving.tokens.read)).text();
      return /<h1>(.*?)<\/h1>/.exec(text)?.[1];
    };
    expect(await said("an empty home")).toBe("No device has been heard here yet.");
    expect(await said("sixty devices")).toBe("All 60 devices were heard in time.");
    // Nothing that is heard has a date yet: no device is reproached with that.
    expect(await said("a boot without a clock")).toBe("One thing to do: the gateway does not know the time.");
    expect(await said("a token that sees nothing")).toBe("Your token shows nothing of this home.");
  });

  test("grows older while nothing comes", async () => {
    await using serving = await (states["a usual home"] as (typeof states)[string])();
    await using visit = await browser.visit({ locale: "en-GB" });
    const { page } = visit;
    await page.clock.install();
    await page.goto(`${serving.origin}/sign-in#token=${serving.tokens.read}`);
    await page.waitForURL(`${serving.origin}/`);
    const facts = page.locator(".device-row", { hasText: "Bedroom" }).locator(".device-facts");
    await facts.filter({ hasText: "heard now" }).waitFor();
    // The data came shortly after the minutes began to be counted, and from a busy server come once more after some have passed.
    await eventually(async () => {
      await page.clock.runFor(10 * 60_000);
      return /heard (9|1\d) minutes ago/.test((await facts.textContent()) ?? "") || undefined;
    }, "its minutes pass");
    expect(visit.faults).toEqual([]);
  });
});
