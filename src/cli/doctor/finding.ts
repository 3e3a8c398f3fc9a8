import type { Clock } from "../../base/clock.ts";
import { type Log, lineLog } from "../../base/log.ts";
import type { Config } from "../../config/gateway-config.ts";
import type { GatewayStatus } from "../../gateway/gateway-status.ts";

/** The result of one check. */
export interface Finding {
  /** `fine`; `fault`: something does not work; `note`: nothing to check here, or nothing that needs correcting. */
  readonly state: "fine" | "fault" | "note";
  /** The thing that was checked, and the result. */
  readonly text: string;
  /** The remedy of a fault. */
  readonly remedy?: string;
}

/** The findings of one check; a check that throws an OperatorError has found a fault. */
export type CheckResult = Finding | readonly Finding[];

/** The input of all checks. */
export interface Surroundings {
  readonly clock: Clock;
  readonly directory: string;
  /** Absent where only a data directory was named, or the configuration cannot be read. */
  readonly config?: Config;
  /** Status of the running gateway; absent where none runs. */
  readonly running?: GatewayStatus;
}

/** For stores that are opened to check them: the checks themselves report faults. */
export function silentLog(clock: Clock): Log {
  return lineLog({ write: () => {}, clock });
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
