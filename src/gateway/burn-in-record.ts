import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readPlainFile } from "../base/disk/safe-files.ts";
import { factIn } from "../base/kernel-files.ts";
import { diskOf } from "../base/machine-health.ts";
import { type BurnInHardware, type BurnInReport, checksWith, type SignedBurnIn } from "../domain/burn-in.ts";
import { burnInFile, burnInInFile } from "../domain/burn-in-file.ts";

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

/** The signed record in a data directory; undefined where there is none, or it was changed since. */
export function burnInRecordIn(directory: string): SignedBurnIn | undefined {
  const text = readPlainFile(join(directory, burnInFile), record_bytes_max);
  return text === undefined ? undefined : burnInInFile(new TextEncoder().encode(text));
}

const record_bytes_max = 64 * 1024;

/** The record of a data directory, with the parts of this machine that are others than they were at it, in words. */
export function keptBurnIn(
  directory: string,
): { readonly record: SignedBurnIn; readonly changed: string[] } | undefined {
  const record = burnInRecordIn(directory);
  if (record === undefined) return undefined;
  const { hardware } = record.signed;
  return { record, changed: changedParts(hardware, hardwareOf({ directory, ports: hardware.sticks })) };
}

/** The part of a gateway's report about its burn-in; undefined where it has no record. */
export function burnInReportOf(directory: string): BurnInReport | undefined {
  const kept = keptBurnIn(directory);
  if (kept === undefined) return undefined;
  const { ended_ms, results } = kept.record.signed;
  const [failed, skipped] = [checksWith("failed", results), checksWith("skipped", results)];
  return { ended_ms, failed, skipped, changed: kept.changed };
}

/** Where the kernel tells which disk it is: of a memory card, then of others. */
const cardFacts = ["device/cid", "wwid", "device/wwid", "device/serial"];

/** Parts that are others than they were, in words: empty where all are the same, or nothing tells. */
function changedParts(then: BurnInHardware, now: BurnInHardware): string[] {
  const differs = (part: "card" | "supply" | "machine") =>
    then[part] !== undefined && then[part] !== now[part];
  return [
    ...(differs("machine") ? ["computer"] : []),
    ...(differs("card") ? ["card"] : []),
    ...(then.sticks.every((path) => existsSync(path)) ? [] : ["stick"]),
    ...(differs("supply") ? ["power supply"] : []),
  ];
}

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
