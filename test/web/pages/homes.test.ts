import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { day_ms, hour_ms } from "../../../src/base/time.ts";
import {
  arrivalStatesOf,
  lastDays,
  missingOf,
  missingRow,
} from "../../../src/web/pages/homes/daily-arrivals.ts";
import type { Uncovered } from "../../../src/web/pages/uncovered.ts";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { faultsOfLoad } from "../../../testbed/page-load.ts";
import {
  databases,
  type HomesCentral,
  homeFourDoubt,
  nameOf,
  now_ms,
  serveHomes,
  signIn,
} from "./homes-central.ts";

test("a day has arrived once all of a later one is here, in time until the next day is over there", () => {
  const range = lastDays("Europe/Berlin", 6, Date.UTC(2026, 9, 28, 12));
  const day = (number: number) => Date.UTC(2026, 9, number) / day_ms;
  const at = (number: number, hours: number) => Date.UTC(2026, 9, number) + hours * hour_ms;
  expect([range.from_day, range.to_day]).toEqual([day(22), day(28)]);
  // The 25th has 25 hours.
  expect(range.endOf_ms(day(24))).toBe(at(24, 22));
  expect(range.endOf_ms(day(25))).toBe(at(25, 23));
  const states = (...days: [day: number, arrived_ms: number, differing?: number][]) =>
    arrivalStatesOf(
      {
        first_day: days[0]?.[0],
        days: days.map(([number, arrived_ms, differing = 0]) => ({ day: number, arrived_ms, differing })),
      },
      range,
    ).join(" ");
  expect(states()).toBe("none none none none none none");
  expect(
    states([day(22), at(22, 1)], [day(23), at(23, 21)], [day(24), at(24, 22)], [day(25), at(25, 23)]),
  ).toBe("arrived late late missing missing due");
  expect(states([day(23), at(23, 1)], [day(25), at(25, 1), 2], [day(28), at(28, 1)])).toBe(
    "none late arrived differing late arrived",
  );
});

test("what is missing of a day is the share of the time of the devices that are known", () => {
  const range = lastDays("UTC", 2, now_ms);
  const [first_ms, second_ms] = [range.endOf_ms(range.from_day - 1), range.endOf_ms(range.from_day)];
  const device = { home: 3, start_ms: first_ms + 12 * hour_ms, stop_ms: second_ms + day_ms };
  const silent = { start_ms: first_ms, stop_ms: second_ms + 6 * hour_ms, state: "silent" } as const;
  const gap = { start_ms: second_ms + 6 * hour_ms, stop_ms: second_ms + 12 * hour_ms, state: "gap" } as const;
  expect(
    missingOf(
      [
        { ...device, uncovered: [gap, silent] },
        { ...device, start_ms: second_ms, uncovered: [] },
      ],
      range,
    ),
  ).toEqual([
    { not_listening: 0, silent: 100, lost: 0 },
    { not_listening: 0, silent: 13, lost: 13 },
  ]);
  expect(missingOf([], range)).toEqual([undefined, undefined]);
});

test("a day of the map has the same place in every home, also where it is over sooner", () => {
  const [here, there] = ["America/Los_Angeles", "Australia/Sydney"].map((zone) => lastDays(zone, 3, now_ms));
  if (here === undefined || there === undefined) throw new Error("two ranges");
  expect(there.from_day).toBe(here.from_day + 1);
  const silentOn = (day: number, range: typeof here) => {
    const [start_ms, stop_ms] = [range.endOf_ms(day - 1), range.endOf_ms(day)];
    const uncovered = [{ start_ms, stop_ms, state: "silent" as const, reason: "device_silent" as const }];
    return missingRow(3, [{ home: 3, start_ms, stop_ms, uncovered }], [], range, here.from_day);
  };
  const day = here.from_day + 2;
  expect(silentOn(day, here)).toMatchObject({ days: [[2, 0, 100, 0]], first: 2, end: 3 });
  expect(silentOn(day, there)).toMatchObject({ days: [[2, 0, 100, 0]], first: 2, end: 4 });
});

