import { join } from "node:path";

/** Address of a sensor of the home, the first one 1. */
export function addressOf(sensor: number): string {
  return `00:0d:6f:00:05:a2:00:${sensor.toString(16).padStart(2, "0")}`;
}

export function nameOf(sensor: number): string {
  return `wirelesssensor-${addressOf(sensor).replaceAll(":", "")}`;
}

export interface Year {
  readonly sensors: number;
  /** Events in the year of the first sensor, and of each of the others. */
  readonly busiest: number;
  readonly each: number;
}

/** Has a year of a home written into a data directory, by a program of `with-source/pages/` in a process of its own. */
export async function makeYear(data: string, { sensors, busiest, each }: Year): Promise<void> {
  const program = join(import.meta.dir, "../with-source/pages/make-year.ts");
  const numbers = [sensors, busiest, each].map(String);
  const child = Bun.spawn([process.execPath, program, data, ...numbers], { stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error("the year could not be made");
}
