import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { day_ms, hour_ms } from "../../../src/base/time.ts";
import type { CentralStore } from "../../../src/store/central/central-store.ts";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { item, sensor } from "../../../testbed/sample.ts";
import { SimulatedGateway, wellReport } from "../../../testbed/simulated-gateway.ts";
import { take } from "../../store/central-sample.ts";
import { type HomesCentral, now_ms, serveHomes } from "./homes-central.ts";

const homes = Array.from({ length: 600 }, (_, place) => place + 1);
/** It has sent nothing for six days. */
const worst = 437;

describe.skipIf(chromiumPath === undefined)(`600 homes in Chromium (else ${noChromium})`, () => {
  let served: HomesCentral;
  let browser: TestBrowser;
  beforeAll(async () => {
    served = await serveHomes("SQLite", { fill: manyHomes });
    browser = await TestBrowser.start();
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await served[Symbol.asyncDispose]();
  });

  test("on the first screen of a phone are the answer, the home that loses most data, and the way to all others", async () => {
    await using visit = await browser.visit({ locale: "en-GB", viewport: { width: 390, height: 844 } });
    const { page } = visit;
    const { origin } = served.central;
    await page.goto(`${origin}/sign-in#token=${await served.mint("admin")}`);
    await page.waitForURL(`${origin}/`);
    // Of each fifty one is silent in part, and of each twenty one is late.
    expect(await page.textContent("h1")).toBe("43 of 600 homes need a visit.");
    const first = page.locator(".needy > li").first();
    expect(await first.locator(".home").textContent()).toBe(`Home ${worst}`);
    expect(await first.textContent()).toMatch(/\d+ % of the last 7 days is missing\./);
    for (const place of [page.locator("h1"), page.locator(".views"), first]) {
      const box = await place.boundingBox();
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(844);
    }
    // Fifty rows stand on a page, and the others a tap away.
    expect(await page.locator("tbody tr").count()).toBe(50);
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(5_000);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    expect(visit.faults).toEqual([]);
  });
});

/** Each home has two sensors and has uploaded in the night, but for some. */
async function manyHomes(store: CentralStore): Promise<void> {
  const devices = [sensor(0), sensor(1)];
  await take(
    store,
    ...homes.flatMap((home) =>
      devices.map((_, place) =>
        item(home * 10 + place, {
          itemname: `home-${home}-${place}`,
          macaddress: sensor(home * 10 + place).address,
          currenthomeid: home,
          currenthomestart: 1,
        }),
      ),
    ),
  );
  for (const home of homes) await sendHome(store, home);
}

async function sendHome(store: CentralStore, home: number): Promise<void> {
  const late_days = home === worst ? 6 : home % 20 === 7 ? 2 : 0;
  const at_ms = now_ms - 20 * hour_ms - late_days * day_ms;
  const first_ms = now_ms - 30 * day_ms;
  const own = [0, 1].map((place) => sensor(home * 10 + place));
  const gateway = new SimulatedGateway(home, `home ${home}`);
  for (const device of own)
    gateway.add({ device, series: "wirelesssensor_events", stamp_ms: at_ms - hour_ms, fields: [1] });
  await store.receive(gateway.all(), { home, at_ms });
  const { last_seq } = gateway;
  const report = wellReport({ version: "1.0.0", now_ms: at_ms, timezone: "Europe/Berlin", last_seq });
  const health = {
    devices: own,
    listeners: [{ name: "zigbee", first_ms, last_ms: at_ms }],
    states: own.map((_, device) => ({
      device,
      first_ms,
      heard_ms: home % 50 === 1 && device === 0 ? at_ms - 3 * day_ms : at_ms,
      listener: "zigbee",
      battery_percent: 80,
    })),
  };
  const as_of = { last_seq, day: Math.floor((at_ms + hour_ms) / day_ms) };
  await store.noteReport({ ...gateway.report(health, report), as_of }, { home, at_ms });
}
