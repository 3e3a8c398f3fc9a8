import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { localDate, startOfDate_ms } from "../../../src/base/time.ts";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { doorDrawn, line, scalePath, serveHistory, zone } from "./device-history.ts";
import type { PagesServing } from "./device-home.ts";

describe.skipIf(chromiumPath === undefined)(`a plot of a device in Chromium (else ${noChromium})`, () => {
  let serving: PagesServing;
  let browser: TestBrowser;
  beforeAll(async () => {
    serving = await serveHistory();
    browser = await TestBrowser.start();
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await serving[Symbol.asyncDispose]();
  });

  test("is read along a spiral, turn by turn, and shows fewer days and others", async () => {
    await using visit = await doorDrawn(serving, browser, "from=2026-11-02&until=2026-11-20&as=spiral");
    const { page } = visit;
    const said = () => page.textContent(".plot [role=status]");
    const readings = () => page.getAttribute(".plot [role=application]", "aria-label");
    expect(await readings()).toContain("in 14 days");
    expect(await said()).toStartWith("Friday 6 November to Thursday 19 November: ");
    expect(await page.textContent(".span > p")).toEndWith("Of these the spiral shows 14 days at a time.");
    await page.focus(".plot [role=application]");
    await page.keyboard.press("ArrowDown");
    expect(await said()).toBe("Thursday 19 November, 00:00: nothing happened");
    for (const _ of [1, 2, 3, 4, 5, 6, 7]) await page.keyboard.press("ArrowDown");
    expect(await said()).toBe("Thursday 12 November, 00:00: the device was silent");
    await page.keyboard.press("End");
    expect(await said()).toStartWith("Thursday 12 November, 23:59");
    await page.keyboard.press("+");
    expect(await said()).toBe("From Monday 9 November to the end of Sunday 15 November.");
    expect(await readings()).toContain("in 7 days");
    await page.keyboard.press("Shift+ArrowLeft");
    expect(await said()).toBe("From Saturday 7 November to the end of Friday 13 November.");
    await page.reload();
    await page.waitForSelector(".plot details");
    expect(await readings()).toContain("in 7 days");
    await page.keyboard.press("Tab");
    await page.focus(".plot [role=application]");
    await page.keyboard.press("0");
    expect(page.url()).not.toContain("turns");
    // At seven o'clock of a day the door is open: in the middle between right and below.
    const layout = JSON.parse((await page.getAttribute("canvas", "data-layout")) ?? "{}");
    const radius = (4 + 13 + 7 / 24 - 0.5) * layout.pitch;
    const angle = (7.02 / 24 - 0.25) * 2 * Math.PI;
    const position = {
      x: layout.middle + radius * Math.cos(angle),
      y: layout.middle + radius * Math.sin(angle),
    };
    await page.hover("canvas", { position });
    expect(await said()).toMatch(/^Thursday 19 November, 07:0[0-2]: /);
    await page.click("canvas", { position });
    await page.waitForURL(/day=2026-11-19/);
    expect(visit.faults).toEqual([]);
  });

  test("goes to a printer in the colours of paper, also from a dark screen", async () => {
    await using visit = await doorDrawn(serving, browser, "from=2026-11-09&until=2026-11-16", {
      colorScheme: "dark",
    });
    const { page } = visit;
    /** Of a noon at which nothing happened, from 0 to 255. */
    const brightness = () =>
      page.evaluate(() => {
        const canvas = document.querySelector("canvas");
        const pixel = document.createElement("canvas").getContext("2d");
        if (canvas === null || pixel === null) throw new Error("nothing is drawn");
        pixel.drawImage(canvas, -Math.round(canvas.width * 0.56), 8 - canvas.height);
        return pixel.getImageData(0, 0, 1, 1).data[0] ?? 0;
      });
    const drawn = Number(await page.getAttribute("canvas", "data-drawn"));
    expect(await brightness()).toBeLessThan(64);
    await page.emulateMedia({ media: "print" });
    await page.waitForFunction(
      (before) => Number(document.querySelector("canvas")?.dataset["drawn"]) > before,
      drawn,
    );
    expect(await brightness()).toBeGreaterThan(192);
    expect(visit.faults).toEqual([]);
  });

  test("is moved through by the keyboard, which says what is where, and opens a day", async () => {
    await using visit = await doorDrawn(serving, browser, "from=2026-11-09&until=2026-11-16");
    const { page } = visit;
    const said = () => page.textContent(".plot [role=status]");
    await page.focus(".plot [role=application]");
    await page.keyboard.press("ArrowRight");
    expect(await said()).toStartWith("Sunday 15 November, 00:00: nothing happened");
    for (const _ of [1, 2, 3]) await page.keyboard.press("ArrowDown");
    expect(await said()).toBe("Thursday 12 November, 00:00: the device was silent");
    for (const _ of [1, 2]) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("+");
    await page.waitForURL(/hours=0-12/);
    await page.keyboard.press("Shift+ArrowRight");
    await page.waitForURL(/hours=4-16/);
    await page.keyboard.press("End");
    expect(await said()).toBe("Tuesday 10 November, 15:59: Lintel was not listening");
    await page.keyboard.press("0");
    await page.waitForURL((url) => !url.searchParams.has("hours"));
    await page.keyboard.press("Enter");
    await page.waitForURL(/day=2026-11-10/);
    expect(await page.locator("section[aria-labelledby=day] li").count()).toBe(4);
    expect(visit.faults).toEqual([]);
  });

  test("draws the numbers that the interface gives as a curve, which ends where nobody listened", async () => {
    await using visit = await serving.signIn(browser, { locale: "en-GB" });
    const { page } = visit;
    await page.goto(`${serving.origin}/devices/${scalePath}?span=4w`);
    await page.waitForSelector(".curve[data-points]");
    const records = await serving.records(`/v0.9/items/${scalePath}/weights?precision=ms`);
    const plot = page.locator(".curve").first();
    expect((await plot.locator("canvas").boundingBox())?.height).toBeGreaterThan(200);
    expect(Number(await plot.getAttribute("data-points"))).toBe(records.length);
    expect(Number(await plot.getAttribute("data-last"))).toBe((records[0]?.["weight"] ?? 0) / 1_000);
    expect(Number(await plot.getAttribute("data-breaks"))).toBe(1);
    expect((await plot.locator("canvas").boundingBox())?.height).toBeGreaterThan(200);
    expect(await page.textContent(".plot [role=status]")).toStartWith(
      "Half of 14 values lie between 68.3 kg and 69.0 kg",
    );
    await plot.focus();
    await page.keyboard.press("ArrowLeft");
    expect(await page.textContent(".plot [role=status]")).toEndWith("weight 69.3 kg");
    expect(visit.faults).toEqual([]);
  });

  test("comes closer to a curve by keyboard and by dragging, and all of the page is about the time that it shows", async () => {
    await using visit = await serving.signIn(browser, { locale: "en-GB" });
    const { page } = visit;
    const path = `/devices/${scalePath}`;
    await page.goto(`${serving.origin}${path}?from=2026-11-02&until=2026-11-18`);
    await page.waitForSelector(".curve[data-points]");
    const plot = page.locator(".curve").first();
    const said = () => page.locator(".plot [role=status]").first().textContent();
    /** Waits until the page is about days, and has them in each of its places. */
    const isAbout = async (from: string, until: string, words: string) => {
      await page.locator(".span > p", { hasText: words }).waitFor();
      await page.waitForURL((url) => url.searchParams.get("from") === from);
      const [from_ms, to_ms] = [from, until].map((date) => startOfDate_ms(zone, date));
      await page.locator(`.curve[data-view="${from_ms} ${to_ms}"]`).first().waitFor();
      const file = await page.getByRole("link", { name: "as CSV" }).getAttribute("href");
      expect(file).toEndWith(`?from=${from}&until=${until}`);
      const [, from_s, before_s] =
        /since=@(\d+)\/(\d+)/.exec((await page.textContent(".request")) ?? "") ?? [];
      expect([from_s, before_s].map((at_s) => localDate(zone, Number(at_s) * 1_000))).toEqual([from, until]);
    };
    await plot.focus();
    await page.keyboard.press("+");
    expect(await said()).toBe("From Friday 6 November, 00:00 to Saturday 14 November, 00:00.");
    await isAbout("2026-11-06", "2026-11-14", "6 November 2026 to Friday, 13 November 2026");
    await plot.focus();
    await page.keyboard.press("End");
    expect(await said()).toStartWith("Friday, 13 November 2026");
    await page.reload();
    await page.waitForSelector(".curve[data-points]");
    await isAbout("2026-11-06", "2026-11-14", "6 November 2026");
    await plot.focus();
    await page.keyboard.press("Shift+ArrowLeft");
    expect(await said()).toStartWith("From Tuesday 3 November, 08:00 to ");
    await isAbout("2026-11-03", "2026-11-12", "3 November 2026");
    await page.goBack();
    await isAbout("2026-11-06", "2026-11-14", "6 November 2026");
    await plot.focus();
    await page.keyboard.press("-");
    await isAbout("2026-11-02", "2026-11-18", "2 November 2026");
    const box = await page.locator(".curve .u-over").first().boundingBox();
    const [left = 0, width = 0, y = 0] = [box?.x, box?.width, (box?.y ?? 0) + 40];
    await page.mouse.move(left + width * 0.52, y);
    await page.mouse.down();
    await page.mouse.move(left + width * 0.8, y, { steps: 3 });
    await page.mouse.up();
    await isAbout("2026-11-10", "2026-11-15", "10 November 2026 to Saturday, 14 November 2026");
    expect(await page.locator(".span [aria-current]").allTextContents()).toEqual(["Weights"]);
    await page.getByRole("link", { name: "Back to 4 weeks" }).click();
    await page.waitForURL(/span=4w/);
    await page.locator(".span [aria-current]", { hasText: "4 weeks" }).waitFor();
    expect(await page.locator(".reset").count()).toBe(0);
    expect(visit.faults).toEqual([]);
  });

  test("has hours and days chosen by dragging over its rows, and a way back from both", async () => {
    await using visit = await doorDrawn(serving, browser, "from=2026-11-02&until=2026-11-16");
    const { page } = visit;
    const box = await page.locator("canvas").boundingBox();
    const layout = JSON.parse((await page.getAttribute("canvas", "data-layout")) ?? "{}");
    const x = (hour: number) => (box?.x ?? 0) + layout.left + ((layout.width - layout.left) * hour) / 24;
    const y = (row: number) => (box?.y ?? 0) + layout.top + (row + 0.5) * layout.rowHeight;
    const drag = async (...places: readonly (readonly [hour: number, row: number])[]) => {
      const [[from_h, from_row], [to_h, to_row]] = places as [[number, number], [number, number]];
      await page.mouse.move(x(from_h), y(from_row));
      await page.mouse.down();
      await page.mouse.move(x(to_h), y(to_row), { steps: 3 });
      await page.mouse.up();
    };
    await drag([6.1, 3], [11.9, 3]);
    await page.waitForURL(/hours=6-12/);
    await page.locator(".span > p", { hasText: "Of each day hours 6 to 12." }).waitFor();
    await page.getByRole("link", { name: "Back to whole days" }).click();
    await page.locator(".span > p", { hasNotText: "hours" }).waitFor();
    await page.waitForFunction(
      () => JSON.parse(document.querySelector("canvas")?.dataset["layout"] ?? "{}").view?.from_ms === 0,
    );
    // The newest day is on top: of the 15th the second row from above is the day before.
    await drag([3, 1], [3.2, 5]);
    await page.waitForURL(/from=2026-11-10&until=2026-11-15/);
    await page.locator(".plot [aria-label*='in 5 days']").waitFor();
    await page.locator(".span > p", { hasText: "10 November 2026 to Saturday, 14 November 2026" }).waitFor();
    const file = await page.getByRole("link", { name: "as CSV" }).getAttribute("href");
    expect(file).toEndWith("?from=2026-11-10&until=2026-11-15");
    const [from_s, before_s] = ["2026-11-10", "2026-11-15"].map(
      (date) => (startOfDate_ms(zone, date) ?? 0) / 1_000,
    );
    expect(await page.textContent(".request")).toContain(`since=@${from_s}/${before_s}&`);
    await page.getByRole("link", { name: /^Back to \d weeks$/ }).click();
    await page.waitForURL(/span=\dw/);
    await page.locator(".span [aria-current]", { hasText: "weeks" }).waitFor();
    expect(visit.faults).toEqual([]);
  });

  test("marks in each plot of the page the moment that is pointed at in one of them", async () => {
    await using visit = await serving.signIn(browser, { locale: "en-GB" });
    const { page } = visit;
    const sensor = line.sensors[1]?.item;
    await page.goto(`${serving.origin}/devices/wirelesssensors/${sensor}?from=2026-09-28&until=2026-11-21`);
    await page.waitForSelector(".curve[data-points]");
    await page.waitForSelector(".plot details");
    const said = () => page.locator(".plot [role=status]").allTextContents();
    const before = await said();
    await page.locator(".drawing").focus();
    for (const key of ["ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
    const [raster, curve] = await said();
    expect(raster).toStartWith("Tuesday 17 November, 00:00");
    expect(curve).toStartWith("Week of Monday, 16 November 2026");
    await page.keyboard.press("Escape");
    expect(await said()).toEqual(before);
    await page.locator(".curve").focus();
    await page.keyboard.press("Home");
    expect((await said())[0]).toMatch(/^(Wednesday 30 September|Thursday 1 October)/);
    expect(visit.faults).toEqual([]);
  });
});
