/**
 * Memory of a gateway with all drivers over a month of traffic, beside Zigbee2MQTT's on the same coordinator
 *
 *   ./scripts/bench memory [--quick] [--usual] [--rate 600]
 *
 * This process is every device: 20 Zigbee sensors of 150 notifications a day, two pill boxes, scales, a watch and
 * the neighbours' broadcasts, each on a pty of its own; the gateway is started as people start it, and asked through its API
 * every day: one as on a machine with 4 GB, and one as on a machine with 1 GB. Then a gateway with Zigbee alone, then Zigbee2MQTT under the same notifications. Exits with 1
 * when a gateway with all drivers grows in the last half of the month, or is above 0.75 of Zigbee2MQTT with 4 GB, or 0.6 with 1 GB. --quick takes four days for the month; --usual takes a home with
 * sensors of NYCE, Hue, Aqara, IKEA and Sonoff, whose definitions are loaded by both, instead of twenty of NYCE.
 */
import { type MachineSize, machineSizes } from "../../testbed/front-door.ts";
import { optionsOf } from "../program-options.ts";
import { Report } from "./api/report.ts";
import { lintelMonth } from "./memory/lintel.ts";
import type { Samples } from "./memory/samples.ts";
import { zigbee2mqttMonth } from "./memory/zigbee2mqtt.ts";

/** Median of the last quarter above that of the quarter before. */
const growth_max_mb = 3;
const ratio_max = { large: 0.75, small: 0.6 };

const options = optionsOf("./scripts/bench memory [--quick] [--usual] [--rate 600]", {
  quick: false,
  usual: false,
  rate: 600,
});

const days = options.quick ? 4 : 30;
const { rate } = options;
const home = options.usual ? "usual" : "nyce";
console.log(`${days} days of traffic, ${rate} notifications a second`);
const all: Record<string, Samples> = {};
for (const machine of machineSizes) {
  const samples = await lintelMonth({ days, rate, home, all: true, machine });
  samples.print();
  all[machine] = samples;
}
const zigbee = await lintelMonth({ days, rate, home, all: false, machine: "large" });
zigbee.print();
const other = await zigbee2mqttMonth({ days, rate, home });
other?.print();
const report = new Report();
const mb = (value: number) => `${value.toFixed(1)} MB`;
if (other === undefined) {
  report.absent("Zigbee2MQTT", "sudo apt-get install nodejs npm; npm then installs it");
  report.figure("Zigbee alone, MB", zigbee.settled_mb);
  // Nobody knows whether the bar is kept.
  report.missed += 1;
} else {
  const { name, settled_mb } = other;
  for (const [machine, samples] of Object.entries(all))
    report.bar(`all drivers, ${machine} machine, last quarter of ${days} days, beside ${name}`, {
      value: samples.settled_mb / settled_mb,
      most: ratio_max[machine as MachineSize],
      of: [mb(samples.settled_mb), mb(settled_mb)],
    });
  report.beside("Zigbee alone, MB", zigbee.settled_mb, { name, figure: settled_mb });
}
for (const [machine, { growth_mb }] of Object.entries(all))
  report.bar(`all drivers, ${machine} machine, growth from the third quarter to the last, MB`, {
    value: growth_mb,
    most: growth_max_mb,
  });
process.exit(report.end());
