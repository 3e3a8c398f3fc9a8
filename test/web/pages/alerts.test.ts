import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { hour_ms } from "../../../src/base/time.ts";
import { AlertNotices } from "../../../src/central/alerts/alert-notices.ts";
import { AlertFiles } from "../../../src/central/alerts/alert-state.ts";
import { noticeSender } from "../../../src/central/alerts/notice.ts";
import type { AlertSettings } from "../../../src/config/alert-settings.ts";
import type { Outage } from "../../../src/domain/outage.ts";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { MailServer } from "../../../testbed/mail-server.ts";
import { keptLog, temporaryDirectory } from "../../../testbed/sample.ts";
import type { SettableClock } from "../../../testbed/settable-clock.ts";
import { faultsForAll } from "./accessibility.ts";
import { type HomesCentral, now_ms, serveHomes } from "./homes-central.ts";
import { ownForm } from "./pages-server.ts";

const directory = temporaryDirectory();
let server: MailServer;
let served: HomesCentral;
let notices: AlertNotices;
let [admin, reader, ofHomeThree] = ["", "", ""];

/** Alerts of homes 3 and 4 and of central, of which somebody was told. */
const open: readonly Pick<Outage, "id" | "home" | "need" | "message">[] = [
  { id: 1, home: 3, need: "clock_wrong", message: "The clock of the gateway of home 3 is wrong" },
  { id: 2, home: 4, need: "disk_nearly_full", message: "The disk of the gateway of home 4 is nearly full" },
  { id: 3, home: 4, need: "data_differ", message: "Central holds readings that its gateway has lost" },
  { id: 4, home: 0, need: "backup_old", message: "Central has no backup of the last 8 days" },
];

beforeAll(async () => {
  server = await MailServer.start();
  const state = new AlertFiles(directory.path).read();
  state.next_id = 5;
  state.outages = open.map((one) => ({
    ...{ ...one, since_ms: now_ms - 3 * hour_ms, seen_ms: now_ms, ripe_ms: now_ms - hour_ms },
    told: (one.id === 4 ? {} : { "field@example.org": now_ms - hour_ms }) as Outage["told"],
  }));
  const gone = { to: "desk", subject: "Lintel: home 3: Clock wrong", failure: "it answers 500" };
  state.undelivered = [{ ...gone, made_ms: now_ms - 100 * hour_ms }];
  new AlertFiles(directory.path).write(state);
  const settings: AlertSettings = {
    ...{ url: "https://central.example", directory: directory.path, warnings: [] },
    smtp: { url: server.url, from: "lintel@example.org" },
    recipients: [
      {
        ...{ to: "field@example.org", duties: ["field", "lead"], timezone: "Europe/Berlin" },
        // It is 23:00 there: no mail but a test.
        ...{ quiet: { from: "20:00", to: "08:00" }, digest: "08:00" },
      },
    ],
  };
  const alerts = (clock: SettableClock) => {
    const { log } = keptLog("error");
    const restrictedHomes = async () => new Set<number>();
    notices = new AlertNotices({
      settings,
      send: noticeSender(settings, clock),
      restrictedHomes,
      clock,
      log,
    });
    return notices;
  };
  served = await serveHomes("SQLite", { alerts });
  admin = await served.mint("admin");
  reader = await served.mint("read");
  ofHomeThree = await served.mint("read", { homes: [3], projects: [], studies: [] });
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await server.stop();
  directory[Symbol.dispose]();
});

const post = (
  path: string,
  token: string,
  fields: Record<string, string>,
  from: Record<string, string> = ownForm,
) =>
  fetch(`${served.central.origin}${path}`, {
    ...{ method: "POST", redirect: "manual", body: new URLSearchParams(fields) },
    headers: { ...from, Cookie: `lintel-${new URL(served.central.origin).port}=${token}` },
  });
const words = async (path: string, token: string) =>
  (await (await served.page(path, token)).text())
    .replace(/<script type="application\/json".*?<\/script>/s, "")
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/\s+/g, " ");

test("open alerts stand home by home, with who was told, for a token that sees all homes", async () => {
  const page = await words("/alerts", reader);
  expect(page).toContain("Central itself No backup of central");
  expect(page).toMatch(
    /Home 3 Clock wrong The clock of the gateway of home 3 is wrong Since [\w: ]+ \. field@example.org has known since [\w: ]+ \./,
  );
  expect(page).toContain("It will be told in the daily digest.");
  expect(page).toMatch(/desk Of [\w: ]+ \. Given up after three days: it answers 500 \./);
  // A subject may name a home that is restricted by now.
  expect(page).not.toContain("Lintel: home 3");
  expect(page).toContain("sign in with a token of scope admin");
  expect(page).not.toContain("I deal with");
  expect(await words("/", reader)).toMatch(/\d+ alerts are open. Nobody deals with any of them./);
});

