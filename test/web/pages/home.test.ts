import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createRequire } from "node:module";
import { windowAt } from "../../../src/web/pages/home/strip-window.ts";
import { chromiumPath, noChromium, TestBrowser, type Visit } from "../../../testbed/browser.ts";
import { eventually, type RunningServer, Site } from "../../../testbed/front-door.ts";
import type { SimulatorProcess } from "../../../testbed/simulator-process.ts";

/** A home with two sensors and a stick that is not there, and a browser that stays on its page. */
describe.skipIf(chromiumPath === undefined)(`the page of a home (${noChromium})`, () => {
  const site = new Site();
  let gateway: RunningServer;
  let stick: SimulatorProcess;
  let token = "";
  let browser: TestBrowser;
  let visit: Visit;
  /** The sensors by the names of their items. */
  const sensors = new Map<string, string>();

  beforeAll(async () => {
    stick = await site.simulator("zigbee");
    configure("127.0.0.1:0");
    gateway = await site.run();
    configure(new URL(gateway.origin).host);
    token = await site.token();
    await site.listening("zigbee");
    const pair = site.spawn(["pair", "--seconds", "60", "--json", "--data", site.data]);
    await pair.line();
    for (const model of ["3041", "3011"]) {
      const { ieee } = (await stick.tell({ do: "add", model })) as { ieee: string };
      await stick.tell({ do: "join", ieee });
      await pair.line();
      const known = await eventually(async () => {
        const items = await gateway.records<{ itemname: string }[]>("/inventory/wirelesssensors", token);
        return items.find(({ itemname }) => !sensors.has(itemname));
      }, `the item of ${ieee}`);
      sensors.set(known.itemname, ieee);
    }
    pair.kill("SIGINT");
    await pair.exited;
    browser = await TestBrowser.start();
    visit = await browser.visit({ locale: "en-GB" });
  });

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await site.remove();
  });

  function configure(listen: string): void {
    const missing = `[pillbox]\nport = "${site.directory}/no-such-stick"`;
    site.configure({
      listen,
      sections: `[home]\nid = 12\ntimezone = "${zoneAtNoon()}"\n[zigbee]\nport = "${stick.path}"\n${missing}`,
    });
  }

  const names = () => [...sensors.keys()];
  const notify = (name: string, status: number) =>
    stick.tell({ do: "notify", ieee: sensors.get(name), status });
  /** The columns of a device's strip that have a mark. */
  const marksOf = (name: string, { page } = visit) =>
    page.evaluate(
      (wanted) =>
        [...document.querySelectorAll(".device-row")]
          .find((row) => row.querySelector(".name")?.textContent === wanted)
          ?.querySelector(".marks")
          ?.getAttribute("d")
          ?.match(/(?<=M)\d+/g)
          ?.map(Number) ?? [],
      name,
    );
  /** The columns that the events of the API fall into: minutes of the 24 hours that end with this quarter of an hour. */
  async function columnsByApi(name: string): Promise<number[]> {
    const { from_ms } = windowAt(Date.now(), "day", "UTC");
    const events = await gateway.events(name, token);
    const columns = events
      .filter(({ event }) => (event & 3) !== 0)
      .map(({ stamp }) => Math.floor((stamp * 1000 - from_ms) / 60_000));
    return [...new Set(columns)].toSorted((one, other) => one - other);
  }

  /** The marks of a device's strip, once they are where the API has them: the window of both moves on with each quarter of an hour. */
  const marksByApi = (name: string) =>
    eventually(async () => {
      const marks = await marksOf(name);
      return Bun.deepEquals(marks, await columnsByApi(name)) ? marks : undefined;
    }, `the marks of ${name} where the API has them`);

  test("a link with a token signs in, and the first line says what is to be done", async () => {
    const { page } = visit;
    await page.goto(`${gateway.origin}/#token=${token}`);
    await page.waitForSelector(".home h1");
    expect(page.url()).toBe(`${gateway.origin}/`);
    expect(await page.textContent("h1")).toBe("One thing to do: nothing is heard by [pillbox].");
    expect(await page.textContent(".home-needs")).toContain("[pillbox]");
    expect(await page.textContent(".home-needs")).toContain("no-such-stick");
    expect(await page.locator(".device-row .name").allTextContents()).toEqual(names());
  });

  test("an event arrives by itself as a mark where the API has it, and glows", async () => {
    const { page } = visit;
    const [name = ""] = names();
    expect(await marksOf(name)).toEqual([]);
    await notify(name, 0x32);
    // In its own row: what the other sensor said as it joined may glow too.
    await page
      .locator(".device-row", { hasText: name })
      .locator(".arrived")
      .first()
      .waitFor({ state: "attached" });
    expect(await marksByApi(name)).toHaveLength(1);
    expect(await page.locator(".device-row", { hasText: name }).locator(".latest").textContent()).toBe("now");
  });

  test("a door says since when it is open, and when it was closed", async () => {
    const { page } = visit;
    const name = names()[1] ?? "";
    const latest = page.locator(".device-row", { hasText: name }).locator(".latest");
    await notify(name, 0x31);
    await latest.filter({ hasText: "open since" }).waitFor();
    await notify(name, 0x30);
    await latest.filter({ hasText: "closed" }).waitFor();
    await marksByApi(name);
  });

  test("the time before a device was there is no part of its strip, and ends as the API has it", async () => {
    const { page } = visit;
    const [name = ""] = names();
    const rows = page.locator(".device-row", { hasText: name });
    // It joined a moment ago: that is nearly all of the day.
    const before = rows.locator(".nothing").first();
    expect(await before.getAttribute("data-why")).toBe("absent");
    expect(await page.locator(".legend").textContent()).toContain("the device was not there");
    const [interval] = await gateway.records<{ start: number }[]>(
      `/items/wirelesssensors/${name}/coverage`,
      token,
    );
    // The API has whole seconds.
    await eventually(async () => {
      const { from_ms, to_ms } = windowAt(Date.now(), "day", "UTC");
      const share = (100 * ((interval?.start ?? 0) * 1000 - from_ms)) / (to_ms - from_ms);
      const width = Number.parseFloat((await before.getAttribute("width")) ?? "");
      return Math.abs(width - share) < 0.003 || undefined;
    }, "the end of the time before, where the API has it");
    expect(await rows.locator(".nothing").count()).toBe(1);
  });

  test("while the gateway is away the page says that it is not up to date, and goes on by itself afterwards", async () => {
    const { page } = visit;
    const name = names()[1] ?? "";
    expect(await gateway.stop()).toBe(0);
    await page.locator(".lost").waitFor({ state: "visible" });
    gateway = await site.run();
    await site.listening("zigbee");
    await page.locator(".lost").waitFor({ state: "hidden" });
    await notify(name, 0x31);
    await page
      .locator(".device-row", { hasText: name })
      .locator(".latest", { hasText: "open since" })
      .waitFor();
  });

  test("the span is in the address, and the strips follow it", async () => {
    const { page } = visit;
    await page.getByRole("link", { name: "week", exact: true }).click();
    await page.waitForURL(`${gateway.origin}/?span=week`);
    const { from_ms, to_ms } = await page.evaluate(
      () => JSON.parse(document.getElementById("shown")?.textContent ?? "{}").data.window,
    );
    expect(to_ms - from_ms).toBe(7 * 24 * 3_600_000);
    expect((await marksOf(names()[0] ?? "")).length).toBeGreaterThan(0);
    await page.getByRole("link", { name: "year", exact: true }).click();
    await page.waitForURL(`${gateway.origin}/?span=year`);
    // All of it was today: one column, the last, as deep as they get.
    const drawn = await page
      .locator(".marks")
      .evaluateAll((paths) => paths.map((path) => path.getAttribute("d")));
    expect(drawn.filter((d) => d !== "")).toEqual(names().map(() => "M364.5 .1v.8"));
    const shown = await page.evaluate(
      () => JSON.parse(document.getElementById("shown")?.textContent ?? "{}").data.devices as Row[],
    );
    for (const { name, often } of shown) {
      const events = await gateway.events(name, token);
      expect(often).toEqual([events.filter(({ event }) => (event & 3) !== 0).length]);
    }
    await page.goto(`${gateway.origin}/`);
  });

  test("it fits a narrow telephone, and nothing stands in the way of a screen reader, light or dark", async () => {
    const { page } = visit;
    const axe = await Bun.file(createRequire(import.meta.url).resolve("axe-core/axe.min.js")).text();
    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [320, 1280]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        await page.evaluate(axe);
        const found = await page.evaluate(async () => {
          const { violations } = await (globalThis as unknown as { axe: { run(): Promise<Axe> } }).axe.run();
          return violations.map(({ id, impact, nodes }) => `${id} (${impact}): ${nodes[0]?.html}`);
        });
        expect(found).toEqual([]);
      }
  });

  test("no error, no request to elsewhere and no violation of the policy has come of all this", () => {
    // That it could not connect while the gateway was away is said by the browser itself, at any time after.
    expect(visit.faults.filter((fault) => !fault.includes("net::ERR_"))).toEqual([]);
  });

  test("who may see another home alone sees nothing of this one, in the page or its stream", async () => {
    const other = await site.token("--home", "99");
    await using stranger = await browser.visit();
    await stranger.page.goto(`${gateway.origin}/#token=${other}`);
    await stranger.page.waitForSelector(".home h1");
    const text = await stranger.page.content();
    for (const name of [...names(), ...sensors.values(), "no-such-stick"]) expect(text).not.toContain(name);
    const [cookie] = await stranger.page.context().cookies();
    const stream = await fetch(`${gateway.origin}/live`, {
      headers: { cookie: `${cookie?.name}=${cookie?.value}` },
    });
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
    let streamed = "";
    while (!streamed.includes("data: "))
      streamed += new TextDecoder().decode((await reader.read()).value ?? new Uint8Array());
    await reader.cancel();
    for (const name of [...names(), "no-such-stick"]) expect(streamed).not.toContain(name);
  });
});

interface Row {
  readonly name: string;
  readonly often: readonly number[];
}

interface Axe {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** The zone where it is noon: what happens during a test is of one day there. */
function zoneAtNoon(): string {
  const east = 12 - new Date().getUTCHours();
  // The names have the signs the other way round.
  return `Etc/GMT${east > 0 ? "-" : "+"}${Math.abs(east)}`;
}
