import { readdirSync, readFileSync } from "node:fs";

/** The processes of a program that answer SQL over its mirror. */
export function sqlWorkersOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const isChild = new RegExp(`^PPid:\\s*${parent}$`, "m").test(
          readFileSync(`/proc/${pid}/status`, "utf8"),
        );
        return isChild && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("sql-worker");
      } catch {
        return false;
      }
    });
}
