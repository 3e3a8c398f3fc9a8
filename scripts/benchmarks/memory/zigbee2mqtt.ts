import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../../testbed/front-door.ts";
import { Zigbee2Mqtt } from "../stick/zigbee2mqtt.ts";
import { Samples } from "./samples.ts";
import { type HomeName, Sensors } from "./sensors.ts";

const arrival_tries_max = 4_800;

/** The same month before Zigbee2MQTT, with the same sensors around the same coordinator; undefined where it is not here. */
export async function zigbee2mqttMonth(options: {
  days: number;
  rate: number;
  home: HomeName;
}): Promise<Samples | undefined> {
  const directory = mkdtempSync(join(tmpdir(), "lintel-bench-stick-"));
  const sensors = await Sensors.listen(directory, options.home);
  const other = await Zigbee2Mqtt.start(sensors.path);
  try {
    if (other === undefined) return undefined;
    const samples = new Samples(other.name);
    await other.letIn(sensors.devices);
    samples.take(other.pid);
    for (let day = 0; day < options.days; day++) {
      const before = other.states;
      const sent = sensors.sent;
      await sensors.day(options.rate);
      const due = before + sensors.sent - sent;
      await eventually(() => (other.states >= due ? true : undefined), `day ${day} is published`, {
        tries_max: arrival_tries_max,
      });
      samples.take(other.pid);
    }
    return samples;
  } finally {
    await other?.close();
    await sensors.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