test("what a home needs says since when central has known of it", async () => {
  // Central looks at its homes when it starts.
  const battery = notices.open.find(({ need }) => need === "battery_low");
  expect(battery).toMatchObject({ home: 4, since_ms: now_ms });
  expect(await words("/?show=batteries", reader)).toMatch(/Known since Home 4 four-1 9 % [\w: ]*\d\d:\d\d/);
  const home = await words("/homes/4", reader);
  expect(home).toMatch(/battery of four-1 is nearly empty, known since [\w: ]*\d\d:\d\d/);
  expect(home).toMatch(/its last report, known since [\w: ]*\d\d:\d\d\. See that it reaches the internet/);
});

test("a token of home 3 sees its alerts alone, and nobody's address", async () => {
  const page = await (await served.page("/alerts", ofHomeThree)).text();
  expect(page).toContain("Clock wrong");
  expect(page).toContain("People have known since");
  for (const hidden of ["home 4", "No backup", "field@example.org", "Who hears of alerts"])
    expect(page).not.toContain(hidden);
});

test("nobody but an administrator on a page of this server acknowledges or tests", async () => {
  const sync = await served.mint("sync");
  const statuses: Record<string, number[]> = {};
  for (const path of ["/alerts/acknowledge", "/alerts/test"])
    for (const [caller, token, from] of [
      ["nobody", "", ownForm],
      ["sync", sync, ownForm],
      ["read", reader, ownForm],
      ["read of home 3", ofHomeThree, ownForm],
      ["admin from elsewhere", admin, { "Sec-Fetch-Site": "cross-site" }],
      ["admin from beside", admin, { "Sec-Fetch-Site": "same-site" }],
    ] as const)
      statuses[caller] = [
        ...(statuses[caller] ?? []),
        (await post(path, token, { alert: "1", by: "Eve" }, from)).status,
      ];
  expect(statuses).toEqual({
    nobody: [401, 401],
    sync: [401, 401],
    read: [403, 403],
    "read of home 3": [403, 403],
    "admin from elsewhere": [403, 403],
    "admin from beside": [403, 403],
  });
  expect(notices.open.filter(({ acknowledged }) => acknowledged)).toEqual([]);
  expect(server.mails).toEqual([]);
});

test("an acknowledgement is on disk with its name before the answer", async () => {
  const answer = await post("/alerts/acknowledge", admin, { alert: "1", by: "Anna of the field team" });
  expect([answer.status, answer.headers.get("location")]).toEqual([303, "/alerts"]);
  const kept = new AlertFiles(directory.path).read().outages;
  expect(kept.filter(({ acknowledged }) => acknowledged)).toMatchObject([
    { id: 1, acknowledged: { by: expect.stringMatching(/^Anna of the field team \(token \w+\)$/) } },
  ]);
  // Nobody's name is taken over.
  await post("/alerts/acknowledge", admin, { alert: "1", by: "Ben" });
  expect(await words("/alerts", reader)).toContain("Anna of the field team");
  expect(await words("/alerts", ofHomeThree)).toContain("Somebody deals with it since");
});

test("a test is sent at once, in quiet hours too, and once a minute at most", async () => {
  for (let times = 0; times < 3; times += 1) expect((await post("/alerts/test", admin, {})).status).toBe(303);
  expect(server.mails.map(({ to, subject }) => [to, subject])).toEqual([
    ["field@example.org", "Lintel: test"],
  ]);
  expect(await words("/alerts", admin)).toMatch(/Test of [\w: ]+ : it arrived \./);
});

test("a central without a file of alerts says how to have them", async () => {
  await using other = await serveHomes();
  const token = await other.mint("admin");
  expect(await (await other.page("/alerts", token)).text()).toContain("--alerts FILE");
  expect(await (await other.page("/", token)).text()).not.toContain("/alerts");
});

describe.skipIf(chromiumPath === undefined)(`in a browser (${noChromium})`, () => {
  test("alerts are ticked and acknowledged by thumb, without script, and nobody is kept out", async () => {
    await using browser = await TestBrowser.start();
    for (const width of [320, 390, 1_280]) {
      await using visit = await browser.visit({ viewport: { width, height: 900 } });
      const { page } = visit;
      await page.goto(`${served.central.origin}/sign-in#token=${admin}`);
      await page.waitForURL(`${served.central.origin}/`);
      await page.goto(`${served.central.origin}/alerts`);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      if (width === 390) expect(await faultsForAll(page)).toEqual([]);
      if (process.env["LINTEL_PICTURES"])
        await page.screenshot({
          path: `${process.env["LINTEL_PICTURES"]}/alerts-${width}.png`,
          fullPage: true,
        });
      await page.emulateMedia({ media: "print" });
      expect((await page.getByText("Clock wrong").boundingBox())?.width).toBeGreaterThan(70);
      expect(await page.getByRole("button", { name: "I deal with" }).isVisible()).toBe(false);
      await page.emulateMedia({ media: "screen" });
      await page.locator("label:has(input[type=checkbox])").first().click();
      await page.locator(".claim button").click();
      await page.waitForURL(`${served.central.origin}/alerts`);
    }
    expect(notices.open.filter(({ acknowledged }) => acknowledged).length).toBe(4);
  });
});
