import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { lineLog } from "../../../src/base/log.ts";
import { seriesNames, seriesOf } from "../../../src/domain/series.ts";
import { mintToken } from "../../../src/domain/token.ts";
import { dashboardApp } from "../../../src/web/pages/page-routes.ts";
import { startServer } from "../../../src/web/server/http-server.ts";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { Site } from "../../../testbed/front-door.ts";
import { lampedHousehold } from "../../../testbed/household-lamp.ts";
import { fill, items } from "../../../testbed/programme.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { receive } from "../../central/receiver/receiving.ts";
import {
  fill as fillCentral,
  homes,
  marked,
  marksOf,
  moved,
  mover,
} from "../../domain/records/marked-programme.ts";
import { faultsForAll } from "./accessibility.ts";
import { type PagesServer, servePages } from "./pages-server.ts";

let server: PagesServer;
beforeAll(async () => {
  server = await servePages();
  await fill(server.store);
});
afterAll(() => server[Symbol.asyncDispose]());

/** Text of a page as a reader has it, without its markup and the data beside it. */
async function textOf(response: Response): Promise<string> {
  expect(response.status).toBe(200);
  const html = (await response.text()).replace(/<script.*?<\/script>/gs, "");
  return html
    .replace(/<\/(p|li|h1|h2|ul|section)>/g, "\n")
    .replace(/<[^>]*>/g, "")
    .replaceAll("&amp;", "&");
}

const recorded = async (token = server.tokens.read) => textOf(await server.page("/recorded", token));

test("the page of a home that is restricted says so, and who may look, and nothing of its devices or people", async () => {
  await using restricted = await servePages();
  await fill(restricted.store);
  const at = { target: { home: 0 }, at_ms: restricted.clock.now().unix_ms, who: "lea", reason: "a letter" };
  await restricted.store.restrict(at);
  const text = await textOf(await restricted.page("/recorded", restricted.tokens.read));
  expect(text).toContain(
    "Nothing has been recorded since 13:00: what was recorded before is kept, and shown to nobody.",
  );
  expect(text).toContain("the study’s server notes each look");
  for (const { itemname } of items) expect(text).not.toContain(itemname);
  expect(text).not.toContain("about people here");
  const first = await restricted.page("/", restricted.tokens.read);
  expect(first.status).toBe(403);
  const refusal = await first.text();
  expect(refusal).toContain("<h1>Home 12 is restricted.</h1>");
  expect(refusal).toContain('<a href="/recorded">What is recorded here, and what is not</a>');
  await restricted.store.liftRestriction(at);
  expect((await restricted.page("/", restricted.tokens.read)).status).toBe(200);
});

test("the page says which files the study makes, by what the people of the home allow", async () => {
  await using refusing = await servePages();
  await fill(refusing.store);
  const page = async () => textOf(await refusing.page("/recorded", refusing.tokens.read));
  expect(await page()).toContain("Files for researchers outside of the study.\n");
  const refused = { consentid: 9, subjectid: 1, homeid: null, use: "shared", answer: "refused" } as const;
  const record = { ...refused, start: 0, stop: null };
  await refusing.store.importRecords([[{ type: "consents", record }]]);
  const text = await page();
  expect(text).toContain("Files for researchers outside of the study: none, because somebody in this home");
  expect(text).toContain("Files with the names of people.\n");
});

test("the page has every device, each with as many records as the API has", async () => {
  const text = await recorded();
  // The box itself writes down what the others tell it.
  const telling = items.filter(({ typename }) => typename !== "gateways");
  expect(text).toContain(`${telling.length} devices record what happens in this home`);
  for (const { itemname, typename } of telling) {
    let count = 0;
    for (const { kind, path } of seriesNames.map(seriesOf)) {
      if (kind !== typename) continue;
      const address = `/v0.9/items/${kind}/${encodeURIComponent(itemname)}/${path}`;
      const headers = { Authorization: `bearer ${server.tokens.read}`, Accept: "application/json" };
      const records = (await (await server.page(address, undefined, { headers })).json()) as unknown[];
      expect(records.length).toBeLessThan(1_000);
      count += records.length;
    }
    const line = text.split("\n").find((one) => one.startsWith(itemname)) ?? "";
    expect([itemname, line.endsWith(`${count === 1 ? "recorded once" : `recorded ${count} times`}`)]).toEqual(
      [itemname, true],
    );
  }
});

