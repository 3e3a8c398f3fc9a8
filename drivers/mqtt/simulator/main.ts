import { parseArgs } from "node:util";
import { obeyLines } from "../../wire/simulated-process.ts";
import { SimulatedHub } from "./hub.ts";
import {
  esphomeConfig,
  esphomeState,
  type HubPublish,
  theengsBroadcast,
  zigbeeDevices,
  zigbeeState,
  zwaveStatus,
  zwaveValue,
} from "./messages.ts";

/**
 * Hubs of every kind as one process, at a broker that runs: one sensor of each. Prints one JSON line when they are connected, then answers each command
 * with one. `bun main.ts --help` lists the commands.
 */
const help = `bun main.ts [--broker mqtt://localhost:1883]
  {"do":"introduce"}                         the hubs tell of their devices, retained
  {"do":"say","hub":"zigbee2mqtt","on":true,"qos":1}   a sensor speaks: zigbee2mqtt (motion), esphome (bed),
                                             openmqttgateway (window) or zwave-js-ui (door)`;

interface Command {
  readonly do: string;
  readonly hub?: string;
  readonly on?: boolean;
  readonly qos?: 0 | 1;
}

const bed = { node: "bed", component: "binary_sensor", object: "occupied" } as const;

const introductions: readonly HubPublish[] = [
  zigbeeDevices([
    { ieee: "0x00158d0001a2b3c4", name: "hall/motion", model: "lumi.sensor_motion.aq2", vendor: "Aqara" },
  ]),
  esphomeConfig({ ...bed, mac: "a0b1c2d3e4f5", deviceClass: "occupancy" }),
  zwaveStatus("porch", 7, Date.now()),
];

let stamped = 0;

/** The time of a message: each has its own. */
function stamp(): number {
  stamped = Math.max(stamped + 1, Date.now());
  return stamped;
}

const sensors: Readonly<Record<string, (on: boolean) => HubPublish>> = {
  zigbee2mqtt: (on) =>
    zigbeeState("hall/motion", { occupancy: on, last_seen: new Date(stamp()).toISOString() }),
  esphome: (on) => esphomeState(bed.node, bed.component, bed.object, on ? "ON" : "OFF"),
  openmqttgateway: (on) =>
    theengsBroadcast("AA:BB:CC:DD:EE:01", { brand: "Shelly", model_id: "SBDW-002C", open: on }),
  "zwave-js-ui": (on) =>
    zwaveValue("porch", {
      nodeId: 7,
      commandClass: "notification",
      property: "Access_Control/Door_state_simple",
      value: on ? 22 : 23,
      time: stamp(),
    }),
};

async function obey(
  hub: SimulatedHub,
  { do: what, hub: name = "", on = true, qos = 1 }: Command,
): Promise<object> {
  if (what === "introduce") {
    for (const message of introductions) await hub.publish(message);
    return {};
  }
  const sensor = sensors[name];
  if (what !== "say" || sensor === undefined) throw new RangeError(`no command ${what} of ${name}`);
  await hub.publish(sensor(on), qos);
  return {};
}

const { values } = parseArgs({
  options: { broker: { type: "string", default: "mqtt://localhost:1883" }, help: { type: "boolean" } },
});
if (values.help) {
  await Bun.write(Bun.stdout, `${help}\n`);
  process.exit(0);
}
const hub = await SimulatedHub.connect(values.broker);
await obeyLines<Command>({
  simulator: { path: values.broker, close: () => hub.end() },
  obey: (command) => obey(hub, command),
});
