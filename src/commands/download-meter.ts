import type { Progress } from "../download/download.ts";
import type { Terminal } from "./terminal.ts";

/** Shows how far a download is: at the foot of a terminal, and a line every few seconds in a pipe. */
export class DownloadMeter {
  readonly #terminal: Terminal;
  readonly #elapsed_ms: () => number;
  readonly #atTerminal: boolean;
  #shown_ms = 0;

  /**
   * @param options.elapsed_ms since the download began
   * @param options.atTerminal whether standard error is one
   */
  constructor(options: { terminal: Terminal; elapsed_ms: () => number; atTerminal: boolean }) {
    this.#terminal = options.terminal;
    this.#elapsed_ms = options.elapsed_ms;
    this.#atTerminal = options.atTerminal;
  }

  show({ done, total, received, now }: Progress): void {
    const elapsed_ms = this.#elapsed_ms();
    const rate = Math.round(received / Math.max(0.001, elapsed_ms / 1000));
    const line = `${done} of ${total} series of items, ${received} readings, ${rate} a second, ${now}`;
    if (this.#atTerminal) this.#terminal.progress(line);
    else if (elapsed_ms - this.#shown_ms >= line_interval_ms) {
      this.#shown_ms = elapsed_ms;
      this.#terminal.say(line);
    }
  }
}

const line_interval_ms = 5_000;
