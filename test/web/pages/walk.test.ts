import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { isAsSigned } from "../../../src/base/signed-json.ts";
import type { KeptAcceptance } from "../../../src/domain/acceptance.ts";
import { chromiumPath, noChromium, TestBrowser, type Visit } from "../../../testbed/browser.ts";
import { eventually, type LintelProcess, type RunningServer, Site } from "../../../testbed/front-door.ts";
import { faultsOfLoad } from "../../../testbed/page-load.ts";
import type { SimulatorProcess } from "../../../testbed/simulator-process.ts";
import { faultsForAll } from "./accessibility.ts";

/** Where screenshots go; none are taken without it. */
const pictures = process.env["LINTEL_PICTURES"];

describe.skipIf(chromiumPath === undefined)(`setting up a home, page by page (${noChromium})`, () => {
  const site = new Site();
  let gateway: RunningServer;
  let stick: SimulatorProcess;
  let reading = "";
  let browser: TestBrowser;
  let visit: Visit;
  const sensors: string[] = [];

  beforeAll(async () => {
    stick = await site.simulator("zigbee");
    site.configure({
      sections: `[home]\nid = 12\ntimezone = "America/Los_Angeles"\n[zigbee]\nport = "${stick.path}"`,
    });
    gateway = await site.run();
    reading = await site.token();
    const admin = await site.token("--scope", "admin");
    await site.listening("zigbee");
    browser = await TestBrowser.start();
    visit = await browser.visit({ locale: "en-GB", viewport: { width: 390, height: 844 } });
    await visit.page.goto(`${gateway.origin}/#token=${admin}`);
    await visit.page.getByRole("link", { name: "Set up this home" }).click();
    await visit.page.waitForSelector(".walk h1");
  });

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await site.remove();
  });

  async function picture(name: string): Promise<void> {
    if (pictures === undefined) return;
    mkdirSync(pictures, { recursive: true });
    for (const width of [1280, 390])
      for (const colorScheme of ["light", "dark"] as const) {
        await visit.page.setViewportSize({ width, height: 844 });
        await visit.page.emulateMedia({ colorScheme });
        await visit.page.screenshot({
          path: `${pictures}/walk-${name}-${width}-${colorScheme}.png`,
          fullPage: true,
        });
      }
  }

  let pairing: LintelProcess | undefined;
  /** Adds a sensor, and has it join; answers its address once there are so many items. */
  async function join(model: string, items: number): Promise<{ address: string }> {
    if (pairing === undefined) {
      pairing = site.spawn(["pair", "--seconds", "250", "--json", "--data", site.data]);
      await pairing.line();
    }
    const { ieee } = (await stick.tell({ do: "add", model })) as { ieee: string };
    sensors.push(ieee);
    await stick.tell({ do: "join", ieee });
    let joined = { state: "", address: "" };
    while (joined.state !== "joined") {
      const line = await pairing.line();
      if (line === undefined) throw new Error("lintel pair ended before the sensor had joined");
      joined = JSON.parse(line);
    }
    await eventually(async () => {
      const known = await gateway.records<object[]>("/inventory/wirelesssensors", reading);
      return known.length === items ? true : undefined;
    }, `the item of ${ieee}`);
    return joined;
  }

  const title = (words: RegExp) => visit.page.locator("h1", { hasText: words }).waitFor();

  test("devices are let in by a tap, and each appears by itself with what it is and how well it is heard", async () => {
    const { page } = visit;
    expect(await page.textContent("h1")).toBe("Nothing has been found yet.");
    expect(await faultsOfLoad(page)).toEqual([]);
    await page.getByRole("button", { name: "Let devices in" }).click();
    await page.getByRole("button", { name: "Stop letting devices in" }).waitFor();
    await page.getByText(/^Devices can join until \d\d:\d\d, for about [34] minutes more\. /).waitFor();
    for (const model of ["3041", "3011"]) {
      const { ieee } = (await stick.tell({ do: "add", model })) as { ieee: string };
      sensors.push(ieee);
      await stick.tell({ do: "join", ieee });
      await title(new RegExp(`^${sensors.length} devices? found`));
    }
    const words = await page.locator(".walk-devices").textContent();
    for (const word of ["Motion sensor", "Door sensor", "NYCE 3011", "Signal strong"])
      expect(words).toContain(word);
    const lamp = (await stick.tell({ do: "add", model: "lamp" })) as { ieee: string };
    await stick.tell({ do: "join", ieee: lamp.ieee });
    await page.getByText("could not join").waitFor();
    expect(await page.locator(".walk-device.needed").textContent()).toMatch(
      /not a sensor \(Acme lamp\).*reading. Leave it/,
    );
    expect(await faultsForAll(page)).toEqual([]);
    await picture("find");
    await page.getByRole("button", { name: "Stop letting devices in" }).click();
    await page.getByText("No new device can join now").waitFor();
    const pair = site.spawn(["pair", "--seconds", "60", "--json", "--data", site.data]);
    await page
      .getByText(/^Devices can join until .*less than a minute more: lintel pair runs on the gateway\./)
      .waitFor();
    pair.kill("SIGINT");
    await pair.exited;
    await page.getByText("No new device can join now").waitFor();
  });

  test("each is named by tapping its room, and a name that is taken gets a number", async () => {
    const { page } = visit;
    await page.getByRole("link", { name: "Name them" }).click();
    await title(/^Where is this motion sensor/);
    expect(await faultsForAll(page)).toEqual([]);
    await picture("name");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The name is empty").waitFor();
    // Whoever comes next is not greeted by the error of a form that somebody else sent.
    await page.goto(`${new URL(page.url()).origin}/walk?step=name`);
    await title(/^Where is this motion sensor/);
    expect(await page.getByText("The name is empty").count()).toBe(0);
    await page.getByLabel("Kitchen").check();
    await page.getByLabel("Name, if").fill("Corner");
    await page.getByRole("button", { name: "Save" }).click();
    await title(/^Where is this door sensor/);
    await page.getByLabel("Another room").fill("Pantry");
    await page.getByLabel("Name, if").fill("Corner");
    await page.getByRole("button", { name: "Save" }).click();
    await title(/^Everything has a name/);
    const items = await gateway.records<{ itemname: string }[]>("/inventory/wirelesssensors", reading);
    expect(items.map(({ itemname }) => itemname).toSorted()).toEqual(["Corner", "Corner 2"]);
    await page.getByRole("link", { name: "Corner 2" }).click();
    await page.getByLabel("Name, if").fill("");
    await page.getByLabel("Hall").check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("link", { name: "Hall door" }).waitFor();
  });

  test("three curtain sensors in the hall are measured, and make a line, and two at one place are none", async () => {
    const { page } = visit;
    for (const number of [1, 2, 3]) await join("3045", number + 2);
    for (const number of [1, 2, 3]) {
      await page.goto(`${gateway.origin}/walk?step=name`);
      await title(/^Where is this curtain sensor/);
      if (number === 1) await picture("name");
      await page.getByRole("radio", { name: "Hall", exact: true }).check();
      await page.getByRole("button", { name: "Save" }).click();
      const name = number === 1 ? "Hall curtain" : `Hall curtain ${number}`;
      await page.getByRole("link", { name, exact: true }).waitFor();
    }
    await page.getByRole("link", { name: "Measure the line" }).click();
    await title(/^3 curtain sensors are not measured yet/);
    // Nobody can tell them apart, but a walk along them does: here the second one hangs first.
    const walked = [3, 2, 4] as const;
    await page.getByRole("button", { name: "Walk along Hall" }).click();
    await page.getByText("0 of 3 saw you. Walk on.").waitFor();
    for (const [place, sensor] of walked.entries()) {
      await stick.tell({ do: "notify", ieee: sensors[sensor], status: 0x32 });
      await page
        .getByText(place < 2 ? `${place + 1} of 3 saw you` : "in the order in which they saw you")
        .waitFor();
    }
    expect(await page.locator(".walk-line .walk-name").allTextContents()).toEqual([
      ...["Hall curtain 2", "Hall curtain", "Hall curtain 3"],
    ]);
    await picture("order");
    const field = (name: string) => page.getByLabel(name, { exact: true });
    await field("Hall curtain").fill("0");
    await field("Hall curtain 3").fill("far");
    await page.getByRole("button", { name: "Save the distances" }).click();
    await page.getByText('"far" is no distance in metres').waitFor();
    await title(/^2 curtain sensors are not measured yet/);
    await field("Hall curtain 2").fill("0,75");
    await field("Hall curtain 3").fill("0.75");
    await page.getByRole("button", { name: "Save the distances" }).click();
    await page.getByText("at the same place: give each its own distance").waitFor();
    expect(await faultsForAll(page)).toEqual([]);
    await field("Hall curtain 3").fill("1.5");
    await page.getByRole("button", { name: "Save the distances" }).click();
    await title(/^The line is measured/);
    await page.getByText("3 sensors over 1.50 m").waitFor();
    expect(await faultsForAll(page)).toEqual([]);
    await picture("line");
  });

  test("a new sensor takes name and place of a broken one, which is shown no more", async () => {
    const { page } = visit;
    const { address } = await join("3041", 6);
    await page.goto(`${gateway.origin}/walk?step=name`);
    await title(/^Where is this motion sensor/);
    await page.getByText("It replaces a broken one").click();
    await page.getByLabel("Corner").check();
    expect(await faultsForAll(page)).toEqual([]);
    await picture("replace");
    await page.getByRole("button", { name: "Replace the broken one" }).click();
    await title(/^Everything has a name/);
    const corner = await gateway.records<{ macaddress: string }>(
      "/inventory/wirelesssensors/Corner",
      reading,
    );
    expect(corner.macaddress).toBe(address);
    const old = sensors.shift();
    sensors.unshift(sensors.pop() as string);
    expect(sensors).not.toContain(old);
  });

  test("each device is ticked off when it does what was asked of it, with a tone, and no sign of life does it", async () => {
    const { page } = visit;
    await page.goto(`${gateway.origin}/walk`);
    await page.getByRole("link", { name: "Change a name or a room" }).click();
    await title(/^Everything has a name/);
    await page.getByRole("link", { name: "Walk and test" }).click();
    await title(/^0 of 4 done/);
    await page.getByRole("button", { name: "Sound a tone" }).click();
    const tones = () => page.evaluate(() => Number(document.documentElement.dataset["tones"] ?? 0));
    expect(await tones()).toBe(1);
    await page.getByRole("button", { name: /^Try.*: Corner$/ }).click();
    await title(/^Corner: Walk past it/);
    await picture("test");
    // A battery that runs low is no motion.
    await stick.tell({ do: "notify", ieee: sensors[0], status: 0x38 });
    await page.getByRole("button", { name: "Try: Hall door" }).click();
    await page.getByText("did not answer").waitFor();
    await stick.tell({ do: "notify", ieee: sensors[1], status: 0x31 });
    await stick.tell({ do: "notify", ieee: sensors[1], status: 0x30 });
    await title(/^1 of 4 done/);
    await page.getByRole("button", { name: /^Try.*: Corner$/ }).click();
    await title(/^Corner: Walk past it/);
    await stick.tell({ do: "notify", ieee: sensors[0], status: 0x32 });
    await title(/^2 of 4 done/);
    expect(await page.locator(".spoken").allTextContents()).toHaveLength(2);
    for (const sensor of [2, 3, 4]) await stick.tell({ do: "notify", ieee: sensors[sensor], status: 0x30 });
    const line = ["Hall curtain", "Hall curtain 2", "Hall curtain 3"];
    for (const [names, path] of [
      [line, [2, 3, 4]],
      [line.toReversed(), [4, 3, 2]],
    ] as const) {
      const [from] = names;
      await page.getByRole("button", { name: `Try: Hall, from ${from}`, exact: true }).click();
      await title(/^Hall, from Hall curtain/);
      for (const [place, sensor] of path.entries()) {
        await stick.tell({ do: "notify", ieee: sensors[sensor], status: 0x32 });
        await stick.tell({ do: "notify", ieee: sensors[sensor], status: 0x30 });
        const seen = names.slice(0, place + 1).join(", ");
        if (place < 2) await page.getByText(`seen by ${seen}`).waitFor();
      }
      await title(from === "Hall curtain" ? /^3 of 4 done/ : /^Everything was tried/);
    }
    expect(await tones()).toBeGreaterThan(1);
    expect(await faultsForAll(page)).toEqual([]);
    await picture("tested");
  });

  test("the record is signed, says when each device did its task, prints on one page, and never changes", async () => {
    const { page } = visit;
    await page.getByRole("link", { name: "Finish" }).click();
    await title(/^Everything did its task/);
    await page.getByLabel("Your name").fill("Ann Lee");
    expect(await faultsForAll(page)).toEqual([]);
    await picture("finish");
    await page.getByRole("button", { name: "Finish" }).click();
    await title(/^Accepted, first night to come/);
    expect(await page.textContent("main")).toContain("Record 1 is signed.");
    await page.getByRole("link", { name: "Show the record" }).click();
    await title(/^Accepted, first night to come/);
    const words = await page.textContent(".acceptance");
    for (const word of ["Corner", "Kitchen", "Hall door", "Los_Angeles", "Ann Lee", "in place of"])
      expect(words).toContain(word);
    for (const word of [
      "stays in this box",
      "Clock",
      "Hall curtain, Hall curtain 2, Hall curtain 3",
      ", done",
    ])
      expect(words).toContain(word);
    expect(await faultsForAll(page)).toEqual([]);
    await picture("record");
    for (const width of [320, 2560]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
    if (pictures !== undefined) await page.pdf({ path: `${pictures}/record.pdf`, preferCSSPageSize: true });
    const pages = (await page.pdf({ preferCSSPageSize: true }))
      .toString("latin1")
      .match(/\/Type\s*\/Page\b/g);
    expect(pages).toHaveLength(1);
    await stick.tell({ do: "notify", ieee: sensors[0], status: 0x32 });
    await page.reload();
    expect(await page.textContent(".acceptance")).toBe(words as string);
    const [served] = await gateway.records<KeptAcceptance[]>("/homes/12/acceptances", reading);
    expect(served?.signed).toMatchObject({ number: 1, tester: "Ann Lee", passed: true });
    expect(served !== undefined && isAsSigned(served)).toBe(true);
    expect(visit.faults).toEqual([]);
  });

  test("the page of the home has a group for each room, and the line where its sensors are", async () => {
    const { page } = visit;
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${gateway.origin}/`);
    expect(await page.locator(".home .group-title").allTextContents()).toEqual(["Hall", "Kitchen"]);
    const hall = page.locator("section.group", { hasText: "Hall curtain 3" });
    expect(await hall.locator(".walking").textContent()).toMatch(/^Hall: /);
    expect(await hall.locator(".name").allTextContents()).toContain("Hall door");
    await picture("home");
    await page.goto(`${gateway.origin}/devices/wirelesssensors/Corner`);
    expect(await page.textContent("h1")).toContain("Corner");
    expect(visit.faults).toEqual([]);
  });

  test("whoever may only read is told which token it takes, and a form of another site opens nothing", async () => {
    pairing?.kill("SIGINT");
    await pairing?.exited;
    const origin = gateway.origin;
    const name = `lintel-${new URL(origin).port}`;
    const cookie = { Cookie: `${name}=${reading}` };
    const own = { "Sec-Fetch-Site": "same-origin" };
    const send = (path: string, headers: Record<string, string>) =>
      fetch(`${origin}${path}`, {
        method: "POST",
        redirect: "manual",
        headers,
        body: new URLSearchParams({ do: "open" }),
      });
    const refused = await fetch(`${origin}/walk`, { headers: { ...cookie, Accept: "text/html" } });
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain("lintel token create NAME --scope admin --link");
    expect((await fetch(`${origin}/live/walk`, { headers: cookie })).status).toBe(403);
    for (const path of [
      "/walk/joining",
      "/walk/name",
      "/walk/line",
      "/walk/replace",
      "/walk/conflict",
      "/walk/try",
      "/walk/finish",
    ]) {
      expect((await send(path, { ...cookie, ...own })).status).toBe(403);
      expect((await send(path, own)).status).toBe(401);
      expect((await send(path, { ...cookie, "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
    }
    expect((await site.answer("status", "--json", "--data", site.data)).joining).toBe(false);
  });
});
