import { readdirSync } from "node:fs";
import { type Stick, stickNamed } from "../../drivers/wire/sticks.ts";

/** A serial port that is plugged in. */
export interface Port {
  /** The path that stays the same wherever it is plugged in. */
  readonly path: string;
  /** Absent where nobody knows it. */
  readonly stick?: Stick;
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
export function portText({ path, stick }: Port): string {
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
