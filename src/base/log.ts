import pc from "picocolors";
import type { Clock } from "./clock.ts";
import { plainLine } from "./text.ts";

export type Level = "debug" | "info" | "warn" | "error";

/** Where every line for an operator goes. One call is one line; nothing is logged twice. */
export interface Log {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
  /** The same log with `name` before each message: `log.named("zigbee")`. */
  named(name: string): Log;
}

/**
 * A log on `write`, one plain line a call: time, level, names, message. Under systemd (`journal`) a line starts
 * with its priority instead, because the journal keeps the time itself; `colour` is for a terminal.
 */
export function lineLog(options: {
  write: (line: string) => void;
  clock: Clock;
  least?: Level;
  journal?: boolean;
  colour?: boolean;
  name?: string;
}): Log {
  const least = order.indexOf(options.least ?? "info");
  const colours = pc.createColors(options.colour ?? false);
  const paint: Record<Level, (text: string) => string> = {
    debug: colours.dim,
    info: colours.green,
    warn: colours.yellow,
    error: colours.red,
  };
  const put = (level: Level, message: string) => {
    if (order.indexOf(level) < least) return;
    const text = plainLine(`${options.name === undefined ? "" : `${options.name}: `}${message}`);
    if (options.journal) options.write(`<${priority[level]}>${text}\n`);
    else {
      const time = new Date(options.clock.now().unix_ms).toISOString();
      options.write(`${colours.dim(time)} ${paint[level](level.padEnd(5))} ${text}\n`);
    }
  };
  return {
    debug: (message) => put("debug", message),
    info: (message) => put("info", message),
    warn: (message) => put("warn", message),
    error: (message) => put("error", message),
    named: (name) =>
      lineLog({ ...options, name: options.name === undefined ? name : `${options.name} ${name}` }),
  };
}

const order: readonly Level[] = ["debug", "info", "warn", "error"];

/** Syslog priorities, as sd-daemon(3) has them. */
const priority: Record<Level, number> = { debug: 7, info: 6, warn: 4, error: 3 };
