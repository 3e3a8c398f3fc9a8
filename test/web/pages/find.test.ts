import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { importDocument } from "../../../src/import/file-import.ts";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { sensor } from "../../../testbed/sample.ts";
import { faultsForAll } from "./accessibility.ts";
import { type HomesCentral, nameOf, serveHomes, signIn } from "./homes-central.ts";

let served: HomesCentral;
beforeAll(async () => {
  served = await serveHomes();
  const programme = {
    homes: [
      { homeid: 4, cityname: "Astoria" },
      { homeid: 40, cityname: "Bergen" },
    ],
    projects: [{ projectid: 1 }],
    subjects: [{ subjectid: 7, subjectname: "Mabel Stark" }],
    project_enrollments: [{ subjectid: 7, projectid: 1, homeid: 4 }],
  };
  const { store } = served.central;
  await importDocument({ name: "programme", text: JSON.stringify(programme), store, dryRun: false });
});
afterAll(() => served[Symbol.asyncDispose]());

async function foundAt(text: string, token: string): Promise<string[]> {
  const { groups } = (await served.data(`/find?${new URLSearchParams({ q: text })}`, token)) as unknown as {
    groups: { title: string; found: { href: string; text: string }[] }[];
  };
  return groups.flatMap(({ title, found }) =>
    found.map(({ href, text: name }) => `${title}: ${name} ${href}`),
  );
}

test("homes, devices, people and pages are found by a part of their names, the nearest first", async () => {
  const token = await served.mint("read");
  const home = "Homes: Home 4 /homes/4";
  expect(await foundAt("4", token)).toContain(home);
  expect((await foundAt("home 4", token))[0]).toBe(home);
  expect(await foundAt("astor", token)).toEqual([home]);
  const device = `Devices: ${nameOf(4, 1)} /devices/wirelesssensors/${nameOf(4, 1)}`;
  expect(await foundAt("FOUR-1", token)).toEqual([device]);
  expect(await foundAt(sensor(41).address.toUpperCase(), token)).toEqual([device]);
  expect(await foundAt("mabel", token)).toEqual(["People: Mabel Stark /homes/4"]);
  expect(await foundAt("missing", token)).toEqual(["Pages: Missing data /?show=missing"]);
  expect(await foundAt("100%_", token)).toEqual([]);
});

test("a token of another home finds nothing of it", async () => {
  const token = await served.mint("read", { homes: [3], projects: [], studies: [] });
  for (const text of ["home 4", "astoria", "four-0", "mabel"])
    expect([text, await foundAt(text, token)]).toEqual([text, []]);
  expect(await foundAt("home 3", token)).toEqual(["Homes: Home 3 /homes/3"]);
});

describe.skipIf(chromiumPath === undefined)(`in Chromium (${noChromium})`, () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await TestBrowser.start();
  });
  afterAll(() => browser?.[Symbol.asyncDispose]());

  test("a stroke opens a field over any page, which leads on by the keyboard alone", async () => {
    await using visit = await browser.visit({ locale: "en-GB", viewport: { width: 390, height: 844 } });
    const { page } = visit;
    await signIn(visit, served);
    await page.keyboard.press("/");
    await page.keyboard.type("four-");
    const dialog = page.getByRole("dialog", { name: "Find" });
    await dialog.getByText("“four-”: 2 found").waitFor();
    expect(await dialog.getByRole("link", { name: nameOf(4, 0) }).count()).toBe(1);
    expect(await faultsForAll(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.keyboard.press("/");
    await page.keyboard.type("four-");
    await dialog.getByText("“four-”: 2 found").waitFor();
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    await page.getByRole("heading", { name: nameOf(4, 1) }).waitFor();
    expect(visit.faults).toEqual([]);
  });

  test("each key after an Escape is for the page, also one that comes at once", async () => {
    await using visit = await browser.visit({ locale: "en-GB" });
    const { page } = visit;
    await signIn(visit, served);
    const seen = await page.evaluate(() => {
      const press = (key: string) => {
        const pressed = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
        (document.activeElement ?? document.body).dispatchEvent(pressed);
      };
      const fields = () => document.querySelectorAll("dialog[open] input:focus").length;
      return ["/", "Escape", "/", "Escape"].map((key) => {
        press(key);
        return [key, fields(), document.querySelectorAll("dialog").length];
      });
    });
    expect(seen).toEqual([
      ["/", 1, 1],
      ["Escape", 0, 0],
      ["/", 1, 1],
      ["Escape", 0, 0],
    ]);
    await page.keyboard.press("/");
    await page.keyboard.type("four-");
    await page.getByText("“four-”: 2 found").waitFor();
    await page.keyboard.press("Escape");
    expect(await page.locator("dialog").count()).toBe(0);
  });

  test("who has gone on to a device stays there while more is found, and is back at the field where it is not", async () => {
    await using visit = await browser.visit({ locale: "en-GB" });
    const { page } = visit;
    await signIn(visit, served);
    await page.keyboard.press("/");
    await page.keyboard.insertText("four");
    const dialog = page.getByRole("dialog", { name: "Find" });
    const device = dialog.getByRole("link", { name: nameOf(4, 1) }).first();
    const type = (text: string) =>
      dialog.getByRole("searchbox").evaluate((input, words) => {
        (input as HTMLInputElement).value = words;
        input.dispatchEvent(new Event("input"));
      }, text);
    await device.focus();
    await type("four-1");
    await dialog.getByText("“four-1”: one found").waitFor();
    expect(await device.evaluate((link) => link === document.activeElement)).toBe(true);
    await type("four-0");
    await dialog.getByText("“four-0”: one found").waitFor();
    expect(await dialog.getByRole("searchbox").evaluate((input) => input === document.activeElement)).toBe(
      true,
    );
  });

  test("a server that is busy is asked again, and the page stays", async () => {
    await using visit = await browser.visit({ locale: "en-GB" });
    const { page } = visit;
    await signIn(visit, served);
    const answers = [{ status: 503, body: "busy" }, undefined];
    await page.route("**/find?*", (route) => {
      const answer = answers.shift();
      return answer === undefined ? route.continue() : route.fulfill(answer);
    });
    await page.keyboard.press("/");
    await page.keyboard.insertText("four-");
    await page
      .getByRole("dialog", { name: "Find" })
      .getByRole("link", { name: nameOf(4, 1) })
      .waitFor();
    expect(new URL(page.url()).pathname).toBe("/");
  });

  test("without script it is a page with a form", async () => {
    await using visit = await browser.visit({ locale: "en-GB", javaScriptEnabled: false });
    const { page } = visit;
    await visit.page.context().addCookies([
      {
        name: `lintel-${new URL(served.central.origin).port}`,
        value: await served.mint("read"),
        url: served.central.origin,
      },
    ]);
    await page.goto(served.central.origin);
    await page.getByRole("link", { name: "Find", exact: true }).click();
    await page.getByLabel("Name, number or address").fill("mabel");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByRole("link", { name: "Mabel Stark" }).click();
    await page
      .getByRole("link", { name: nameOf(4, 0) })
      .first()
      .waitFor();
  });
});
