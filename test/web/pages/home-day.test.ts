import { afterAll, beforeAll, expect, test } from "bun:test";
import { hour_ms, localDate } from "../../../src/base/time.ts";
import { beginPause } from "../../../src/store/pause-requests.ts";
import type { HomeDayData } from "../../../src/web/pages/home-day/home-day-data.ts";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { reading, sensorEvent } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { faultsForAll } from "./accessibility.ts";
import {
  door,
  doorName,
  doorPage,
  fillBox,
  fillDoor,
  fillScale,
  now_ms,
  scale,
  scalePath,
  zone,
} from "./device-history.ts";
import { type PagesServing, serveHome } from "./device-home.ts";
import { states } from "./states.ts";

let serving: PagesServing;
beforeAll(async () => {
  serving = await serveHome({ now_ms, home: 12, zone });
  await fillDoor(serving.store);
  await fillBox(serving.store);
  await fillScale(serving.store);
});
afterAll(() => serving[Symbol.asyncDispose]());

async function dataOf(query: string): Promise<HomeDayData> {
  const page = await (await serving.ask(`/day?${query}`)).text();
  return JSON.parse(/id="shown">(.*)<\/script>/.exec(page)?.[1] ?? "{}").data;
}

const wordsOf = ({ name = "", words }: HomeDayData["log"][number]) => name + words;
const isOn = (date: string) => (at_ms: number) => localDate(zone, at_ms) === date;

test("the logbook of a day has what the interface has of it, in order", async () => {
  const { log, window, devices } = await dataOf("date=2026-11-19");
  const on = isOn("2026-11-19");
  const events = await serving.records(`/v0.9/items/wirelesssensors/${doorName}/events?precision=ms`);
  const openings = events.filter(({ stamp = 0, event = 0 }) => on(stamp) && (event & 1) !== 0);
  const weights = await serving.records(`/v0.9/items/${scalePath}/weights?precision=ms`);
  const doses = await serving.records("/v0.9/homes/12/derived/doses");
  const expected = [
    ...openings.map(({ stamp }) => stamp),
    ...weights.flatMap(({ stamp = 0 }) => (on(stamp) ? [stamp] : [])),
    ...doses.flatMap(({ at }) => (at && on(at * 1_000) ? [at * 1_000] : [])),
  ];
  expect(expected.length).toBeGreaterThan(1);
  expect(log.map(({ at_ms }) => at_ms)).toEqual(expected.map(Number).sort((one, other) => one - other));
  expect(log.map(wordsOf)).toContain(`${doorName} opened`);
  expect(devices.length).toBeGreaterThan(2);
  // Of a day that is over the answer is what it was like, and of today also the last that is known.
  const answered = async (query: string) => {
    const page = await (await serving.ask(`/day?${query}`)).text();
    return /<p class="answer">(.*?)<\/p>/.exec(page)?.[1]?.replace(/<[^>]*>/g, "");
  };
  expect(await answered("date=2026-11-19")).toMatch(/Took 1 of 1 dose\.$/);
  expect(await answered("")).toMatch(/Took 1 of 1 dose\. Last known at \d\d:\d\d: /);
  expect([window.from_ms, window.to_ms - 1].map((at_ms) => localDate(zone, at_ms))).toEqual(
    Array(2).fill("2026-11-19"),
  );
});

test("words about a device whose name runs from right to left run from left to right", async () => {
  await using home = await (states["names from right to left"] as () => Promise<PagesServing>)();
  const page = await (await home.ask("/day")).text();
  expect(page).toMatch(/<bdi>[\u0590-\u06ff ]+ \d+<\/bdi><span dir="ltr"> opened<\/span>/);
});

test("a week is the seven days that end with the date, and a kind is shown alone", async () => {
  const { log, window, groups } = await dataOf("date=2026-11-19&span=week");
  expect(localDate(zone, window.from_ms)).toBe("2026-11-13");
  const doors = await dataOf("date=2026-11-19&span=week&only=Doors");
  expect(groups).toContain("Doors");
  expect(doors.devices.map(({ name }) => name)).toEqual([doorName]);
  expect(new Set(doors.log.map(wordsOf))).toEqual(new Set([`${doorName} opened`]));
  expect(doors.log.length).toBeLessThan(log.length);
});

