/**
 * A simulated Bluetooth controller as a process of its own, with a standard scale, a broadcasting pill box and a watch around
 * it: what drivers/ble/simulator is for one driver, for all that speak through it. Answers a line for each line.
 */
import { HciSimulator } from "../drivers/ble/simulator/controller.ts";
import type { SimulatedPeripheral } from "../drivers/ble/simulator/peripheral.ts";
import { nordicUart, SimulatedWatch } from "../drivers/watch/simulator/watch.ts";
import { obeyLines, simulatorOptions } from "../drivers/wire/simulated-process.ts";
import { addBondedScale, addPillBox, addScale, deviceAddresses, needing, strangerOf } from "./ble-devices.ts";

const help = `bun air.ts [--transport tcp|pty|vhci] [--port 0] [--link PATH] [--watch bonded]
  --watch bonded: the watch speaks to a bonded partner alone, with which it pairs without digits
  {"do":"turn","door":3}               a door of the pill box opens or closes
  {"do":"weigh","weight_g":70000}      somebody steps on the scale
  {"do":"weighBonded","weight_g":70000} somebody steps on the scale that speaks to a bonded partner alone
  {"do":"look"}                        nothing; every answer has the digits of that scale, and how often it and the watch were paired
  {"do":"block","ts":…,"steps":120}    ten minutes more in the log of the watch, until this unix time in ms
  {"do":"strangers","count":80}        so many devices that were never heard before pass by
  {"do":"unplug"} {"do":"replug"}      the controller is taken out, and put in again`;

interface Command {
  readonly do: string;
  readonly count?: number;
  readonly door?: number;
  readonly weight_g?: number;
  readonly ts?: number;
  readonly steps?: number;
}

/** Every device is heard this often, as long as a gateway scans. */
const advertising_ms = 100;

const { line, own } = await simulatorOptions(help, { watch: { type: "string" } });
const controller = await HciSimulator.listen(line);

const box = addPillBox(controller);
const { scale, onAir: scaleOnAir } = addScale(controller);
const bonded = addBondedScale(controller);
const watch = new SimulatedWatch();
const watchServices = nordicUart(watch, () => watchOnAir);
const watchOnAir: SimulatedPeripheral = controller.addPeripheral({
  address: deviceAddresses.watch,
  advertisement: { name: "Bangle.js c0ff" },
  ...(own.watch === "bonded"
    ? { services: needing("encryption", watchServices), security: {} }
    : { services: watchServices }),
});

let strangers = 0;
const weighingOf = ({ weight_g = 70_000 }: Command) => ({
  weight: { weight_g, shown_ms: Math.floor(Date.now() / 1000) * 1000 },
});
const commands: Readonly<Record<string, (command: Command) => unknown>> = {
  turn: ({ door = 0 }) => box.turn(door),
  weigh: (command) => scale.weigh(weighingOf(command)),
  weighBonded: (command) => bonded.scale.weigh(weighingOf(command)),
  look: () => {},
  unplug: () => controller.unplug(),
  replug: () => controller.replug(),
  block: ({ ts = Date.now(), steps = 0 }) => {
    watch.blocks.push({ end_ms: ts, steps, activity: "WALKING" });
  },
  strangers: ({ count = 1 }) => {
    for (const last = strangers + count; strangers < last; strangers += 1)
      controller.passBy(strangerOf(strangers));
  },
};

setInterval(() => {
  box.repeat();
  if (scale.stored.length > 0) scaleOnAir.advertise();
  if (bonded.scale.stored.length > 0) bonded.onAir.advertise();
  watchOnAir.advertise();
}, advertising_ms);

await obeyLines<Command>({
  simulator: controller,
  obey: async (command) => {
    const obeyed = commands[command.do];
    if (obeyed === undefined) throw new RangeError(`no command ${command.do}`);
    await obeyed(command);
    const { digits } = bonded.shown;
    return {
      scanning: controller.scanning,
      digits,
      pairings: bonded.onAir.security?.pairings,
      watchPairings: watchOnAir.security?.pairings,
    };
  },
});
