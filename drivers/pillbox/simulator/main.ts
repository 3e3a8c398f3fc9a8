import { obeyLines, simulatorOptions } from "../../wire/simulated-process.ts";
import { SimulatedBox } from "./box.ts";
import { BridgeSimulator } from "./bridge.ts";

/**
 * A simulated bridge as a process of its own. Prints one JSON line when it is ready, `{"path":…}`, then answers each
 * command, one JSON object a line on stdin, with one JSON line: `{"ok":true,…}` or `{"error":…}`. Ends when stdin
 * does. `bun main.ts --help` lists the commands.
 */
const help = `bun main.ts [--transport tcp|pty] [--port 0] [--link PATH]
  {"do":"add","mac":"c0:ff:ee:00:00:01","ahead_s":3600,"drift_ppm":20,"power":"battery"}   a box in reach
  {"do":"door","mac":…,"door":0,"open":true}     a door moves
  {"do":"fill","mac":…,"count":1440,"every_s":1800}   doors that moved earlier, the last one now
  {"do":"power","mac":…,"power":"external_power"}
  {"do":"restart","mac":…,"clock_s":0}           the box starts again, with its clock there if given
  {"do":"forget","mac":…}                        and with an empty buffer
  {"do":"noise","flip_per_byte":0.001,"cut_per_frame":0.05,"garbage_per_frame":0.1,"lost_per_frame":0.05}
  {"do":"silent","silent":true} {"do":"unplug"} {"do":"replug"} {"do":"garbage","hex":"00ff"}
  {"do":"boxes"}                                 what happened on each, with its true time`;

interface Command {
  readonly do: string;
  readonly mac?: string;
  readonly ahead_s?: number;
  readonly drift_ppm?: number;
  readonly power?: "battery" | "external_power";
  readonly door?: number;
  readonly open?: boolean;
  readonly count?: number;
  readonly every_s?: number;
  readonly clock_s?: number;
  readonly silent?: boolean;
  readonly hex?: string;
  readonly flip_per_byte?: number;
  readonly cut_per_frame?: number;
  readonly garbage_per_frame?: number;
  readonly lost_per_frame?: number;
}

type Answer = Readonly<Record<string, unknown>>;

const boxCommands: Readonly<Record<string, (box: SimulatedBox, command: Command) => void>> = {
  door: (box, { door = 0, open = true }) => box.door(door, open),
  fill: (box, { count = 1, every_s = 1800 }) => {
    for (let back = count - 1; back >= 0; back -= 1) {
      box.doors(back % 2 === 0 ? 0 : 1 << (back % 7), Date.now() - back * every_s * 1000);
    }
  },
  power: (box, { power = "external_power" }) => {
    box.power = power;
  },
  restart: (box, { clock_s }) => box.restart(clock_s),
  forget: (box, { clock_s }) => box.forget(clock_s),
};

const commands: Readonly<
  Record<string, (bridge: BridgeSimulator, command: Command) => Answer | Promise<Answer>>
> = {
  add: (bridge, { mac = "c0:ff:ee:00:00:01", ahead_s = 0, drift_ppm = 0, power = "external_power" }) => {
    bridge.boxes.push(
      new SimulatedBox({ mac, now_ms: Date.now, ahead_ms: ahead_s * 1000, drift_ppm, power }),
    );
    return { mac };
  },
  noise: (bridge, noise) => {
    bridge.noise = noise;
    return {};
  },
  silent: (bridge, { silent = true }) => {
    bridge.silent = silent;
    return {};
  },
  unplug: (bridge) => bridge.unplug().then(() => ({})),
  replug: (bridge) => bridge.replug().then(() => ({})),
  garbage: (bridge, { hex = "00" }) => {
    bridge.garbage(Buffer.from(hex, "hex"));
    return {};
  },
  boxes: ({ boxes }) => ({ boxes: boxes.map(({ mac, history }) => ({ mac, history })) }),
};

async function obey(bridge: BridgeSimulator, command: Command): Promise<Answer> {
  const toBridge = commands[command.do];
  if (toBridge !== undefined) return toBridge(bridge, command);
  const toBox = boxCommands[command.do];
  if (toBox === undefined) throw new RangeError(`no command ${command.do}`);
  const box = bridge.boxes.find(({ mac }) => mac === command.mac);
  if (box === undefined) throw new RangeError(`no box ${command.mac}`);
  toBox(box, command);
  return {};
}

const { line } = await simulatorOptions(help, {});
const bridge = await BridgeSimulator.listen(line);
await obeyLines<Command>({ simulator: bridge, obey: (command) => obey(bridge, command) });
