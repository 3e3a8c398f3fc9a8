import { canceled } from "./errors.ts";

/** The pauses of one port, all of which end at once, as cancelled, when it closes. */
export class Waiting {
  readonly #waiting = new Map<ReturnType<typeof setTimeout>, (cancel: Error) => void>();

  pause(delay_ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(timer);
        resolve();
      }, delay_ms);
      this.#waiting.set(timer, reject);
    });
  }

  cancel(): void {
    for (const [timer, reject] of this.#waiting) {
      clearTimeout(timer);
      reject(canceled());
    }
    this.#waiting.clear();
  }
}
