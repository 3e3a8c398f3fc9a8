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
      const words = `${String(Math.floor(share * 100)).padStart(3)} %  ${done} readings  ${now}`;
      // On a narrow terminal the words come first.
      const left = terminal.columns - words.length - 1;
      const columns = Math.min(bar_columns_max, Math.max(bar_columns_min, left));
      const filled = Math.round(share * columns);
      terminal.progress(`${"█".repeat(filled)}${"░".repeat(columns - filled)} ${words}`);
    },
  };
}

const bar_columns_min = 5;
const bar_columns_max = 30;
