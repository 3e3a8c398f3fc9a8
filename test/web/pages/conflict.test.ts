import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { eventually, type RunningServer, Site } from "../../../testbed/front-door.ts";
import type { SimulatorProcess } from "../../../testbed/simulator-process.ts";
import { faultsForAll } from "./accessibility.ts";
import { ownForm } from "./pages-server.ts";

const site = new Site();
let gateway: RunningServer;
let stick: SimulatorProcess;
let ieee = "";
const tokens = { admin: "", read: "", "read of another home": "" };

beforeAll(async () => {
  stick = await site.simulator("zigbee");
  site.configure({
    sections: `[home]\nid = 12\ntimezone = "Europe/London"\n[zigbee]\nport = "${stick.path}"`,
  });
  gateway = await site.run();
  tokens.admin = await site.token("--scope", "admin");
  tokens.read = await site.token();
  tokens["read of another home"] = await site.token("--home", "13");
  await site.listening("zigbee");
  ({ ieee } = (await stick.tell({ do: "add", model: "3041" })) as { ieee: string });
  await join();
  await eventually(async () => {
    const named = await site.lintel("items", "name", ieee, "Kitchen", "--data", site.data);
    return named.code === 0 || undefined;
  }, "the item");
});
afterAll(() => site.remove());

/** Has the device at the address join, and waits until it has, or was refused. */
async function join(): Promise<void> {
  const pair = site.spawn(["pair", "--seconds", "60", "--json", "--data", site.data]);
  await pair.line();
  await stick.tell({ do: "join", ieee });
  while (!/"joined"|"failed"/.test((await pair.line()) ?? '"failed"'));
  pair.kill("SIGINT");
  await pair.exited;
}

/** Another device takes the address, and joins. */
async function pretend(model: string): Promise<void> {
  await stick.tell({ do: "add", model, ieee });
  await join();
}

const conflicts = () => site.answer("items", "conflicts", "--json", "--data", site.data);

async function seen(path: string, token: string): Promise<string> {
  const name = `lintel-${new URL(gateway.origin).port}`;
  const response = await fetch(gateway.origin + path, { headers: { Cookie: `${name}=${token}` } });
  return response.text();
}

/** Sends the form as a page of the gateway does. */
function send(token: string, fields: Record<string, string>): Promise<Response> {
  const name = `lintel-${new URL(gateway.origin).port}`;
  return fetch(`${gateway.origin}/walk/conflict`, {
    method: "POST",
    redirect: "manual",
    headers: { ...ownForm, Cookie: `${name}=${token}` },
    body: new URLSearchParams(fields),
  });
}

const words = (html: string) =>
  html
    .replace(/<script.*?<\/script>/gs, "")
    .replace(/<[^>]*>/g, "")
    .replace(/\s+/g, " ");

test("whoever may read is shown a conflict with the command, has no buttons, and settles nothing by a form", async () => {
  await pretend("3010");
  const html = await seen("/", tokens.read);
  expect(words(html)).toContain("One thing to do: Kitchen came with another model.");
  expect(words(html)).toContain("Somebody may have put another device in its place.");
  expect(words(html)).toContain("Its model is 3041, and now it says 3010. Lintel has known it since");
  expect(words(html)).toMatch(
    /It refused the new one (once|\d+ times), first .*and recorded nothing of it\./,
  );
  expect(words(html)).toContain(`lintel items accept ${ieee}`);
  expect(html).not.toContain("/walk/conflict");
  const [{ first_ms }] = await conflicts();
  for (const answer of ["accept", "refuse"]) {
    const fields = { device: ieee, seen: String(first_ms), from: "home", do: answer };
    for (const caller of ["read", "read of another home"] as const)
      expect((await send(tokens[caller], fields)).status).toBe(403);
  }
  const [still] = await conflicts();
  expect([still.first_ms, still.refused_ms]).toEqual([first_ms, undefined]);
  const other = await seen("/", tokens["read of another home"]);
  for (const word of [ieee, "Kitchen", "3010"]) expect(other).not.toContain(word);
});