test("of a day on which several devices say more than a logbook has room for together, the newest stands there", async () => {
  const from_ms = Date.UTC(2026, 8, 7, 4);
  const none = { fatMass: null, waterMass: null, boneMass: null, muscleMass: null, batteryLevel: null };
  const opened = Array.from({ length: 900 }, (_, at) => sensorEvent(door, from_ms + at * 60_000, 0x31));
  const weighed = Array.from({ length: 900 }, (_, at) =>
    reading(scale, "scale_weights", from_ms + 30_000 + at * 60_000, { weight: 70_000, ...none }),
  );
  await serving.store.append([...opened, ...weighed], {});
  const { log } = await dataOf("date=2026-09-07");
  expect(log).toHaveLength(1_000);
  const expected = [...opened, ...weighed].map(({ stamp_ms }) => stamp_ms).sort((one, other) => one - other);
  expect(log.map(({ at_ms }) => at_ms)).toEqual(expected.slice(-1_000));
});

test("of a door that says more than a logbook has room for, the newest stands there", async () => {
  const from_ms = Date.UTC(2026, 9, 5);
  const opened = Array.from({ length: 4_500 }, (_, at) => sensorEvent(door, from_ms + at * 10_000, 0x31));
  await serving.store.append(opened, {});
  const { log } = await dataOf("date=2026-10-05&only=Doors");
  const told = log.filter((one) => wordsOf(one) === `${doorName} opened`).map(({ at_ms }) => at_ms);
  expect(log).toHaveLength(1_000);
  expect(told).toEqual(opened.slice(-told.length).map(({ stamp_ms }) => stamp_ms));
});

test("while recording is paused, today and the page of a device say so, and a day before does not", async () => {
  await using paused = await serveHome({ now_ms, home: 12, zone });
  await fillDoor(paused.store);
  await beginPause(paused.store, new SettableClock(now_ms), { home: 0, for_ms: hour_ms });
  const answers = async (path: string) =>
    [...(await (await paused.ask(path)).text()).matchAll(/<p class="answer">(.*?)<\/p>/g)].join();
  const words = /Recording has been paused since \d\d:\d\d, until \d\d:\d\d\./;
  for (const path of ["/day", "/day?span=week", doorPage]) expect(await answers(path)).toMatch(words);
  expect(await answers("/day?date=2026-11-19")).not.toContain("paused");
});

test("today says that the gateway does not know the time, and a day before does not", async () => {
  await using home = await (states["a boot without a clock"] as () => Promise<PagesServing>)();
  const words = "The gateway does not know the time: what it hears is kept, and shown once it does.";
  expect(await (await home.ask("/day")).text()).toContain(`<p class="answer">${words} `);
  expect(await (await home.ask("/day?date=2026-11-19")).text()).not.toContain(words);
});

test("the day of a home without devices says so, and points at no strips", async () => {
  await using empty = await serveHome({ now_ms, home: 12, zone });
  const page = await (await empty.ask("/day")).text();
  expect(page).toContain('<p class="answer">No device has been heard here yet.</p>');
  expect(page).not.toContain("Point at a moment");
  expect(page).not.toContain("day-strips");
});

test("the day on which the clocks change has all of its minutes, and a day that has not come is refused", async () => {
  expect((await dataOf("date=2026-10-25")).window.columns).toBe(25 * 60);
  for (const date of ["2026-11-21", "2026-13-01", "today"])
    expect((await serving.ask(`/day?date=${date}`)).status).toBe(422);
  expect((await dataOf("")).later).toBeNull();
});

test.skipIf(chromiumPath === undefined)(
  `who points at a moment sees it in every strip, and who saw something then (else ${noChromium})`,
  async () => {
    await using browser = await TestBrowser.start();
    await using visit = await serving.signIn(browser, { locale: "en-GB" });
    const { page } = visit;
    await page.goto(`${serving.origin}/day?date=2026-11-19`);
    const opened = page.locator(".logbook li", { hasText: "opened" }).first();
    await opened.hover();
    const marked = page.locator(".strip .pointed");
    await marked.first().waitFor({ state: "attached" });
    expect(await marked.count()).toBe(await page.locator(".strip").count());
    expect(await page.textContent(".pointed-words")).toContain(doorName);
    const box = await page.locator(".strip").first().boundingBox();
    await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + 5);
    await page.getByText(/^1[12]:\d\d: /).waitFor();
    expect(await faultsForAll(page)).toEqual([]);
    expect(visit.faults).toEqual([]);
  },
);
