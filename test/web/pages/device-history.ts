import { day_ms, hour_ms, startOfDate_ms } from "../../../src/base/time.ts";
import type { Device, Reading } from "../../../src/domain/reading.ts";
import type { GatewayStore } from "../../../src/store/gateway/gateway-store.ts";
import type { TestBrowser, Visit } from "../../../testbed/browser.ts";
import { reading, sensor, sensorEvent } from "../../../testbed/sample.ts";
import { type PagesServing, serveHome } from "./device-home.ts";

export const zone = "Europe/Berlin";
/** Friday noon in Berlin, four weeks after the clocks went back there. */
export const now_ms = Date.UTC(2026, 10, 20, 11, 0, 0) + 250;

export const door = sensor(1, { subtype: "door" });
export const doorName = "wirelesssensor-000d6f0005a10001";
export const doorPage = `/devices/wirelesssensors/${doorName}`;

export const box = { kind: "pillboxes", address: "5c:f2:86:41:0a:17", subtype: "broadcasting" } as const;
export const boxPage = "/devices/pillboxes/pillbox-5cf286410a17";

export const scale = { kind: "scales", address: "d4:36:39:aa:17:5c" } as const;
export const scalePath = "scales/scale-d43639aa175c";

/** When nobody listened, and when the door was not heard although somebody did; unix milliseconds. */
export const outage = { from_ms: Date.UTC(2026, 10, 10, 8), to_ms: Date.UTC(2026, 10, 10, 16) };
export const silence = { from_ms: Date.UTC(2026, 10, 12, 0), to_ms: Date.UTC(2026, 10, 13, 0) };

/** When the clock of the home was in doubt, from noon to six in the evening in Berlin; unix milliseconds. */
export const doubt = { from_ms: Date.UTC(2026, 10, 14, 11), to_ms: Date.UTC(2026, 10, 14, 17) };

/** The day on which the clocks went back, which had 25 hours: half past two came twice. */
export const longDay = {
  from_ms: Date.UTC(2026, 9, 24, 22),
  halfPastTwo_ms: [Date.UTC(2026, 9, 25, 0, 30), Date.UTC(2026, 9, 25, 1, 30)],
};

/**
 * Fills a store with six weeks of a door that is opened for two and a half minutes at seven each morning, for ten seconds at both half past twos of the long day, and
 * is heard each hour: but for the outage and the silence. It also stands open from ten minutes before the outage to ten minutes behind it.
 */
export async function fillDoor(store: GatewayStore): Promise<void> {
  const first_ms = startOfDate_ms(zone, "2026-10-09") ?? 0;
  const away = (at_ms: number) =>
    [outage, silence].some(({ from_ms, to_ms }) => at_ms >= from_ms && at_ms < to_ms);
  for (let day_start_ms = first_ms; day_start_ms < now_ms; day_start_ms += day_ms) {
    const to_ms = Math.min(day_start_ms + day_ms, now_ms);
    const readings = openingsWithin(day_start_ms, to_ms).filter(({ stamp_ms }) => !away(stamp_ms));
    const beats = Array.from({ length: 24 }, (_, hour) => day_start_ms + hour * hour_ms);
    const heard = [...beats, ...readings.map(({ stamp_ms }) => stamp_ms)]
      .filter((at_ms) => at_ms < to_ms && !away(at_ms))
      .sort((one, other) => one - other);
    const whole = { from_ms: day_start_ms, to_ms };
    const isCut = outage.from_ms >= whole.from_ms && outage.from_ms < whole.to_ms;
    const listened = isCut
      ? [
          { ...whole, to_ms: outage.from_ms },
          { ...whole, from_ms: outage.to_ms },
        ]
      : [whole];
    for (const span of listened)
      await store.append(
        readings.filter(({ stamp_ms }) => stamp_ms >= span.from_ms && stamp_ms < span.to_ms),
        {
          listening: [{ listener: "radio", ...span }],
          states: [
            ...heard.map((heard_ms) => ({ device: door as Device, heard_ms, listener: "radio" })),
            ...beats.map((heard_ms) => ({ device: scale, heard_ms, listener: "radio" })),
            ...[box, ...curtains].flatMap((device) =>
              beats.map((heard_ms) => ({ device: device as Device, heard_ms, listener: "radio" })),
            ),
          ]
            .filter(({ heard_ms }) => heard_ms >= span.from_ms && heard_ms < span.to_ms)
            .sort((one, other) => one.heard_ms - other.heard_ms),
        },
      );
  }
}

