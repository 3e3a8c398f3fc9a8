import type { Clock } from "../clock.ts";
import { OperatorError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Fault } from "./validity.ts";

/** Logs refused readings: at once the first time, then at most one line a minute for each name. */
export class RefusalLog {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #said = new Map<string, { at_ms: number; since: number }>();

  constructor(options: { clock: Clock; log: Log }) {
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Logs the fault unless its name was logged lately, and answers it as an error. `name` is one of a fixed few. */
  say({ name, detail }: Fault, remedy: string): OperatorError {
    const error = new OperatorError(`${name}: ${detail}`, remedy);
    const { monotonic_ms } = this.#clock.now();
    const said = this.#said.get(name);
    if (said !== undefined && monotonic_ms - said.at_ms < line_interval_ms) {
      said.since += 1;
      return error;
    }
    const more =
      said === undefined || said.since === 0 ? "" : ` (and ${said.since} more since the last line)`;
    this.#said.set(name, { at_ms: monotonic_ms, since: 0 });
    this.#log.warn(`${error.message}${more}`);
    return error;
  }
}

const line_interval_ms = 60_000;
