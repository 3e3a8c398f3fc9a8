/**
 * A gateway under 1,000 Zigbee notifications a second on a pty: all on disk, none twice
 *
 *   ./scripts/bench ingest [--seconds 60] [--rate 1000]
 *
 * This process is the stick, with 20 sensors; the gateway is the program that people start. Each sensor counts in its
 * zone status, so that a lost, repeated or swapped event shows. Exits with 1 when there is one.
 */

import type { SimulatedDevice } from "../../drivers/zigbee/simulator/device.ts";
import { eventually } from "../../testbed/front-door.ts";
import { optionsOf } from "../program-options.ts";
import { peakOf, processorOf, residentOf } from "./api/process-usage.ts";
import { Report } from "./api/report.ts";
import { evenly, StickHome } from "./stick/home.ts";

const { seconds, rate } = optionsOf("./scripts/bench ingest [--seconds 60] [--rate 1000]", {
  seconds: 60,
  rate: 1_000,
});

const sensor_count = 20;

const report = new Report();
const home = await StickHome.start(sensor_count);
let lost = -1;
let code = -1;
try {
  lost = await measure(home);
} finally {
  code = await home.close();
}
report.bar("sensors with a notification lost, repeated or out of order", { value: lost, most: 0 });
report.bar("exit code of the gateway", { value: code, most: 0 });
process.exit(report.end());

/** How many sensors have other events than they sent. */
async function measure({ gateway, sensors }: StickHome): Promise<number> {
  console.log(`${sensor_count} sensors on a pty; ${rate} notifications a second for ${seconds} s`);
  const { pid } = gateway.process;
  const before_s = processorOf(pid);
  const started_ms = performance.now();
  const sent = await flood(sensors);
  const differing = await compare(sent);
  const took_s = (performance.now() - started_ms) / 1000;
  const after_s = processorOf(pid);
  const total = sent.reduce((sum, count) => sum + count, 0);
  const cpu = ((after_s - before_s) / took_s) * 100;
  console.log(
    `sent ${total}; ${differing === 0 ? "all on disk, none twice, in order" : "not all are on disk"}`,
  );
  report.figure(`notifications, ${rate} a second`, total);
  report.figure("of a core, %", cpu);
  report.figure("resident at the end, MB", residentOf(pid));
  report.figure("resident at most, MB", peakOf(pid));
  return differing;
}

/** Sends at the rate, every sensor in turn, each counting from 1 in its zone status; how many each has sent. */
async function flood(sensors: readonly SimulatedDevice[]): Promise<number[]> {
  const sent = sensors.map(() => 0);
  await evenly(rate, rate * seconds, (count) => {
    const index = count % sensors.length;
    sent[index] = (sent[index] ?? 0) + 1;
    sensors[index]?.notify((sent[index] ?? 0) & 0xffff);
  });
  await home.stick.drained();
  return sent;
}

/** How many sensors have other events in the API than they sent, in another order or number. */
async function compare(sent: readonly number[]): Promise<number> {
  let differing = 0;
  for (const [index, sensor] of home.sensors.entries()) {
    const count = sent[index] ?? 0;
    const name = home.nameOf(sensor);
    await eventually(
      async () => ((await home.newest(name)) === (count & 0xffff) ? true : undefined),
      `event ${count} of ${name}`,
    );
    const expected = Array.from({ length: count }, (_, back) => (count - back) & 0xffff);
    const events = await home.gateway.events(name, home.token);
    const stored = events.map(({ event }) => event).slice(0, count + 1);
    // Enrolment may have left one status of its own below.
    if (JSON.stringify(stored.slice(0, count)) !== JSON.stringify(expected) || stored[count] === 1) {
      differing++;
      console.log(`${name}: sent ${count}, stored ${stored.length}: ${difference(expected, stored)}`);
    }
  }
  return differing;
}

function difference(expected: readonly number[], stored: readonly number[]): string {
  const at = expected.findIndex((event, index) => event !== stored[index]);
  return `first differs at ${at}: ${expected[at]} sent, ${stored[at]} stored`;
}
