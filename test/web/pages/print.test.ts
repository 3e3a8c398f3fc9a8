import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromiumPath, noChromium, TestBrowser, type Visit } from "../../../testbed/browser.ts";
import { boxPage, doorPage, line, scalePath, serveHistory } from "./device-history.ts";
import type { PagesServing } from "./device-home.ts";
import { serveHomes } from "./homes-central.ts";

describe.skipIf(chromiumPath === undefined)(`a printed page (${noChromium})`, () => {
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
    "/",
    "/?span=week",
    "/day?date=2026-11-19",
    "/day?date=2026-11-19&span=week",
    "/recorded",
    "/find?q=door",
    `${doorPage}?span=4w`,
    `${doorPage}?span=4w&as=spiral`,
    boxPage,
    `/devices/${scalePath}?span=4w`,
    `/devices/wirelesssensors/${line.sensors[1]?.item}?span=4w`,
  ])("has all of it on the sheet, and nothing to tap: %s", async (path) => {
    await using visit = await serving.signIn(browser, { locale: "en-GB" });
    expect(await faultsOnPaper(visit.page, serving.origin + path)).toEqual([]);
  });

  test("of a device says of which days it is", async () => {
    await using visit = await serving.signIn(browser, { locale: "en-GB" });
    await visit.page.goto(`${serving.origin}${doorPage}?span=4w`);
    await visit.page.emulateMedia({ media: "print" });
    const textOf = async (selector: string) => {
      const found = visit.page.locator(selector);
      return (await found.isVisible()) ? found.textContent() : null;
    };
    const date = "\\w+,? \\d+ \\w+ 2026";
    expect(await textOf(".span > p")).toMatch(new RegExp(`^${date} to ${date}, in the time of Berlin\\.$`));
    expect(await textOf(".on-paper")).toMatch(new RegExp(`^Home 12 · .* · ${date}, \\d\\d:\\d\\d Berlin$`));
  });

  test("of all homes, of a home and of its missing data is whole as well", async () => {
    await using homes = await serveHomes();
    const { origin } = homes.central;
    await using visit = await browser.visit({ locale: "en-GB" });
    await visit.page.goto(`${origin}/sign-in#token=${await homes.mint("read")}`);
    await visit.page.waitForURL(`${origin}/`);
    for (const path of ["/", "/?show=missing", "/?show=activity", "/?show=firmware", "/homes/4"])
      expect([path, await faultsOnPaper(visit.page, origin + path)]).toEqual([path, []]);
  });
});

/** Parts of a page, drawn for a screen, that a sheet of A4 with margins of 18 mm cuts off, and those to tap. */
async function faultsOnPaper(page: Visit["page"], address: string): Promise<string[]> {
  await page.emulateMedia({ media: "screen" });
  await page.setViewportSize({ width: 1_280, height: 800 });
  await page.goto(address);
  await page.waitForFunction(
    () => document.querySelector(".drawing canvas:not([data-drawn]), .curve:not([data-points])") === null,
  );
  await page.emulateMedia({ media: "print" });
  return page.evaluate((sheet_px) => {
    // A printer lays the page out anew, and no script runs meanwhile.
    document.body.style.width = `${sheet_px}px`;
    const nameOf = (one: Element) => `${one.tagName.toLowerCase()}.${one.getAttribute("class")}`;
    const shown = [...document.querySelectorAll<HTMLElement>("main, main *")].filter((one) =>
      one.checkVisibility(),
    );
    const left_px = document.body.getBoundingClientRect().left;
    // A word for those who do not see takes no room; anything else that stands out makes a printer shrink the page.
    const isHidden = (one: Element) => one.getBoundingClientRect().width <= 1;
    return [
      ...shown
        .filter((one) => !isHidden(one) && one.getBoundingClientRect().right > left_px + sheet_px + 1)
        .map((one) => `${nameOf(one)} is cut off`),
      ...shown
        .filter((one) => !isHidden(one) && one.getBoundingClientRect().left < left_px - 1)
        .map((one) => `${nameOf(one)} begins before the sheet`),
      ...shown
        .filter(
          (one) => getComputedStyle(one).overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1,
        )
        .filter((one) => !isHidden(one))
        .map((one) => `${nameOf(one)} would have to be moved`),
      ...shown
        .filter((one) => one.matches("nav, button, input, summary"))
        .map((one) => `${nameOf(one)} is to be tapped`),
    ].slice(0, 10);
  }, sheet_px);
}

/** 174 mm at 96 pixels of CSS an inch. */
const sheet_px = 658;