describe.each(databases)("on %s", (kept) => {
  let served: HomesCentral;
  beforeAll(async () => {
    served = await serveHomes(kept);
  });
  afterAll(() => served[Symbol.asyncDispose]());

  test("the page says what the fleet says", async () => {
    const token = await served.mint("admin");
    const answer = await fetch(`${served.central.origin}/sync/v1/fleet`, {
      headers: { Authorization: `bearer ${token}`, Accept: "application/json" },
    });
    const fleet = (await answer.json()) as { homeid: number; needs: unknown[]; silent: unknown[] }[];
    expect(fleet.map(({ homeid, needs }) => [homeid, needs.length])).toEqual([
      [3, 0],
      [4, 3],
      [5, 1],
      [6, 0],
    ]);
    expect(await served.data("/", token)).toMatchObject({
      homes: 4,
      visits: 2,
      remote: 0,
      silent: 1,
      batteries: 1,
      needy: [
        // The one that loses most data is the first.
        {
          homeid: 5,
          missing: 71,
          why: [{ text: "no upload" }],
          bring: ["a spare gateway", "a network cable"],
        },
        {
          homeid: 4,
          missing: 15,
          why: [
            { text: "the gateway did not know the time on the day before its last report" },
            { names: [nameOf(4, 0)], text: "not heard", since_ms: now_ms - 3 * day_ms },
            { names: [nameOf(4, 1)], text: "its battery is nearly empty" },
          ],
          bring: ["2 batteries", "a spare sensor"],
        },
      ],
    });
  });

  test("its rows have the last nights of each home, and can be found and sorted", async () => {
    const token = await served.mint("read");
    const rows = async (path: string) => ((await served.data(path, token))["view"] as { rows: Row[] }).rows;
    const nights = (row: Row | undefined) => row?.nights.slice(-7).join(" ");
    const [three, four, five, six] = await rows("/");
    expect(nights(three)).toBe("none arrived arrived arrived differing arrived arrived");
    expect(nights(four)).toBe("none arrived late arrived arrived arrived arrived");
    expect(nights(five)).toBe("none missing missing missing missing missing due");
    expect(nights(six)).toBe("none none none none none none none");
    expect((await rows("/?sort=upload")).map(({ homeid }) => homeid)[0]).toBe(5);
    expect((await rows("/?sort=needs")).map(({ homeid }) => homeid)).toEqual([4, 5, 3, 6]);
    expect((await rows("/?sort=home&down=")).map(({ homeid }) => homeid)).toEqual([6, 5, 4, 3]);
    expect((await rows("/?find=3.0.0")).map(({ homeid }) => homeid)).toEqual([3, 6]);
    expect((await rows("/?find=5")).map(({ homeid }) => homeid)).toEqual([5]);
    const { groups } = await served.data(`/find?q=FOUR-1`, token);
    expect(groups).toMatchObject([
      { title: "Devices", found: [{ text: nameOf(4, 1), more: "motion sensor, home 4" }] },
    ]);
  });

  test("its view of firmware has the models whose devices differ, with the homes that the token sees", async () => {
    const shown = async (token: string) => (await served.data("/?show=firmware", token))["view"];
    const none = { model: "3041", datecode: null, more: 0 };
    const newer = { ...none, firmware: "2.0.0", devices: 6, homes: [3, 5, 6] };
    expect(await shown(await served.mint("read"))).toEqual({
      firmware: [newer, { ...none, firmware: "1.2.4", devices: 2, homes: [4] }],
      mixed: 1,
    });
    const bound = await served.mint("read", { homes: [3], projects: [], studies: [] });
    expect(await shown(bound)).toEqual({
      firmware: [{ ...newer, devices: 2, homes: [3] }],
      mixed: 0,
    });
  });

  test("the map tells what is missing of each home", async () => {
    const token = await served.mint("read");
    const { map } = (await served.data("/?show=missing", token))["view"] as { map: MapRow[] };
    expect(map.map(({ homeid, percent }) => [homeid, percent > 0])).toEqual([
      [3, false],
      [4, true],
      // What has not arrived is missing, as the first lines of the page have it.
      [5, true],
      [6, false],
    ]);
    // Of its two sensors one was silent for the two whole days before yesterday's end.
    expect(map[1]?.days.slice(-2)).toEqual([
      [58, 0, 50, 0],
      [59, 0, 50, 0],
    ]);
    expect(map[2]?.away).toEqual([55, 56, 57, 58, 59]);
  });

  test("the page of a home veils the time in which its gateway had no clock", async () => {
    const token = await served.mint("read");
    for (const [home, doubts] of [
      [4, [{ ...homeFourDoubt, why: "doubt" }]],
      [3, []],
    ] as const) {
      const path = `/devices/wirelesssensors/${nameOf(home, 1)}?span=1w`;
      const { uncovered } = (await served.data(path, token)) as { uncovered: Uncovered[] };
      expect(uncovered.filter(({ why }) => why === "doubt")).toEqual([...doubts]);
    }
    const { devices } = (await served.data("/homes/4", token)) as { devices: { uncovered: Uncovered[] }[] };
    for (const { uncovered } of devices) expect(uncovered).toContainEqual({ ...homeFourDoubt, why: "doubt" });
  });

  test.each([
    ["homes", "2 of 4 homes need a visit."],
    ["missing", "Home 5 has lost most: 71\u00a0% of its data of the last 60 days is missing."],
    ["activity", "Home 5 is late: its activity of the last nights is not known."],
    ["silent", "1 device is silent."],
    ["batteries", "1 battery is nearly empty."],
    ["versions", "4 homes run 3 versions."],
    ["firmware", "Devices of 1 model have different firmware."],
  ])("the first line answers what is shown: %s", async (show, answer) => {
    const text = await (await served.page(`/?show=${show}`, await served.mint("read"))).text();
    expect(/<h1>(.*?)<\/h1>/.exec(text)?.[1]).toBe(answer);
  });

  test.each(["missing", "activity", "silent", "batteries", "versions", "firmware"])(
    "a page after the last is shown, and has no rows: %s",
    async (show) => {
      const page = await served.page(`/?show=${show}&page=9`, await served.mint("read"));
      expect(page.status).toBe(200);
    },
  );

  test("a token that is bound to a home sees nothing of the others, wherever it looks", async () => {
    const token = await served.mint("read", { homes: [3], projects: [], studies: [] });
    for (const path of [
      "/",
      "/?show=missing",
      "/?show=silent",
      "/?show=batteries",
      "/?show=versions",
      "/?show=firmware",
      "/?show=activity",
      "/?need=visit",
      "/?find=4",
      "/?page=2",
    ]) {
      const response = await served.page(path, token);
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text).toMatch(
        /<h1>(This home|The activity of this home|No (home|device|battery)|.*\b1 home\b|Home 3|All devices)/,
      );
      expect(text).not.toMatch(/four|five|six|Home [456]|homes\/[456]|[456]\.0\.0|"homeid":[456]/);
    }
    expect((await served.page("/plots/homes/3/activity.svg", token)).status).toBe(200);
    expect((await served.page("/plots/homes/4/activity.svg", token)).status).toBe(404);
    const nobody = await served.mint("read", { homes: [99], projects: [], studies: [] });
    expect(await (await served.page("/", nobody)).text()).toContain("Your token shows no home");
  });
});

