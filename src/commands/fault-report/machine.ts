import { readdirSync, readFileSync, statfsSync } from "node:fs";
import { arch, freemem, loadavg, release, totalmem, uptime } from "node:os";
import { basename } from "node:path";
import type { Clock } from "../../clock.ts";
import { machineHealth } from "../../machine-health.ts";
import { machineTimezone } from "../../timezone.ts";
import { pluggedIn } from "../setup/ports.ts";

/** The machine as every other of its kind is: nothing of it tells whose it is. */
export function machineFacts(directory: string) {
  return {
    model: textOf("/proc/device-tree/model")?.replaceAll("\0", "") ?? null,
    architecture: arch(),
    kernel: release(),
    system: /^PRETTY_NAME="?([^"\n]*)/m.exec(textOf("/etc/os-release") ?? "")?.[1] ?? null,
    bun: Bun.version,
    uptime_s: Math.round(uptime()),
    load: loadavg(),
    memory_bytes: { total: totalmem(), free: freemem() },
    disk: diskFacts(directory),
    health: machineHealth(directory),
  };
}

/** Serial ports by their kind, without what their names tell besides. */
export function sticks() {
  return {
    by_id: pluggedIn().map(({ stick }) => stick ?? "not known here"),
    devices: entries("/dev").filter((name) => /^tty(ACM|USB|AMA)\d+$/.test(name)),
    usb: entries("/sys/bus/usb/devices").flatMap((name) => {
      const id = (file: string) => textOf(`/sys/bus/usb/devices/${name}/${file}`)?.trim();
      const [vendor, product] = [id("idVendor"), id("idProduct")];
      return vendor === undefined || product === undefined ? [] : [`${vendor}:${product}`];
    }),
  };
}

/** The clock, and how far the time of its place is from GMT in winter and in summer; which place that is stays out. */
export function clockFacts(clock: Clock) {
  const { unix_ms, monotonic_ms, quality } = clock.now();
  const timeZone = machineTimezone();
  const offset_minutes = [0, 6].map((month) => {
    const at = new Date(Date.UTC(new Date(unix_ms).getUTCFullYear(), month, 15));
    const there = new Date(at.toLocaleString("en-US", { timeZone }));
    return Math.round(
      (there.getTime() - new Date(at.toLocaleString("en-US", { timeZone: "UTC" })).getTime()) / 60_000,
    );
  });
  return { unix_ms, monotonic_ms, quality, cautions: clock.cautions?.() ?? [], offset_minutes };
}

function diskFacts(directory: string) {
  const { bsize, blocks, bavail, files, ffree, type } = statfsSync(directory);
  return { bytes: bsize * blocks, free_bytes: bsize * bavail, inodes: files, free_inodes: ffree, type };
}

/** Names and sizes of the program's own files in the data directory. */
export function dataFiles(directory: string) {
  return entries(directory)
    .filter((name) => /^(lintel\.db(-wal|-shm)?|control\.sock|tls.*|drivers)$/.test(name))
    .map((name) => basename(name));
}

function entries(directory: string): string[] {
  try {
    return readdirSync(directory).sort().slice(0, entries_max);
  } catch {
    return [];
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

const entries_max = 1_000;
