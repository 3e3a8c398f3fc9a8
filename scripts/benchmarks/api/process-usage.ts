import { readdirSync, readFileSync } from "node:fs";

/** Megabytes resident of a process, now. */
export function residentOf(pid: number): number {
  return megabytes(pid, "VmRSS");
}

/** The most megabytes that a process has had resident. */
export function peakOf(pid: number): number {
  return megabytes(pid, "VmHWM");
}

/** Seconds of processor that a process and its children have taken, those that have ended among them. */
export function processorOf(pid: number): number {
  const parents = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const child = Number(name);
    const parent = Number.isInteger(child) ? parentOf(child) : Number.NaN;
    if (!Number.isNaN(parent)) parents.set(parent, [...(parents.get(parent) ?? []), child]);
  }
  const family = [pid];
  for (const one of family) family.push(...(parents.get(one) ?? []));
  const ticks = family.flatMap((one) => statOf(one).slice(11, 15).map(Number));
  return ticks.reduce((total, tick) => total + tick, 0) / ticks_per_s;
}

/** The process that started this one. */
export function parentOf(pid: number): number {
  return Number(statOf(pid)[1]);
}

/** The fields of a process after its name: its state, its parent …; none where it has ended. */
function statOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  } catch {
    return [];
  }
}

function megabytes(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1000;
}

/** Of Linux, wherever Bun runs. */
const ticks_per_s = 100;