interface Row {
  readonly homeid: number;
  readonly nights: readonly string[];
}

interface MapRow {
  readonly homeid: number;
  readonly percent: number;
  readonly days: readonly (readonly number[])[];
  readonly away: readonly number[];
}

describe.skipIf(chromiumPath === undefined)(
  `in Chromium${chromiumPath === undefined ? ` (skipped: ${noChromium})` : ""}`,
  () => {
    let served: HomesCentral;
    let browser: TestBrowser;
    beforeAll(async () => {
      [served, browser] = await Promise.all([serveHomes(), TestBrowser.start()]);
    });
    afterAll(async () => {
      await browser[Symbol.asyncDispose]();
      await served[Symbol.asyncDispose]();
    });

    test("the answer comes first, and every state is a link", async () => {
      await using visit = await browser.visit({ locale: "en-GB" });
      const { page } = visit;
      await signIn(visit, served);
      expect(await page.locator("h1").textContent()).toBe("2 of 4 homes need a visit.");
      const needy = await page.locator(".needy > li").allInnerTexts();
      expect(needy.map((text) => text.split(/\s*\n\s*/))).toEqual([
        [
          "Home 5",
          "71 % of the last 7 days is missing.",
          "no upload since Monday 02:30",
          "Bring a spare gateway and a network cable.",
        ],
        [
          "Home 4",
          "15 % of the last 7 days is missing.",
          "the gateway did not know the time on the day before its last report",
          "four-0: not heard since Thursday 23:00",
          "four-1: its battery is nearly empty",
          "Bring 2 batteries and a spare sensor.",
        ],
      ]);
      // The mark of an event that arrives is drawn otherwise.
      const arrived = page.locator("td .night.arrived").first();
      expect(await arrived.evaluate((night) => getComputedStyle(night).stroke)).toBe("none");
      await page.getByRole("link", { name: "Needs" }).click();
      expect(new URL(page.url()).search).toBe("?sort=needs");
      expect(await page.locator("tbody tr th").allInnerTexts()).toEqual([
        "Home 4",
        "Home 5",
        "Home 3",
        "Home 6",
      ]);
      await page.getByLabel("Find a home").fill("3.0");
      await page.getByRole("button", { name: "Show" }).click();
      await page.getByText("2 homes, the last 30 nights").waitFor();
      expect(
        await page.getByRole("img", { name: "arrived in time" }).first().getAttribute("aria-label"),
      ).toBe("5 of 6 nights arrived in time; 19 Nov differing");
      await page.getByRole("link", { name: "Show all 4" }).click();
      await page.getByRole("link", { name: "Silent devices 1" }).click();
      await page.getByRole("heading", { name: "1 device is silent." }).waitFor();
      await page.getByRole("link", { name: "Home 4" }).first().waitFor();
      await page.getByRole("link", { name: nameOf(4, 0) }).click();
      await page.getByRole("heading", { name: nameOf(4, 0) }).waitFor();
      await page.goto(`${served.central.origin}/?show=batteries`);
      await page.getByRole("link", { name: nameOf(4, 1) }).click();
      await page.getByRole("heading", { name: nameOf(4, 1) }).waitFor();
      expect(visit.faults).toEqual([]);
    });

    test("leads to a home, its devices and what is recorded there, and back", async () => {
      await using visit = await browser.visit({ locale: "en-GB" });
      const { page } = visit;
      await signIn(visit, served);
      await page.locator(".needy").getByRole("link", { name: "Home 5" }).click();
      await page.getByRole("heading", { name: "One thing to do: no upload since Monday 02:30." }).waitFor();
      expect(await page.locator(".home-needs li").allInnerTexts()).toEqual([
        "Bring a spare gateway and a network cable.",
      ]);
      // Nobody knows yet what happened there since: nothing is drawn as quiet.
      expect(await page.evaluate(stretchesOfNothing)).toEqual(
        [nameOf(5, 0), nameOf(5, 1)].map(() => ["away", "0.000%", "98.958%"]),
      );
      const dash = page.locator("#nothing-away line");
      expect(await dash.evaluate((line) => getComputedStyle(line).stroke)).not.toBe("none");
      const trail = () => page.getByRole("navigation", { name: "Where this is" });
      await page.getByRole("link", { name: nameOf(5, 1) }).click();
      await page.getByRole("heading", { name: nameOf(5, 1) }).waitFor();
      expect(await trail().getByRole("link").allInnerTexts()).toEqual(["All homes", "Home 5", nameOf(5, 1)]);
      await trail().getByRole("link", { name: "Home 5" }).click();
      await page.getByRole("link", { name: "What is recorded here, and what is not" }).click();
      await page.getByRole("heading", { name: "2 devices record" }).waitFor();
      await trail().getByRole("link", { name: "All homes" }).click();
      await page.getByRole("heading", { name: "2 of 4 homes need a visit." }).waitFor();
      expect(visit.faults).toEqual([]);
    });

    test("the map begins at its newest end where it is wider than the screen", async () => {
      await using visit = await browser.visit({ viewport: { width: 390, height: 900 } });
      const { page } = visit;
      await signIn(visit, served);
      await page.getByRole("link", { name: "Missing data" }).click();
      const table = page.getByRole("region", { name: "Missing data" });
      const box = await table.boundingBox();
      const last = await table.getByRole("columnheader", { name: "Missing" }).boundingBox();
      const home = await table.getByRole("rowheader").first().boundingBox();
      expect([last, home].map((one) => one !== null && box !== null && isWithin(one, box))).toEqual([
        true,
        true,
      ]);
      expect(await page.evaluate("document.querySelector('.wide').scrollWidth > innerWidth")).toBe(true);
    });

    test.each([
      [320, "light", ["homes", "missing", "activity", "silent", "batteries", "versions", "firmware"]],
      [768, "dark", ["homes"]],
      [2560, "dark", ["homes", "missing"]],
    ] as const)(
      "reads well at %d px, %s: nothing goes over the edge, and axe finds nothing serious",
      async (width, colorScheme, shows) => {
        await using visit = await browser.visit({ viewport: { width, height: 900 }, colorScheme });
        const { page } = visit;
        await signIn(visit, served);
        for (const show of shows) {
          await page.goto(`${served.central.origin}/?show=${show}`);
          expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
          if (show === "homes")
            expect(
              await page
                .locator(".wide:has(.home-rows)")
                .evaluate((rows) => rows.scrollWidth - rows.clientWidth),
            ).toBe(0);
          expect([show, ...(await faultsOfLoad(page))]).toEqual([show]);
          await page.evaluate(axe);
          const found = (await page.evaluate("axe.run()")) as { violations: Violation[] };
          const serious = found.violations.filter(
            ({ impact }) => impact === "serious" || impact === "critical",
          );
          expect({ show, serious: serious.map(({ id, nodes }) => [id, nodes[0]?.html]) }).toEqual({
            show,
            serious: [],
          });
        }
        expect(visit.faults).toEqual([]);
      },
    );
  },
);

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

