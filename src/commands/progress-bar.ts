import type { Terminal } from "./terminal.ts";

/**
 * A bar at the foot of a terminal, for work of which the extent is known; nothing in a pipe.
 *
 * @param total what counts as all of it
 */
export function progressBar(
  terminal: Terminal,
  total: number,
): { advance(count: number, now: string): void } {
  let done = 0;
  return {
    advance: (count, now) => {
      done += count;
      const share = total === 0 ? 1 : Math.min(1, done / total);
      const filled = Math.round(share * bar_columns);
      const bar = "█".repeat(filled) + "░".repeat(bar_columns - filled);
      terminal.progress(`${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${done} rows  ${now}`);
    },
  };
}

const bar_columns = 30;
