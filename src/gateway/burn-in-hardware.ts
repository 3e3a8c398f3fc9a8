import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { factIn } from "../base/kernel-files.ts";
import { diskOf } from "../base/machine-health.ts";
import type { BurnInHardware } from "../domain/burn-in.ts";

/**
 * The parts of this machine, as they tell of themselves.
 *
 * @param options.directory one on the card
 * @param options.ports paths of the ports of drivers, of which only lasting names tell one stick from another
 */
export function hardwareOf(options: {
  readonly directory: string;
  readonly ports: readonly string[];
  readonly sys?: string;
  readonly proc?: string;
}): BurnInHardware {
  const { directory, ports, sys = "/sys", proc = "/proc" } = options;
  const disk = diskOf(directory, sys);
  const facts = disk === undefined ? [] : cardFacts.map((name) => factIn(join(disk, name)));
  const tree = join(proc, "device-tree");
  const machine = factIn(join(tree, "serial-number"));
  return {
    ...named("machine", machine),
    ...named(
      "card",
      facts.find((fact) => fact !== undefined && fact !== ""),
    ),
    sticks: ports.filter((port) => port.startsWith("/dev/serial/by-id/")).slice(0, 16),
    ...named("supply", supplyIn(tree)),
  };
}

/** Where the kernel tells which disk it is: of a memory card, then of others. */
const cardFacts = ["device/cid", "wwid", "device/wwid", "device/serial"];

function named<Name extends string>(name: Name, value: string | undefined): { [Key in Name]?: string } {
  const text = value?.replace(/\0/g, "").slice(0, 200);
  return (text === undefined || text === "" ? {} : { [name]: text }) as { [Key in Name]?: string };
}

/** Milliamperes that the firmware of a Raspberry Pi 5 takes from its supply: a big-endian number of four bytes. Source: raspberrypi.com, "Power supplies and Raspberry Pi OS". */
function supplyIn(tree: string): string | undefined {
  const file = join(tree, "chosen/power/max_current");
  if (!existsSync(file)) return undefined;
  const bytes = readFileSync(file);
  return bytes.length === 4 ? `${bytes.readUInt32BE()} mA` : undefined;
}
