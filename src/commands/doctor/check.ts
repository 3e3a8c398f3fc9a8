import type { Clock } from "../../clock.ts";
import type { Config } from "../../config/config.ts";
import type { GatewayStatus } from "../../control/status.ts";

/** What one check found. */
export interface Finding {
  /** `fine`; `fault`: something does not work; `note`: nothing to check here, or nothing that needs mending. */
  readonly state: "fine" | "fault" | "note";
  /** What was looked at and what was found. */
  readonly text: string;
  /** What to do, for a fault. */
  readonly remedy?: string;
}

/** What the checks know when they begin. */
export interface Surroundings {
  readonly clock: Clock;
  readonly directory: string;
  /** Absent where only a data directory was named, or the configuration cannot be read. */
  readonly config?: Config;
  /** What the running gateway says of itself; absent where none runs. */
  readonly running?: GatewayStatus;
}

export function fine(text: string): Finding {
  return { state: "fine", text };
}

export function note(text: string): Finding {
  return { state: "note", text };
}

export function fault(text: string, remedy: string): Finding {
  return { state: "fault", text, remedy };
}
