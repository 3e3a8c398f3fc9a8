import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { UploadProgress } from "../sync/upload/upload.ts";
import { progressBar } from "./progress-bar.ts";
import { spanText } from "./spans.ts";
import type { Terminal } from "./terminal.ts";

/** Shows how far an upload is: a bar at the foot of a terminal, a line of the log now and then elsewhere. */
export class UploadMeter {
  readonly #terminal: Terminal;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #atTerminal: boolean;
  readonly #started_ms: number;
  #said_ms: number;
  #bar: ReturnType<typeof progressBar> | undefined;
  #shown = 0;

  /** @param options.atTerminal whether standard error is one that redraws */
  constructor(options: { terminal: Terminal; clock: Clock; log: Log; atTerminal: boolean }) {
    this.#terminal = options.terminal;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#atTerminal = options.atTerminal;
    this.#started_ms = this.#clock.now().monotonic_ms;
    this.#said_ms = this.#started_ms;
  }

  show({ sent, total, now }: UploadProgress): void {
    const now_ms = this.#clock.now().monotonic_ms;
    const elapsed_ms = now_ms - this.#started_ms;
    const per_s = (sent * 1000) / Math.max(1, elapsed_ms);
    const left = sent === 0 || sent >= total ? "" : `, ${spanText(((total - sent) * 1000) / per_s)} left`;
    const pace = now === "sending" ? `${Math.round(per_s)} readings a second${left}` : now;
    if (this.#atTerminal) {
      this.#bar ??= progressBar(this.#terminal, total);
      this.#bar.advance(sent - this.#shown, pace);
      this.#shown = sent;
    } else if (now_ms - this.#said_ms >= line_interval_ms) {
      this.#said_ms = now_ms;
      this.#log.info(now === "sending" ? `sent ${sent} of ${total} readings, ${pace}` : now);
    }
  }
}

const line_interval_ms = 30_000;
