import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { connect } from "node:net";
import { adapterFault, adapterNumber } from "../../../drivers/ble/adapter.ts";
import type { Clock } from "../../base/clock.ts";
import { adapterPorts, portText } from "../serial-ports.ts";
import { spanText } from "../terminal-text.ts";
import { type CheckResult, type Finding, fault, fine, note, type Surroundings } from "./finding.ts";

/** Drivers are configured, and where a gateway runs they listen. */
export function checkDrivers({ config, running, clock }: Surroundings): CheckResult {
  if (config?.drivers.size === 0)
    return note(
      "no driver is configured: nothing will be heard; sudo lintel setup asks for them, or add a section such as [zigbee]",
    );
  if (running === undefined) return [];
  const now_ms = clock.now().unix_ms;
  const unknown = [...(config?.drivers.keys() ?? [])].filter((name) => driverOf(running, name) === undefined);
  return [
    ...running.drivers.map(({ name, state, since_ms, problem }) => {
      const how = `[${name}] ${state} for ${spanText(now_ms - since_ms)} in the running gateway`;
      if (problem !== undefined) return fault(`${how}: ${problem}`, "correct that; it tries again by itself");
      return state === "listening" ? fine(how) : note(how);
    }),
    ...unknown.map((name) =>
      fault(
        `[${name}] is not what the gateway was started with`,
        "restart it: sudo systemctl restart lintel",
      ),
    ),
  ];
}

function driverOf(running: Surroundings["running"], name: string) {
  return running?.drivers.find((one) => one.name === name);
}

/**
 * Every `port` of a driver's section leads to something that this user may open and nobody else holds. Where the gateway runs,
 * only a fault of a port whose driver has a problem is reported.
 */
export async function checkPorts({ config, running, clock }: Surroundings): Promise<CheckResult> {
  const findings: Finding[] = [];
  for (const [name, section] of config?.drivers ?? []) {
    const { port } = section as { port?: unknown };
    const driver = driverOf(running, name);
    if (typeof port !== "string" || (driver !== undefined && driver.problem === undefined)) continue;
    const finding = port.startsWith("tcp://")
      ? await checkAddress(name, port, clock)
      : name === "ble" && adapterNumber(port) !== undefined
        ? checkAdapter(port)
        : checkDevice(name, port, running?.pid);
    if (driver === undefined || finding.state === "fault") findings.push(finding);
  }
  return findings;
}

async function checkAddress(name: string, port: string, clock: Clock): Promise<Finding> {
  if (await takesConnections(port, clock)) return fine(`[${name}] ${port} takes connections`);
  return fault(
    `[${name}] ${port} takes no connections`,
    "check the address, and that ser2net or the adapter runs",
  );
}

/** Bluetooth adapters that the kernel has and Lintel does not use. */
export function checkAdapters({ config }: Surroundings): CheckResult {
  const { port: used } = (config?.drivers.get("ble") ?? {}) as { port?: unknown };
  return adapterPorts()
    .filter(({ path }) => path !== used)
    .map((port) => note(`${portText(port)}: not used; with port = "${port.path}" in [ble] it is`));
}

/** An adapter of the kernel can be opened by the gateway alone, so only what /sys says is checked. */
function checkAdapter(port: string): Finding {
  const ports = adapterPorts();
  const found = ports.find(({ path }) => path === port)?.adapter;
  if (found === undefined) {
    const seen = ports.length === 0 ? "the kernel has no Bluetooth adapter" : ports.map(portText).join("; ");
    return fault(`[ble] there is no ${port}`, `plug it in, or set port to what is there (${seen})`);
  }
  const { title, off, connections } = found;
  const code = off === undefined ? (connections > 0 ? "connected" : undefined) : "ERFKILL";
  if (code === undefined) return fine(`[ble] ${port} is there: ${title}`);
  const { what, remedy } = adapterFault(port, code);
  return fault(`[ble] ${what}`, remedy);
}

