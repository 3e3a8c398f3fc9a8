import type { Box } from "./box.ts";
import type { SimulatedStick } from "./stick.ts";

/** The box, what is plugged into it, and what the steps before have left. */
export interface Trial {
  readonly box: Box;
  /** A box with the central server. It hears under localhost too: both have one network. */
  readonly central: Box;
  readonly stick: SimulatedStick;
  /** A read token of the gateway; empty until one is made. */
  token: string;
  /** A read token of central. */
  atCentral: string;
  /** The item that the sensor became. */
  item: string;
  /** Events that the sensor has sent while the stick's port was open. */
  events: number;
}

const started_ms = performance.now();
let held = 0;

/** Tries one thing: prints it with its time, and with what was seen. What throws ends the trial. */
export async function step(name: string, attempt: () => Promise<string | undefined>): Promise<void> {
  const from_ms = performance.now();
  const seen = await attempt();
  held += 1;
  const took_s = ((performance.now() - from_ms) / 1000).toFixed(1);
  const at_s = ((performance.now() - started_ms) / 1000).toFixed(0);
  console.log(`${at_s.padStart(4)} s  ${name}: ${seen || "yes"} (${took_s} s)`);
}

/** Steps that were tried and held. */
export function stepsHeld(): number {
  return held;
}

/** Throws, saying what was expected, where it is not so. */
export function expect(holds: boolean, expected: string, seen = ""): asserts holds {
  if (!holds) throw new Error(`expected ${expected}${seen === "" ? "" : `; seen:\n${seen.trim()}`}`);
}
