/**
 * Makes the year that the pages benchmark shows, as a process of its own: `bun make-year.ts DIRECTORY SENSORS BUSIEST EACH` writes the store of a gateway that has heard so
 * many motion sensors for a year until now, the first of them with `BUSIEST` events and the others with `EACH`.
 */
import { clockQuality, SystemClock } from "../../../../src/base/clock.ts";
import { lineLog } from "../../../../src/base/log.ts";
import { day_ms, hour_ms } from "../../../../src/base/time.ts";
import type { Device, Reading } from "../../../../src/domain/reading.ts";
import { openGatewayStore } from "../../../../src/store/sqlite/open-store.ts";
import { addressOf } from "../../pages/home.ts";

const days = 365;
/** Once a month the gateway is without power for so long. */
const outage_ms = 7 * hour_ms;

const [directory = "", ...numbers] = process.argv.slice(2);
const [sensors = 0, busiest = 0, each = 0] = numbers.map(Number);
const clock = new SystemClock();
const log = lineLog({ write: () => {}, clock, least: "error" });
const store = await openGatewayStore({ directory, clock, log });
const devices = Array.from({ length: sensors }, (_, at): Device => {
  return { kind: "wirelesssensors", address: addressOf(at + 1), subtype: "wall" };
});
/** How busy the days are, one after the other added up: no two alike, and two weeks in which nobody was there but to water the flowers. */
const weights = [0];
for (let day = 0; day < days; day++) {
  const isAway = day >= 240 && day < 254;
  weights.push((weights[day] ?? 0) + (isAway ? 0.03 : 0.5 + ((day * 7_919) % 101) / 101));
}
const first_ms = Date.now() - days * day_ms;
for (let day = 0; day < days; day++) {
  const from_ms = first_ms + day * day_ms;
  const listens_ms = from_ms + (day % 30 === 10 ? outage_ms : 0);
  const readings = devices
    .flatMap((device, at) => eventsOf(device, { day, from_ms, count: at === 0 ? busiest : each }))
    .filter(({ stamp_ms }) => stamp_ms >= listens_ms)
    .sort((one, other) => one.stamp_ms - other.stamp_ms);
  const hours = Array.from({ length: 24 }, (_, hour) => from_ms + hour * hour_ms);
  const heard = [listens_ms, ...hours.filter((at_ms) => at_ms > listens_ms), from_ms + day_ms - 1].flatMap(
    (heard_ms) => devices.map((device) => ({ device, heard_ms, listener: "radio" })),
  );
  await store.append(readings, {
    listening: [{ listener: "radio", from_ms: listens_ms, to_ms: from_ms + day_ms }],
    states: heard,
  });
}
await store.close();

/** Events of a day: by night one in eight of those by day. */
function eventsOf(device: Device, of: { day: number; from_ms: number; count: number }): Reading[] {
  const { day, from_ms, count } = of;
  const until = (end: number) => Math.floor((count * (weights[end] ?? 0)) / (weights[days] ?? 1));
  const own = until(day + 1) - until(day);
  return Array.from({ length: own }, (_, at) => {
    const share = (at + 0.5) / own;
    const awake = share < 1 / 16 ? share * 4 : 0.25 + (share - 1 / 16) * 0.8;
    const stamp_ms = Math.floor(from_ms + awake * day_ms) + ((at * 7_919) % 997);
    const values = { event: at % 2 === 0 ? 0x32 : 0x30 };
    return { device, series: "wirelesssensor_events", stamp_ms, clock: clockQuality.synchronised, values };
  });
}
