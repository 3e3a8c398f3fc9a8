import { readFileSync } from "node:fs";

/** Megabytes resident of a process, now. */
export function residentOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1000;
}
