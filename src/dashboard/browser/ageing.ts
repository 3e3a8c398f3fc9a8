/** The data of a page, with the moment that it was found, unix milliseconds, by the clock of the server. */
export interface DatedData {
  readonly now_ms: number;
}

/** Shows a page again each minute while nothing new comes, with the time as it is by then: "now" becomes "5 minutes ago". */
export class Ageing {
  readonly #show: (shown: DatedData) => void;
  #shown: DatedData;
  /** When that came, on the clock of the browser that never jumps. */
  #came_ms = performance.now();

  constructor({ show, first }: { show: (shown: DatedData) => void; first: DatedData }) {
    this.#show = show;
    this.#shown = first;
    setInterval(() => this.#age(), minute_ms);
  }

  show(shown: DatedData): void {
    [this.#shown, this.#came_ms] = [shown, performance.now()];
    this.#show(shown);
  }

  #age(): void {
    const passed_ms = performance.now() - this.#came_ms;
    this.#show({ ...this.#shown, now_ms: this.#shown.now_ms + passed_ms });
  }
}

const minute_ms = 60_000;
