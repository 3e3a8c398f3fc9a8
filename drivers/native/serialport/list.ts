import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { PortInfo } from "./interface.ts";

/**
 * The serial ports of this machine, from the kernel's own tables. `path` is the device itself; its lasting
 * name, where udev gives one, is `/dev/serial/by-id/` and `pnpId`. USB numbers are four hexadecimal digits.
 * `sys` and `dev` are where those file systems are mounted.
 */
export function listPorts({ sys = "/sys", dev = "/dev" } = {}): PortInfo[] {
  const byId = linksBelow(join(dev, "serial/by-id"));
  const byPath = linksBelow(join(dev, "serial/by-path"));
  return names(join(sys, "class/tty"))
    .filter((name) => serialNames.test(name) && hasHardware(join(sys, "class/tty", name)))
    .sort()
    .map((name) => ({
      path: join(dev, name),
      ...usbDevice(join(sys, "class/tty", name, "device")),
      pnpId: byId.get(name),
      locationId: byPath.get(name),
    }));
}

const serialNames = /^(tty(S|WCH|ACM|USB|AMA|MFD|O|XRUSB|AP|GS|SC|mxc)|rfcomm)[0-9A-Za-z]*$/;

/** A PC announces more UARTs than it has; type 0 is one that isn't there. */
function hasHardware(directory: string): boolean {
  return exists(join(directory, "device")) && text(join(directory, "type")) !== "0";
}

function usbDevice(device: string): Omit<PortInfo, "path" | "pnpId" | "locationId"> {
  const directory = usbDirectory(device);
  const attribute = (name: string) => (directory === undefined ? undefined : text(join(directory, name)));
  return {
    manufacturer: attribute("manufacturer"),
    serialNumber: attribute("serial"),
    vendorId: attribute("idVendor"),
    productId: attribute("idProduct"),
  };
}

/** The USB device is a few levels above the interface that the port belongs to. */
function usbDirectory(device: string): string | undefined {
  const levels_max = 5;
  let directory = resolved(device);
  for (let level = 0; level < levels_max && directory !== undefined; level++) {
    if (exists(join(directory, "idVendor"))) return directory;
    directory = dirname(directory);
  }
  return undefined;
}

/** The links of a directory, by the name of the device that they lead to. */
function linksBelow(directory: string): Map<string, string> {
  return new Map(
    names(directory)
      .sort()
      .flatMap((name) => {
        const target = link(join(directory, name));
        return target === undefined ? [] : [[basename(target), name] as const];
      }),
  );
}

const exists = (path: string) => resolved(path) !== undefined;
const names = (path: string) => attempt(() => readdirSync(path)) ?? [];
const link = (path: string) => attempt(() => readlinkSync(path));
const resolved = (path: string) => attempt(() => realpathSync(path));
const text = (path: string) => attempt(() => readFileSync(path, "utf8").trim()) || undefined;

/** A port may be unplugged while it is examined: one that can't be read counts as absent. */
function attempt<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
