import { obeyLines, simulatorOptions } from "../../wire/simulated-process.ts";
import { HciSimulator } from "./controller.ts";
import type { SimulatedPeripheral } from "./peripheral.ts";

/**
 * A simulated controller as a process of its own. Prints one JSON line when it is ready, `{"path":…}`, then
 * answers each command, one JSON object a line on stdin, with one JSON line: `{"ok":true,…}` or
 * `{"error":…}`. Ends when stdin does. `bun main.ts --help` lists the commands.
 */
const help = `bun main.ts [--transport tcp|pty] [--port 0] [--link PATH]
  {"do":"add","address":"54:48:…"}                 put a device on the air that only broadcasts
  {"do":"say","address":…,"hex":"16d2fc40…"}       what it broadcasts from now on, whole AD structures
  {"do":"advertise","address":…,"times":10}        answers whether the host heard it
  {"do":"unplug"} {"do":"replug"} {"do":"garbage","hex":"00ff"}`;

interface Command {
  readonly do: string;
  readonly address?: string;
  readonly hex?: string;
  readonly times?: number;
}

type Answer = Readonly<Record<string, unknown>>;

const times_max = 1_000;

/** Commands to one device. */
const deviceCommands: Readonly<Record<string, (device: SimulatedPeripheral, command: Command) => Answer>> = {
  say: (device, { hex = "" }) => {
    device.say(new Uint8Array(Buffer.from(hex, "hex")));
    return {};
  },
  advertise: (device, { times = 1 }) => {
    let heard = false;
    for (let count = 0; count < Math.min(times, times_max); count += 1) heard = device.advertise() || heard;
    return { heard };
  },
};

/** Commands to the controller. */
const commands: Readonly<
  Record<string, (controller: HciSimulator, command: Command) => Answer | Promise<Answer>>
> = {
  add: (controller, { address = "" }) => ({ address: controller.addPeripheral({ address }).address }),
  unplug: (controller) => controller.unplug().then(() => ({})),
  replug: (controller) => controller.replug().then(() => ({})),
  garbage: (controller, { hex = "00" }) => {
    controller.garbage(Buffer.from(hex, "hex"));
    return {};
  },
};

async function obey(controller: HciSimulator, command: Command): Promise<Answer> {
  const toController = commands[command.do];
  if (toController !== undefined) return toController(controller, command);
  const toDevice = deviceCommands[command.do];
  if (toDevice === undefined) throw new RangeError(`no command ${command.do}`);
  const device = controller.peripherals.find(({ address }) => address === command.address);
  if (device === undefined) throw new RangeError(`no device ${command.address}`);
  return toDevice(device, command);
}

const { line } = await simulatorOptions(help, {});
const controller = await HciSimulator.listen(line);
await obeyLines<Command>({ simulator: controller, obey: (command) => obey(controller, command) });
