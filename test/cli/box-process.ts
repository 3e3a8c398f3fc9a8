/**
 * A gateway without drivers, on the directory named first, in the home named second: takes in readings whose events are the numbers from the
 * third to the fourth, and so is the counter of one device, then says so and stays until it is killed.
 */

import { sensor, sensorEvent, start_ms } from "../../testbed/sample.ts";
import { openBox } from "./box-store.ts";

const [directory = "", home, first, last] = process.argv.slice(2);
const { store, stay } = await openBox({ directory, home });
for (let number = Number(first); number <= Number(last); number += 50) {
  const readings = Array.from({ length: Math.min(50, Number(last) - number + 1) }, (_, index) => {
    const event = number + index;
    // Some come late.
    return sensorEvent(sensor(event % 3), start_ms + event * 10 - (event % 7 === 0 ? 2_000 : 0), event);
  });
  const counter = number + readings.length - 1;
  const cursors = [{ name: "pillbox events", value: String(counter) }];
  const identity = { ...sensor(1), driver: "bthome", since_ms: start_ms, counter };
  await store.append(readings, { cursors, identities: { identities: [identity], conflicts: [] } });
}
stay();
