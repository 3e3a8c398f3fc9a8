import { randomBytes } from "node:crypto";
import { obeyLines, simulatorOptions } from "../../wire/simulated-process.ts";
import type { InterviewFault, SimulatedDevice } from "./device.ts";
import { isMake, listenAs, makes } from "./makes.ts";
import { Reports } from "./reports.ts";
import type { StickSimulator } from "./stick.ts";

/**
 * A simulated coordinator as a process of its own. Prints one JSON line when it is ready, `{"path":…}`, then
 * answers each command, one JSON object a line on stdin, with one JSON line: `{"ok":true,…}` or
 * `{"error":…}`. Ends when stdin does. `bun main.ts --help` lists the commands.
 */
const help = `bun main.ts [--adapter ${makes.join("|")}] [--transport tcp|pty] [--port 0] [--link PATH] [--state FILE] [--devices FILE]
  {"do":"add","model":"3041","ieee":"00:0d:…"}     put a sensor on the air; answers its address
      "identifier":"…","manufacturer":"…"          what it tells of itself
  {"do":"join","ieee":…}                           it asks to join; false while joining is closed
  {"do":"notify","ieee":…,"status":50,"delay":0}   Zone Status Change Notification
  {"do":"say","ieee":…,"what":"somebody"}          a message that the table of models has for it
  {"do":"alarm"|"restore"|"heartbeat"|"leave","ieee":…}
  {"do":"battery","ieee":…,"percent":80,"mv":2900}
  {"do":"update","ieee":…,"firmware":"2.0.0","datecode":"20240501"}   starts with other firmware
  {"do":"hang","ieee":…,"on":…,"quality":80}       hangs on that router, or on the stick, and is heard so well there
  {"do":"fail","ieee":…,"step":"nodeDescriptor"}   interviews fail there; without step, no longer
  {"do":"report","ieee":…,"every_ms":50}           notifies at that interval, the status counting up from 1; 0: no longer
  {"do":"closed"}                                  the host has gone: the next ping is the first word of another
  {"do":"interviews","ieee":…}                     answers how often a host has begun to interview it
  {"do":"reported"}                                answers the first report after that word, or null, and the last of all
  {"do":"network"}                                 it runs a network that some other host has set up
  {"do":"noise","channels":[11,…],"energy":200}    what it measures on these channels
  {"do":"unplug"} {"do":"replug"} {"do":"garbage","hex":"00ff"}
  {"do":"reset","ieee":…}                          a factory reset
  {"do":"joining"}                                 whether it lets anybody in
  {"do":"export"}                                  all that --state FILE takes up again, as JSON; --devices FILE
                                                   takes only its devices, those of a stick that was pulled out`;

interface Command {
  readonly do: string;
  readonly ieee?: string;
  readonly model?: string;
  readonly identifier?: string;
  readonly manufacturer?: string;
  readonly zone_type?: number;
  readonly status?: number;
  readonly delay?: number;
  readonly every_ms?: number;
  readonly what?: string;
  readonly percent?: number;
  readonly mv?: number;
  readonly step?: InterviewFault;
  readonly hex?: string;
  readonly firmware?: string;
  readonly datecode?: string;
  readonly on?: string;
  readonly quality?: number;
  readonly channels?: readonly number[];
  readonly energy?: number;
}

const reports = new Reports();

type Answer = Readonly<Record<string, unknown>>;

/** Commands to one device. */
const deviceCommands: Readonly<Record<string, (device: SimulatedDevice, command: Command) => Answer>> = {
  join: (device) => ({ joined: device.join() }),
  leave: (device) => ({ heard: device.leave() }),
  reset: (device) => {
    device.forget();
    return {};
  },
  notify: (device, { status = 0x30, delay = 0 }) => ({
    heard: device.notify(status, { delay_quarter_s: delay }),
  }),
  report: (device, { every_ms = 0 }) => {
    reports.every(device, every_ms);
    return {};
  },
  interviews: ({ interviews }) => ({ interviews }),
  say: (device, { what = "" }) => ({ heard: device.say(what) }),
  alarm: (device) => ({ heard: device.alarm() }),
  restore: (device) => ({ heard: device.restore() }),
  heartbeat: (device) => ({ heard: device.heartbeat() }),
  update: (device, { firmware = "2.0.0", datecode = "20240501" }) => ({
    heard: device.update(firmware, datecode),
  }),
  battery: (device, { percent = 100, mv }) => ({ heard: device.reportBattery(percent, mv) }),
  fail: (device, { step }) => {
    device.failInterview(step);
    return {};
  },
};

/** Commands to the coordinator. */
const commands: Readonly<
  Record<string, (stick: StickSimulator, command: Command) => Answer | Promise<Answer>>
> = {
  add: (stick, { model = "3041", ieee, identifier, manufacturer, zone_type }) => {
    const device = stick.addDevice({
      model,
      ...(ieee === undefined ? {} : { ieee }),
      ...(identifier === undefined ? {} : { identifier }),
      ...(manufacturer === undefined ? {} : { manufacturer }),
      ...(zone_type === undefined ? {} : { zone_type }),
    });
    return { ieee: device.ieee };
  },
  hang: (stick, { ieee, on, quality = 150 }) => {
    const device = deviceOf(stick, ieee);
    device.parent = on === undefined ? undefined : deviceOf(stick, on);
    device.linkquality = quality;
    return {};
  },
  unplug: (stick) => stick.unplug().then(() => ({})),
  replug: (stick) => stick.replug().then(() => ({})),
  garbage: (stick, { hex = "00" }) => {
    stick.garbage(Buffer.from(hex, "hex"));
    return {};
  },
  network: (stick) => {
    stick.runNetwork();
    return { pan_id: stick.network?.pan_id };
  },
  noise: (stick, { channels = [], energy = 0 }) => {
    for (const channel of channels) stick.energies[channel - 11] = energy;
    return {};
  },
  closed: () => {
    reports.hostClosed();
    return {};
  },
  reported: () => ({ first: reports.first, last: reports.last }),
  joining: (stick) => ({ open: stick.joiningOpen }),
  export: (stick) => ({ state: stick.export() }),
};

async function obey(stick: StickSimulator, command: Command): Promise<Answer> {
  const toCoordinator = commands[command.do];
  if (toCoordinator !== undefined) return toCoordinator(stick, command);
  const toDevice = deviceCommands[command.do];
  if (toDevice === undefined) throw new RangeError(`no command ${command.do}`);
  return toDevice(deviceOf(stick, command.ieee), command);
}

function deviceOf(stick: StickSimulator, ieee: string | undefined): SimulatedDevice {
  const device = stick.devices.findLast((one) => one.ieee === ieee);
  if (device === undefined) throw new RangeError(`no device ${ieee}`);
  return device;
}

const { line, own } = await simulatorOptions(help, {
  adapter: { type: "string", default: "zstack" },
  state: { type: "string" },
  devices: { type: "string" },
});
const { adapter = "" } = own;
if (!isMake(adapter)) throw new RangeError(`--adapter is one of ${makes.join(", ")}, not ${adapter}`);
const [saved, other] = await Promise.all(
  [own.state, own.devices].map((file) => (file === undefined ? undefined : Bun.file(file).json())),
);
const stick = await listenAs(adapter, {
  ...line,
  random: randomBytes,
  ...(saved === undefined ? {} : { saved }),
  ...(other === undefined ? {} : { devices: other.devices }),
});
stick.onHost = () => reports.hostSpoke();
await obeyLines<Command>({ simulator: stick, obey: (command) => obey(stick, command), also: { adapter } });