interface Extent {
  readonly x: number;
  readonly width: number;
}

function isWithin(one: Extent, other: Extent): boolean {
  return one.x >= other.x - 1 && one.x + one.width <= other.x + other.width + 1;
}

const stretchesOfNothing =
  "[...document.querySelectorAll('.strip [data-why]')].map(one => ['data-why', 'x', 'width'].map(name => one.getAttribute(name)))";

const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

test("a central without a mirror says how to have one", async () => {
  await using served = await serveHomes();
  const page = await served.page("/sql", await served.mint("read"));
  expect(page.status).toBe(200);
  const text = await page.text();
  expect(text).toContain("<h1>No query is answered here.</h1>");
  expect(text).toContain(
    'This central keeps no mirror. To have one, start it as lintel central <span class="option">--mirror</span> DIRECTORY.',
  );
  expect((await served.page("/sql.csv?q=SELECT+1", await served.mint("read"))).status).toBe(404);
});

test("whoever opens the first page finds all homes read already", async () => {
  await using served = await serveHomes();
  const { store } = served.central;
  const token = await served.mint("read");
  const read = store.gateways;
  let reads = 0;
  store.gateways = (...given) => {
    reads += 1;
    return read(...given);
  };
  await served.central.warm();
  expect(reads).toBe(1);
  expect((await served.page("/", token)).status).toBe(200);
  expect(reads).toBe(1);
});