test("it names what the programme has noted of the people, and nothing of what it says", async () => {
  const text = await recorded();
  const api = async (path: string) => {
    const headers = { Authorization: `bearer ${server.tokens.read}`, Accept: "application/json" };
    return (await server.page(`/v0.9${path}`, undefined, { headers })).json();
  };
  const [subject] = (await api("/subjects")) as Record<string, unknown>[];
  const line = text.split("\n").find((one) => one.startsWith("Person 1:")) ?? "";
  expect(line).toContain("name");
  expect(line).toContain("2 phone numbers");
  expect(line).toContain("2 remarks of the study’s staff");
  const phones = (await api("/subjects/1/phone/")) as { phone: string | null }[];
  const told = [subject?.["lname"], subject?.["email"], ...phones.map(({ phone }) => phone)];
  for (const value of told.filter((one) => typeof one === "string" && one.length > 2))
    expect(text).not.toContain(value as string);
});

test("it counts the tokens that open the home by what they allow, and names none", async () => {
  await using own = await servePages();
  const add = async (name: string, options: Partial<Parameters<typeof mintToken>[0]>) =>
    own.store.addToken(mintToken({ name, scope: "read", clock: own.clock, ...options }).token);
  const binding = (home: number) => ({ homes: [home], projects: [], studies: [] });
  await add("Maria of the study", { binding: binding(12) });
  await add("Jon of elsewhere", { binding: binding(13) });
  await add("box of elsewhere", { scope: "sync", home: 13 });
  const response = await own.page("/recorded", own.tokens.read);
  const html = await response.clone().text();
  const text = await textOf(response);
  for (const words of [
    "2 keys to look, and no more",
    "one key to look, and to manage",
    "one key for machines",
  ])
    expect(text).toContain(words);
  for (const name of ["Maria", "Jon", "elsewhere", ...Object.values(own.tokens)])
    expect(html).not.toContain(name);
  for (const token of await own.store.tokens()) expect(html).not.toContain(token.id);
});

test("as many tokens as it counts open a page of the home, restricted or not", async () => {
  await using own = await servePages();
  await fill(own.store);
  const binding = (...homes: number[]) => ({ homes, projects: [], studies: [] });
  const bindings = [undefined, binding(12), binding(12, 13), binding(13)];
  const texts: string[] = [own.tokens.read];
  for (const bound of bindings)
    for (const restricted of [undefined, true]) {
      const more = { ...(bound && { binding: bound }), restricted };
      const { token, text } = mintToken({ name: "one", scope: "read", clock: own.clock, ...more });
      await own.store.addToken(token);
      texts.push(text);
    }
  const opening = async () => {
    let count = 0;
    for (const text of texts) {
      const pages = await Promise.all(["/", "/recorded"].map((path) => own.page(path, text)));
      if (pages.every(({ status }) => status === 200)) count += 1;
    }
    return count;
  };
  const counted = async () =>
    Number(
      /(\d+) keys to look, and no more/.exec(await textOf(await own.page("/recorded", own.tokens.read)))?.[1],
    );
  const open = await opening();
  expect(await counted()).toBe(open);
  await own.store.restrict({
    ...{ target: { home: 0 }, at_ms: own.clock.now().unix_ms, who: "lea", reason: "a letter" },
  });
  expect(await opening()).toBeWithin(2, open);
  expect(await counted()).toBe(await opening());
});

