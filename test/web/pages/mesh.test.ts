import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { MeshScan } from "../../../src/domain/mesh.ts";
import { meshFile } from "../../../src/domain/mesh-file.ts";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { sensor } from "../../../testbed/sample.ts";
import { type HomesCentral, nameOf, now_ms, serveHomes, signIn } from "./homes-central.ts";

const [stick, plug] = ["00:12:4b:00:00:00:00:01", "a4:c1:38:00:00:00:ab:cd"];
const [one, other] = [sensor(30).address, sensor(31).address];

/** Home 3 with a plug that a sensor hangs on, and another sensor that moved to the stick. */
function scan(hours: number, by: string, { quality = 36, battery_percent = 40 } = {}): MeshScan {
  return {
    at_ms: now_ms + hours * 3_600_000,
    nodes: [
      { address: stick, role: "stick", answered: true },
      { address: plug, role: "router", model: "TS011F", answered: true },
      { address: one, role: "sleeper", model: "3041", battery_percent },
      { address: other, role: "sleeper", model: "3041" },
    ],
    links: [
      { by: stick, of: plug, quality: 160 },
      { by: plug, of: stick, quality: 152 },
      { by: plug, of: one, quality, child: true },
      { by, of: other, quality: 120, child: true },
    ],
    channel: { number: 20, measured: true },
  };
}

const month = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" }).format(
  now_ms - 8_010 * 3_600_000,
);

let served: HomesCentral;
beforeAll(async () => {
  served = await serveHomes();
  const early = [-8_000, -8_010, -8_020].map((hours) =>
    scan(hours, plug, { quality: 180, battery_percent: 95 }),
  );
  const scans = [scan(-1, stick), scan(-25, plug), ...early];
  await served.central.store.putBackup(3, meshFile, new TextEncoder().encode(JSON.stringify({ scans })));
  await served.central.store.putBackup(4, meshFile, new TextEncoder().encode('{"scans":[{}]}'));
});
afterAll(() => served[Symbol.asyncDispose]());

test("central shows the mesh of a home by the names of its items, what is to be done first", async () => {
  const text = await (await served.page("/homes/3/mesh", await served.mint("read"))).text();
  const read = text.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
  for (const words of [
    `${nameOf(3, 0)} hangs on TS011F (ab:cd) by a weak link (36 of 255). It was 180 in ${month}. Move one of them`,
    `The battery of ${nameOf(3, 0)} was at 95 % in ${month}, and is at 40 % now.`,
    "The network is on channel 20 (between the Wi-Fi channels 6 and 11; the quietest when the network was formed).",
    `Since yesterday 22:00: ${nameOf(3, 1)} moved from TS011F (ab:cd) to the stick.`,
    "5 scans are kept.",
    "Link quality goes from 0 to 255",
  ])
    expect(read).toContain(words);
  const shown = (words: string) => new RegExp(`${words} <time[^>]*datetime="([^"]+)"`, "i").exec(text)?.[1];
  const iso = (hours: number) => new Date(now_ms + hours * 3_600_000).toISOString();
  expect([shown("Asked"), shown("The first one is of")]).toEqual([iso(-1), iso(-8_020)]);
});

test("a home without a scan that can be read says so, and a token of other homes sees no home", async () => {
  const token = await served.mint("read");
  for (const home of [4, 5])
    expect(await (await served.page(`/homes/${home}/mesh`, token)).text()).toContain("is not known yet");
  const bound = await served.mint("read", { homes: [4], projects: [], studies: [] });
  expect((await served.page("/homes/3/mesh", bound)).status).toBe(404);
  expect((await served.page("/homes/4/mesh", bound)).status).toBe(200);
});

describe.skipIf(chromiumPath === undefined)(`in a browser (${noChromium})`, () => {
  test("nothing goes over the edge of a narrow screen", async () => {
    await using browser = await TestBrowser.start();
    for (const width of [320, 1280]) {
      await using visit = await browser.visit({ viewport: { width, height: 900 } });
      const { page, faults } = visit;
      await signIn(visit, served);
      await page.goto(`${served.central.origin}/homes/3/mesh`);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      expect(faults).toEqual([]);
    }
  });
});
