/**
 * A gateway without drivers, on the directory named first: accepts readings as fast as they are committed,
 * from the number named second, and writes each number once its reading is acknowledged.
 */
import { writeSync } from "node:fs";
import { SystemClock } from "../../../src/base/clock.ts";
import { Ingest } from "../../../src/gateway/ingest/ingest.ts";
import { keptLog, sensor, sensorEvent, start_ms } from "../../../testbed/sample.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";

const [directory = "", first = "0"] = process.argv.slice(2);
const clock = new SystemClock();
const store = await openGateway(directory);
const ingest = new Ingest({ store, clock, log: keptLog().log, groupInterval_ms: 2 });
// Until it is killed.
for (let number = Number(first); ; number += 1) {
  // Some come late, and fall into blocks that are counted already.
  const stamp_ms = start_ms + number - (number % 7 === 0 ? 2_000 : 0);
  const accepted = ingest.accept(sensorEvent(sensor(number % 3), stamp_ms, number));
  void accepted.then(() => writeSync(1, `${number}\n`));
  if (number % 20 === 19) await accepted;
}