function checkDevice(name: string, port: string, gateway: number | undefined): Finding {
  if (!existsSync(port)) {
    const candidates = serialPorts();
    const seen =
      candidates.length === 0 ? "no serial port is plugged in" : `plugged in: ${candidates.join(", ")}`;
    return fault(
      `[${name}] there is no ${port}`,
      `plug the adapter in, or set port to what is there (${seen})`,
    );
  }
  if (!statSync(port).isCharacterDevice()) {
    return fault(
      `[${name}] ${port} is not a serial port`,
      `set port to one of ${serialPorts().join(", ") || "/dev/serial/by-id/…"}`,
    );
  }
  try {
    accessSync(port, constants.R_OK | constants.W_OK);
  } catch {
    return fault(
      `[${name}] this user may not open ${port}`,
      "add the gateway's user to the group dialout (sudo usermod -aG dialout lintel) and restart it",
    );
  }
  const holder = holderOf(port);
  if (holder !== undefined && holder.pid !== gateway) {
    return fault(`[${name}] ${port} is held by ${holder.name} (process ${holder.pid})`, "stop that program");
  }
  return fine(`[${name}] ${port} can be opened`);
}

/** GPIO pins are there and may be used, where the configuration has any, and by which way: as the driver chooses it. */
export function checkPins({ config, running }: Surroundings): CheckResult {
  if (!config?.drivers.has("gpio")) return [];
  const driver = driverOf(running, "gpio");
  if (driver?.state === "listening") return fine(`[gpio] ${driver.detail}`);
  const devices = readdirSync("/dev").filter((name) => /^gpiochip\d+$/.test(name));
  const ways: readonly (readonly [files: readonly string[], way: string])[] = [
    [["/sys/class/gpio/export"].filter(existsSync), "by sysfs"],
    [devices.map((name) => `/dev/${name}`), "by the kernel's character device"],
  ];
  if (ways.every(([files]) => files.length === 0))
    return fault("[gpio] this machine has no GPIO pins", "take [gpio] out of the configuration");
  const usable = ways.find(([files]) => files.some(mayBeWritten));
  if (usable === undefined) {
    return fault(
      "[gpio] this user may not use the pins",
      "add the gateway's user to the group gpio (sudo usermod -aG gpio lintel) and restart it",
    );
  }
  return running === undefined ? fine(`[gpio] pins can be used, ${usable[1]}`) : [];
}

function mayBeWritten(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Serial ports that are plugged in, by names that stay the same wherever they are plugged. */
function serialPorts(): string[] {
  const directory = "/dev/serial/by-id";
  if (existsSync(directory)) return readdirSync(directory).map((entry) => `${directory}/${entry}`);
  return readdirSync("/dev")
    .filter((entry) => /^tty(ACM|USB|AMA)\d+$/.test(entry))
    .map((entry) => `/dev/${entry}`);
}

/** The process that has a device open, as far as this user may see; a user sees only their own. */
function holderOf(port: string): { pid: number; name: string } | undefined {
  const device = realpathSync(port);
  for (const entry of readdirSync("/proc")) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      const open = readdirSync(`/proc/${pid}/fd`).some(
        (fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === device,
      );
      if (open) return { pid, name: readFileSync(`/proc/${pid}/comm`, "utf8").trim() };
    } catch (error) {
      // Another user's process, or one that has just ended: it cannot be looked into.
      if (!["EACCES", "EPERM", "ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? ""))
        throw error;
    }
  }
  return undefined;
}

/** Whether something answers at an address: `tcp://host:port`, or that of a web server. */
export async function takesConnections(address: string, clock: Clock): Promise<boolean> {
  const { protocol, hostname, port } = new URL(address.replace(/^tcp:/, "http:"));
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port || (protocol === "https:" ? 443 : 80)),
  });
  const cancel = clock.after(connect_max_ms, () => resolve(false));
  socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  const reached = await promise;
  cancel();
  socket.destroy();
  return reached;
}

/** Nothing on a home's network takes longer to answer. */
const connect_max_ms = 3_000;
