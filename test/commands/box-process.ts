/**
 * A gateway of home 12 without drivers, on the directory named first: takes in as many readings as named third, numbered from the second on,
 * then says so and stays until it is killed.
 */

import { SystemClock } from "../../src/clock.ts";
import { openGatewayStore } from "../../src/store/sqlite/open.ts";
import { keptLog, sensor, sensorEvent, start_ms } from "../store/sample.ts";

const [directory = "", first = "0", count = "0"] = process.argv.slice(2);
const clock = new SystemClock();
const store = await openGatewayStore({
  directory,
  clock,
  log: keptLog().log,
  home: 12,
  timezone: "Europe/London",
});
const last = Number(first) + Number(count) - 1;
for (let number = Number(first); number <= last; number += 50) {
  const readings = Array.from({ length: Math.min(50, last - number + 1) }, (_, index) => {
    const event = number + index;
    return sensorEvent(sensor(event % 3), start_ms + event * 10 - (event % 7 === 0 ? 2_000 : 0), event);
  });
  const cursors = new Map([["pillbox events", String(number + readings.length - 1)]]);
  await store.append(readings, { cursors });
}
process.stdout.write("done\n");
clock.after(600_000, () => {});