function openingsWithin(from_ms: number, to_ms: number): Reading[] {
  const date = new Date(from_ms + 12 * hour_ms).toISOString().slice(0, 10);
  const seven_ms = Temporal.PlainDateTime.from(`${date}T07:00`).toZonedDateTime(zone).epochMilliseconds;
  const open = (at_ms: number, lasts_ms: number) => [
    sensorEvent(door, at_ms, 0x31),
    sensorEvent(door, at_ms + lasts_ms, 0x30),
  ];
  return [
    ...longDay.halfPastTwo_ms.flatMap((at_ms) => open(at_ms, 10_125)),
    ...open(seven_ms, 150_000),
    ...open(outage.from_ms - 600_000, outage.to_ms - outage.from_ms + 1_200_000),
  ].filter(({ stamp_ms }) => stamp_ms >= from_ms && stamp_ms < to_ms);
}

/**
 * The box of the same home, in the three weeks to now: taken at eight each morning but on Wednesday the 18th, when nobody did, and Tuesday the 10th, when nobody
 * listened; on Saturday the 14th all doors were opened and closed within a few minutes instead.
 */
export async function fillBox(store: GatewayStore): Promise<void> {
  const readings: Reading[] = [];
  const change = (at_ms: number, event: number) =>
    readings.push(reading(box, "pillbox_events", at_ms, { event }));
  for (let day = 1; day <= 20; day++) {
    const date = `2026-11-${String(day).padStart(2, "0")}`;
    const eight_ms = (startOfDate_ms(zone, date) ?? 0) + 8 * hour_ms;
    const doors = day === 14 ? [0, 1, 2, 3, 4, 5, 6] : [new Date(eight_ms).getUTCDay()];
    if (day === 18 || day === 10) continue;
    for (const [at, one] of doors.entries()) {
      change(eight_ms + at * 30_000, 1 << one);
      change(eight_ms + at * 30_000 + 10_000, 0);
    }
  }
  await store.append(readings);
}

/** Weighings of the same home, one every other morning of four weeks, 100 g more each time. */
export async function fillScale(store: GatewayStore): Promise<void> {
  const none = { fatMass: null, waterMass: null, boneMass: null, muscleMass: null, batteryLevel: null };
  const readings = Array.from({ length: 14 }, (_, at) => {
    const at_ms = now_ms - (27 - 2 * at) * day_ms;
    return reading(scale, "scale_weights", at_ms, { weight: 68_000 + at * 100, ...none });
  });
  await store.append(readings);
}

/** Three sensors over a hall, 1.5 m from each other. */
const curtains = [11, 12, 13].map((number) => sensor(number, { subtype: "curtain" }));
export const line = {
  name: "hall",
  sensors: curtains.map(({ address }, at) => ({
    item: `wirelesssensor-${address.replaceAll(":", "")}`,
    metres: 1.5 * at,
  })),
};

/** Walks below them at nine, noon and six of each day of the eight weeks to now, but for the week of 2 November; each week a little slower. */
export async function fillLine(store: GatewayStore): Promise<void> {
  const readings: Reading[] = [];
  for (let day = 56; day > 0; day--)
    for (const [at, hour] of [8, 11, 17].entries()) {
      const from_ms = Math.floor(now_ms / day_ms) * day_ms - day * day_ms + hour * hour_ms;
      if (from_ms >= Date.UTC(2026, 10, 1, 23) && from_ms < Date.UTC(2026, 10, 8, 23)) continue;
      const speed = 1 - 0.05 * Math.floor((56 - day) / 7) + 0.03 * at;
      for (const [place, curtain] of curtains.entries()) {
        const seen_ms = from_ms + Math.round((1_500 * place) / speed);
        readings.push(sensorEvent(curtain, seen_ms, 0x32), sensorEvent(curtain, seen_ms + 400, 0x30));
      }
    }
  await store.append(readings.sort((one, other) => one.stamp_ms - other.stamp_ms));
}

/** Serves a home whose door, pill box, scale and line of curtain sensors have their history. */
export async function serveHistory(): Promise<PagesServing> {
  const serving = await serveHome({ now_ms, home: 12, zone, walking: [line] });
  for (const fill of [fillDoor, fillBox, fillScale, fillLine]) await fill(serving.store);
  return serving;
}

/** The door's page once its plot is drawn. */
export async function doorDrawn(
  serving: PagesServing,
  browser: TestBrowser,
  query: string,
  options: Parameters<PagesServing["signIn"]>[1] = {},
): Promise<Visit> {
  const visit = await serving.signIn(browser, { locale: "en-GB", ...options });
  await visit.page.goto(`${serving.origin}${doorPage}?${query}`);
  await visit.page.waitForSelector(".plot details");
  return visit;
}