test("a token of another home sees nothing of this one", async () => {
  const { token, text } = mintToken({
    name: "other",
    scope: "read",
    binding: { homes: [13], projects: [], studies: [] },
    clock: server.clock,
  });
  await server.store.addToken(token);
  const page = await server.page("/recorded", text);
  expect(page.status).toBe(404);
  const html = await page.text();
  for (const words of [
    "record what happens",
    "Person ",
    "key",
    ...items.map(({ itemname }) => `<bdi>${itemname}`),
  ])
    expect(html).not.toContain(words);
});

test("central shows a token the pages of its own homes, and of others not that they are there", async () => {
  const clock = new SettableClock(Date.UTC(2026, 10, 20, 12));
  await using receiving = await receive({ clock });
  const { store } = receiving;
  await fillCentral(store);
  const log = lineLog({ write: () => {}, clock });
  const site = { role: "central", store, version: "0", api: "/v0.9", zoneOf: async () => "UTC" } as const;
  const central = await startServer({
    store,
    clock,
    log,
    listen: { hostname: "127.0.0.1", port: 0 },
    realm: "lintel",
    apps: [dashboardApp(site)],
  });
  const ask = (home: number | string, token: string) =>
    fetch(`${central.origin}/homes/${home}/recorded`, {
      headers: { Accept: "text/html", Cookie: `lintel-${central.port}=${token}` },
    });
  const mint = async (binding?: { homes: number[]; projects: number[]; studies: number[] }) => {
    const { token, text } = mintToken({ name: "reader", scope: "read", clock, binding });
    await store.addToken(token);
    return text;
  };
  const [all, ofA] = [await mint(), await mint({ homes: [homes.a], projects: [], studies: [] })];
  for (const home of Object.values(homes)) expect((await ask(home, all)).status).toBe(200);
  const page = await ask(homes.a, ofA);
  expect(page.status).toBe(200);
  const html = await page.text();
  expect(html).toContain("record what happens in this home");
  const own = [homes.a, mover, moved];
  for (const other of marked.filter((one) => !own.includes(one)))
    for (const mark of marksOf(other)) expect([mark, html.includes(mark)]).toEqual([mark, false]);
  // A home that is another's is answered as one that is not there.
  const refusalOf = async (home: number | string) => {
    const response = await ask(home, ofA);
    expect([home, response.status]).toEqual([home, 404]);
    return (await response.text()).replaceAll(String(home), "N");
  };
  expect(await refusalOf(homes.b)).toBe(await refusalOf(404_404));
  for (const home of ["0", "x", `${homes.a}x`, "1e3", "-1"]) await refusalOf(home);
  await central.stop();
});

describe("a gateway as it is started", () => {
  test("tells where its readings go, and no path of its files", async () => {
    const site = new Site();
    try {
      const token = await site.token();
      writeFileSync(join(site.directory, "upload-token"), token, { mode: 0o600 });
      const upload = `[home]\nid = 12\ntimezone = "America/Los_Angeles"\n[upload]\nurl = "https://central.example:8443"\ntoken_file = "${site.directory}/upload-token"\nat = "03:10"\nkeep_days = 90`;
      site.configure({ sections: upload });
      const running = await site.run();
      const headers = { Accept: "text/html", Cookie: `lintel-${new URL(running.origin).port}=${token}` };
      const response = await fetch(`${running.origin}/recorded`, { headers });
      const html = await response.clone().text();
      const text = await textOf(response);
      expect(text).toContain(
        "Each night at 03:10 the box sends it to the study’s server, central.example:8443, encrypted, so that nobody can read it on the way. Nothing has been sent yet.",
      );
      expect(text).toContain("The box keeps the last 90 days");
      expect(text).toContain("America/Los_Angeles");
      expect(html).not.toContain(site.directory);
      await running.stop();
    } finally {
      await site.remove();
    }
  });
});

if (chromiumPath === undefined) test.skip(`the recorded page in a browser: ${noChromium}`, () => {});

