import { readdirSync } from "node:fs";
import { type Adapter, kernelAdapters } from "../../drivers/ble/adapter.ts";
import { type Stick, stickNamed } from "../../drivers/wire/sticks.ts";

/** A serial port that is plugged in, or a Bluetooth adapter of the kernel. */
export interface Port {
  /** The path that stays the same wherever it is plugged in, or the adapter's name. */
  readonly path: string;
  /** Absent where nobody knows it. */
  readonly stick?: Stick;
  /** Absent where it is a serial port. */
  readonly adapter?: Adapter;
}

/** The Bluetooth adapters of the kernel. */
export function adapterPorts(adapters = kernelAdapters()): Port[] {
  return adapters.map((adapter) => ({
    path: adapter.name,
    stick: { title: adapter.title, driver: "ble" },
    adapter,
  }));
}

/** Serial ports with a lasting name, in its order. `directory` is where udev keeps those names. */
export function pluggedIn(directory = "/dev/serial/by-id"): Port[] {
  let names: string[];
  try {
    names = readdirSync(directory).sort();
  } catch {
    // Without a USB serial port there is no such directory.
    return [];
  }
  return names.map((name) => {
    const stick = stickNamed(name);
    return { path: `${directory}/${name}`, ...(stick === undefined ? {} : { stick }) };
  });
}

/** A port in words: its probable product, and its path. */
export function portText({ path, stick, adapter }: Port): string {
  if (adapter !== undefined)
    return `${path}: ${adapter.title}${adapter.off === undefined ? "" : `, which rfkill keeps off`}`;
  if (stick === undefined) return `${path}: not known here`;
  const kind = { zigbee: "a Zigbee adapter", ble: "a Bluetooth controller" };
  const use = stick.driver === undefined ? "" : `, ${kind[stick.driver]}`;
  return `${path}: probably a ${stick.title}${use}`;
}

/** Ports that a path with `*` in it names, as a shell would. */
export function portsLike(pattern: string, ports: readonly Port[]): Port[] {
  const like = new RegExp(`^${pattern.split("*").map(escaped).join(".*")}$`);
  return ports.filter(({ path }) => like.test(path));
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
