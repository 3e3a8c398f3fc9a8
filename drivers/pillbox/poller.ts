import { messageOf, OperatorError } from "../../src/base/errors.ts";
import type { Host } from "../driver.ts";
import { Box } from "./box.ts";
import type { Bridge } from "./bridge.ts";
import { payload_max_bytes, requestType } from "./protocol.ts";

/** The bridge is asked so often which boxes it has. */
const list_interval_ms = 15 * 60_000;
/** As many as a list can name. */
const boxes_max = Math.floor((payload_max_bytes - 3) / 7);
/** The loop looks at the clock at least this often. */
const sleep_most_ms = 600_000;

/** Asks the boxes of a bridge, one thing at a time, each when it is due. */
export class Poller {
  readonly #host: Host;
  readonly #bridge: Bridge;
  readonly #boxes = new Map<string, Box>();
  #listDue_ms = -Infinity;

  constructor(options: { host: Host; bridge: Bridge }) {
    this.#host = options.host;
    this.#bridge = options.bridge;
  }

  get count(): number {
    return this.#boxes.size;
  }

  /** A box whose radio window is open, or is about to: in the next one it may be a day later. */
  get inWindow(): Box | undefined {
    const now_ms = this.#host.clock.now().unix_ms;
    return [...this.#boxes.values()].find((box) => box.inWindow(now_ms));
  }

  /** Asks the bridge for its boxes. Rejects with Unanswered when it says nothing. */
  async list(signal: AbortSignal): Promise<void> {
    const { reply, moment } = await this.#bridge.ask("list", { type: requestType.list }, signal);
    this.#listDue_ms = moment.monotonic_ms + list_interval_ms;
    for (const { mac } of reply.boxes) {
      if (this.#boxes.has(mac) || this.#boxes.size >= boxes_max) continue;
      this.#boxes.set(mac, await Box.open({ mac, host: this.#host, bridge: this.#bridge }));
      this.#host.log.info(`pill box ${mac} is in reach of the bridge`);
    }
  }

  /** Polls until `signal` is raised, or until the bridge falls silent: resolves with the reason then. */
  async run(signal: AbortSignal): Promise<OperatorError> {
    try {
      for (;;) {
        signal.throwIfAborted();
        await this.#next(signal);
      }
    } catch (thrown) {
      if (thrown instanceof OperatorError) return thrown;
      return new OperatorError(
        `polling of pill boxes ended: ${messageOf(thrown)}`,
        "it is tried again by itself",
      );
    }
  }

  async #next(signal: AbortSignal): Promise<void> {
    const now_ms = this.#host.clock.now().monotonic_ms;
    if (now_ms >= this.#listDue_ms) return this.list(signal);
    const box = [...this.#boxes.values()].reduce<Box | undefined>(
      (first, one) => (first === undefined || one.due_ms < first.due_ms ? one : first),
      undefined,
    );
    const due_ms = Math.min(box?.due_ms ?? Infinity, this.#listDue_ms);
    if (due_ms > now_ms) return this.#sleep(Math.min(due_ms - now_ms, sleep_most_ms), signal);
    // Whether it is the box that is silent, or the bridge, the next list shows.
    if (box !== undefined && !(await box.poll(signal))) this.#listDue_ms = now_ms;
  }

  #sleep(delay_ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const cancel = this.#host.clock.after(delay_ms, wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }
}