describe.skipIf(chromiumPath === undefined)("in a browser", () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await TestBrowser.start();
  });
  afterAll(() => browser[Symbol.asyncDispose]());

  test.each([
    [320, "light"],
    [1280, "dark"],
    [2560, "light"],
  ] as const)("it fits %i px and has nothing serious against it in %s", async (width, colorScheme) => {
    await using visit = await browser.visit({ viewport: { width, height: 800 }, colorScheme });
    await visit.page.goto(`${server.origin}/#token=${server.tokens.read}`);
    await visit.page.waitForURL(`${server.origin}/`);
    await visit.page.goto(`${server.origin}/recorded`);
    expect(await visit.page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    expect(await faultsForAll(visit.page)).toEqual([]);
    const letters = "parseFloat(getComputedStyle(document.querySelector('.recorded p')).fontSize)";
    expect(await visit.page.evaluate(letters)).toBeGreaterThanOrEqual(19);
    expect(visit.faults).toEqual([]);
  });

  test("it prints on A4 in black on white, without what is for the screen", async () => {
    await using visit = await browser.visit({ colorScheme: "dark", viewport: { width: 794, height: 1123 } });
    await visit.page.goto(`${server.origin}/#token=${server.tokens.read}`);
    await visit.page.waitForURL(`${server.origin}/`);
    await visit.page.goto(`${server.origin}/recorded`);
    await visit.page.emulateMedia({ media: "print", colorScheme: "dark" });
    expect(await visit.page.getByRole("button", { name: "Sign out" }).isVisible()).toBe(false);
    const colours =
      "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]";
    expect(await visit.page.evaluate(colours)).toEqual(["rgb(255, 255, 255)", "rgb(0, 0, 0)"]);
    // 12 points: what is for the screen stands in the same file, and does not win.
    const letters = "getComputedStyle(document.querySelector('.recorded')).fontSize";
    expect(await visit.page.evaluate(letters)).toBe("16px");
    const pdf = (await visit.page.pdf({ preferCSSPageSize: true })).toString("latin1");
    const sizes = [...pdf.matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)].map(([, ...size]) =>
      size.map(Number),
    );
    expect(sizes.length).toBeGreaterThan(0);
    for (const [wide = 0, high = 0] of sizes) {
      expect(Math.round(wide)).toBe(595);
      expect(Math.round(high)).toBe(842);
    }
  });

  test("an open page and the lamp show within two seconds that the button has paused the recording, and that it goes on", async () => {
    await using own = await servePages();
    const { store, clock } = own;
    const log = lineLog({ write: () => {}, clock });
    const { household, shown, stop } = await lampedHousehold({ store, clock, log });
    await using visit = await browser.visit();
    await visit.page.goto(`${own.origin}/#token=${own.tokens.read}`);
    await visit.page.waitForURL(`${own.origin}/`);
    const followed = visit.page.waitForResponse(/\/live\/recorded$/);
    await visit.page.goto(`${own.origin}/recorded`);
    await followed;
    const paused = visit.page.getByRole("heading", { name: "Recording has been paused" });
    for (const [state, isThere] of [
      ["paused", "visible"],
      ["ready", "detached"],
    ] as const) {
      await household.press();
      clock.advance(2_000);
      expect(shown.at(-1)).toBe(state);
      await paused.waitFor({ state: isThere });
    }
    expect(visit.faults).toEqual([]);
    stop();
  });

  test("refusals have nothing serious against them either", async () => {
    await using visit = await browser.visit({ viewport: { width: 320, height: 700 } });
    for (const path of ["/nothing", "/sign-in", "/sign-in?fault=ended"]) {
      await visit.page.goto(server.origin + path);
      expect(await faultsForAll(visit.page)).toEqual([]);
      expect(await visit.page.evaluate("document.documentElement.scrollWidth")).toBe(320);
    }
  });
});
