import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { day_ms, type TimeSpan } from "../../../src/base/time.ts";
import { decodePlot } from "../../../src/web/pages/device/day-plots.ts";
import type { DeviceData } from "../../../src/web/pages/device/device-data.ts";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { demoNow_ms, serveDemoHistory } from "./demo-history.ts";
import type { PagesServing } from "./device-home.ts";

/** Nobody listened for five days in the middle of the home's month. */
const powerCut = { from_ms: demoNow_ms - 16 * day_ms, to_ms: demoNow_ms - 11 * day_ms };

let serving: PagesServing;
beforeAll(async () => {
  const none = { from_ms: 0, to_ms: 0 };
  serving = await serveDemoHistory({
    powerCut,
    deadBattery: { ...none, sensor: "fridge-door" },
    broken_ms: demoNow_ms - 2 * day_ms,
  });
});
afterAll(() => serving[Symbol.asyncDispose]());

describe.skipIf(chromiumPath === undefined)(`an outage in Chromium (else ${noChromium})`, () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await TestBrowser.start();
  });
  afterAll(() => browser[Symbol.asyncDispose]());

  test.each([
    ["walking speed", "wirelesssensors/hall-curtain-2?span=4w"],
    ["weight and composition", "scales/scale-bathroom?span=4w"],
    ["temperature", "wirelesssensors/bedroom-wall?span=4w&series=measures"],
    ["the voltage of a pill box", "pillboxes/pillbox-morning?span=4w&series=status"],
  ])("is crossed by no line and no band of %s", async (_, path) => {
    await using visit = await serving.signIn(browser, { locale: "en-GB" });
    const { page } = visit;
    await page.goto(`${serving.origin}/devices/${path}`);
    await page.waitForSelector(".curve[data-points]");
    const curves = await page.locator(".curve").count();
    expect(curves).toBeGreaterThan(0);
    for (let place = 0; place < curves; place += 1) {
      const drawn = await drawnColumns(page, place);
      expect(drawn(powerCut)).toBe(0);
      // There are lines before it and behind it: their colours are those that were looked for.
      expect(drawn({ from_ms: powerCut.from_ms - 9 * day_ms, to_ms: powerCut.from_ms })).toBeGreaterThan(50);
      expect(drawn({ from_ms: powerCut.to_ms, to_ms: powerCut.to_ms + 9 * day_ms })).toBeGreaterThan(50);
    }
    expect(visit.faults).toEqual([]);
  });
});

test.each(["sleep", "steps"] as const)("where a watch told nothing its days have no %s", async (measure) => {
  const answer = await serving.ask(`/plots/watches/watch-1/${measure}?span=4w`);
  const { from_ms, step_ms, levels, uncovered } = decodePlot(await answer.arrayBuffer());
  const stepsOf = (span: TimeSpan) =>
    levels.slice(Math.ceil((span.from_ms - from_ms) / step_ms), Math.floor((span.to_ms - from_ms) / step_ms));
  const untold = uncovered.flatMap((span) => [...stepsOf(span)]);
  expect(untold.length).toBeGreaterThan(100);
  expect(new Set(untold)).toEqual(new Set([0]));
  expect(levels.filter((level) => level > 0).length).toBeGreaterThan(100);
});

/**
 * Counts the columns of a curve's canvas that something is drawn in, in a stretch of its time. Its edges are left out, and so is what lies beside a value: a scale
 * keeps what it weighed, and tells it later.
 */
async function drawnColumns(page: Page, place: number) {
  const box = page.locator(".curve").nth(place);
  const [from_ms = 0, to_ms = 0] = ((await box.getAttribute("data-view")) ?? "").split(" ").map(Number);
  const { isDrawn, values_ms } = await box.evaluate((box, place) => {
    const { data } = JSON.parse(document.getElementById("shown")?.textContent ?? "{}") as {
      data: DeviceData;
    };
    const { at_ms = [], lines = [] } = [...data.curves, ...data.walking][place] ?? {};
    const canvas = box.querySelector("canvas") as HTMLCanvasElement;
    const [over, whole] = [box.querySelector(".u-over"), canvas].map((one) => one?.getBoundingClientRect());
    if (over === undefined || whole === undefined) throw new Error("nothing is drawn");
    const [width, height] = [Math.floor(over.width), Math.floor(over.height)];
    const image = canvas
      .getContext("2d")
      ?.getImageData(over.left - whole.left, over.top - whole.top, width, height);
    // Lines and bands are green, and medians dark. What says that nothing is known is grey, and lighter.
    const isInk = (at: number) => {
      const [red = 0, green = 0] = image?.data.subarray(at, at + 2) ?? [];
      return green - red > 15 || red < 70;
    };
    const rows = Array.from({ length: height }, (_, y) => y);
    return {
      isDrawn: Array.from({ length: width }, (_, x) => rows.some((y) => isInk(4 * (y * width + x)))),
      values_ms: at_ms.filter((_, at) => lines.some(({ values }) => (values[at] ?? null) !== null)),
    };
  }, place);
  const columnOf = (at_ms: number) => ((at_ms - from_ms) / (to_ms - from_ms)) * isDrawn.length;
  const values = values_ms.map(columnOf);
  const isAtValue = (x: number) => values.some((value) => Math.abs(value - x) < beside_px);
  return (span: TimeSpan) => {
    const [first, end] = [columnOf(span.from_ms) + beside_px, columnOf(span.to_ms) - beside_px];
    return isDrawn.filter((is, x) => is && x > first && x < end && (span !== powerCut || !isAtValue(x)))
      .length;
  };
}

/** The mark of a value, and of a line's end. */
const beside_px = 5;
