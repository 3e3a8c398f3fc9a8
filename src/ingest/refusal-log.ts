import type { Clock } from "../clock.ts";
import { OperatorError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { IntakeFault } from "./validity.ts";

/**
 * Logs refused readings, and answers each fault as an error: a line at once the first time, then at most one a minute for
 * each name. Names are of a fixed few.
 */
export function refusalLog({ clock, log }: { clock: Clock; log: Log }) {
  const said = new Map<string, { at_ms: number; since: number }>();
  return ({ name, detail }: IntakeFault, remedy: string): OperatorError => {
    const error = new OperatorError(`${name}: ${detail}`, remedy);
    const { monotonic_ms: at_ms } = clock.now();
    const last = said.get(name);
    if (last !== undefined && at_ms - last.at_ms < line_interval_ms) {
      last.since += 1;
      return error;
    }
    const more =
      last === undefined || last.since === 0 ? "" : ` (and ${last.since} more since the last line)`;
    said.set(name, { at_ms, since: 0 });
    log.warn(`${error.message}${more}`);
    return error;
  };
}

const line_interval_ms = 60_000;