test("an administrator refuses a conflict by its form, and who did and when is kept", async () => {
  expect(await seen("/walk", tokens.admin)).toContain("/walk/conflict");
  const html = await seen("/", tokens.admin);
  const form = /<form[^>]*action="\/walk\/conflict".*?<\/form>/s.exec(html)?.[0] ?? "";
  const fields = Object.fromEntries(
    [...form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value,
    ]),
  );
  const before_ms = Date.now();
  const answer = await send(tokens.admin, { ...fields, do: "refuse" });
  expect([answer.status, answer.headers.get("location")]).toEqual([303, "/"]);
  const [{ refused_by, refused_ms }] = await conflicts();
  expect(refused_by).toBe(`test (token ${tokens.admin.split(".")[0]})`);
  expect(refused_ms).toBeGreaterThanOrEqual(before_ms - 1);
  expect(words(await seen("/", tokens.admin))).not.toContain("came with another");
  expect(await seen("/walk", tokens.admin)).not.toContain("/walk/conflict");
});

test("a form of a conflict that was settled does nothing to the one that came after it", async () => {
  const [{ first_ms }] = await conflicts();
  await pretend("3045");
  const [open] = await conflicts();
  expect(open).toMatchObject({ why: "its model is 3041, and now it says 3045" });
  const stale = { device: ieee, seen: String(first_ms), from: "walk", do: "accept" };
  expect((await send(tokens.admin, stale)).headers.get("location")).toBe("/walk");
  const [still] = await conflicts();
  expect([still?.first_ms, still?.refused_ms]).toEqual([open.first_ms, undefined]);
});

describe.skipIf(chromiumPath === undefined)(`a conflict in a browser (${noChromium})`, () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await TestBrowser.start();
  });
  afterAll(() => browser?.[Symbol.asyncDispose]());

  test("appears on the walk by itself, with two buttons for a thumb, and leaves when it was refused", async () => {
    await using visit = await browser.visit({ locale: "en-GB", viewport: { width: 320, height: 844 } });
    const { page } = visit;
    const [{ first_ms }] = await conflicts();
    await send(tokens.admin, { device: ieee, seen: String(first_ms), from: "walk", do: "refuse" });
    await page.goto(`${gateway.origin}/#token=${tokens.admin}`);
    await page.getByRole("link", { name: "Set up this home" }).click();
    await page.waitForSelector(".walk h1");
    await pretend("3011");
    const keep = page.getByRole("button", { name: "Keep the known one" });
    await keep.waitFor();
    expect(await page.locator(".walk-conflict").textContent()).toContain(
      "Kitchen came with another model: somebody may have put another device in its place.",
    );
    const look = async () => {
      for (const button of await page.locator(".conflict button").all())
        expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
      expect(await faultsForAll(page)).toEqual([]);
    };
    await look();
    await page.goto(`${gateway.origin}/`);
    await look();
    await page.goto(`${gateway.origin}/walk`);
    await keep.click();
    await page.waitForURL(`${gateway.origin}/walk`);
    await keep.waitFor({ state: "detached" });
    expect(await page.locator(".walk").textContent()).not.toContain("could not join");
    expect(visit.faults).toEqual([]);
  });

  test("is accepted on the page of the home without a script, and the device is heard from then on", async () => {
    await pretend("3045");
    await using visit = await browser.visit({ javaScriptEnabled: false });
    const { page } = visit;
    await page.goto(`${gateway.origin}/sign-in`);
    await page.locator("input[name=token]").fill(tokens.admin);
    await page.locator("main button[type=submit]").click();
    await page.getByRole("button", { name: "It was replaced" }).click();
    await page.waitForURL(`${gateway.origin}/`);
    expect(await page.textContent("h1")).not.toContain("came with another");
    expect(await conflicts()).toEqual([]);
    await stick.tell({ do: "notify", ieee, status: 0x32 });
    await eventually(async () => {
      const events = await gateway.events("Kitchen", tokens.read).catch(() => []);
      return events.length > 0 || undefined;
    }, "its event");
  });
});
