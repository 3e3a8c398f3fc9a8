import type { Clock } from "../../src/base/clock.ts";
import { messageOf, OperatorError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";
import type { DriverStatus } from "../driver.ts";

/** A connection at work. */
export interface Session {
  /** One line that describes the device at the other end, for `status()`. */
  readonly detail: string;
  /** Resolves with the reason when the connection ends by itself, and never rejects. */
  readonly ended: Promise<OperatorError>;
  /** Closes whatever is open. Is called once, also after `ended`. */
  close(): Promise<void>;
}

export interface RetryBounds {
  /** The first wait after a failure; each further one is twice as long … */
  readonly least_ms: number;
  /** … up to this. A connection that lasted longer than this starts over from `least_ms`. */
  readonly most_ms: number;
  /** An attempt to open that takes longer is abandoned. */
  readonly open_max_ms: number;
  /** Closing that takes longer is abandoned … */
  readonly close_max_ms: number;
  /** … and so is stopping, which may have to wait for an opening and a closing. */
  readonly stop_max_ms: number;
}

export const retryBounds: RetryBounds = {
  least_ms: 1_000,
  most_ms: 30_000,
  open_max_ms: 120_000,
  close_max_ms: 4_000,
  stop_max_ms: 4_500,
};

/**
 * Keeps one connection open for as long as a driver runs: opens it, waits for its end, and opens it again
 * for ever, waiting longer after each failure. A failure is one line in the log, and is said again only when
 * it becomes another failure; the recovery is one line too.
 *
 * `open` gets a signal that is raised when it is to give up: it must then release its resources and reject.
 * It should reject with an OperatorError; anything else is shown as it is.
 */
export class Reconnect {
  readonly #options: {
    clock: Clock;
    log: Log;
    /** Name of the device, for the log and until a session says more: `zstack adapter on /dev/…`. */
    target: string;
    open: (signal: AbortSignal) => Promise<Session>;
    /** The error for no answer within `open_max_ms`. */
    silent: OperatorError;
    bounds: RetryBounds;
  };
  #status: DriverStatus;
  #stop: AbortController | undefined;
  #running: Promise<void> = Promise.resolve();
  #failures = 0;
  #again = false;
  #endWait = () => {};

  constructor(options: {
    clock: Clock;
    log: Log;
    target: string;
    open: (signal: AbortSignal) => Promise<Session>;
    silent: OperatorError;
    bounds?: Partial<RetryBounds>;
  }) {
    this.#options = { ...options, bounds: { ...retryBounds, ...options.bounds } };
    this.#status = this.#stateOf("stopped", options.target);
  }

  status(): DriverStatus {
    return this.#status;
  }

  start(): void {
    if (this.#stop !== undefined) return;
    this.#stop = new AbortController();
    this.#status = this.#stateOf("starting", this.#options.target);
    this.#running = this.#run(this.#stop.signal);
  }

  /** Tries again at once, or right after a try that is under way, without a wait; nothing happens while all is well. */
  retry(): void {
    if (this.#status.state !== "retrying") return;
    this.#status = this.#stateOf("starting", this.#options.target);
    this.#again = true;
    this.#endWait();
  }

  /** Resolves when all is closed, or has been given up after `stop_max_ms`. */
  async stop(): Promise<void> {
    this.#stop?.abort();
    await this.#bounded(this.#running, this.#options.bounds.stop_max_ms);
    this.#stop = undefined;
    this.#status = this.#stateOf("stopped", this.#options.target);
  }

  async #run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const opened = await this.#open(stop);
      if (stop.aborted) {
        if (!(opened instanceof OperatorError)) await this.#close(opened);
        return;
      }
      const reason = opened instanceof OperatorError ? opened : await this.#listen(opened, stop);
      if (reason === undefined || stop.aborted) return;
      await this.#waitAfter(reason, stop);
    }
  }

  /** Holds a session until it ends. Undefined when it was ended by `stop`. */
  async #listen(session: Session, stop: AbortSignal): Promise<OperatorError | undefined> {
    const { clock, log, bounds } = this.#options;
    const began = clock.now();
    this.#again = false;
    if (this.#failures > 0) log.info(`${session.detail}: works again`);
    else log.info(session.detail);
    this.#status = { state: "listening", since_ms: began.unix_ms, detail: session.detail };
    const reason = await untilRaised(session.ended, stop);
    await this.#close(session);
    if (clock.now().monotonic_ms - began.monotonic_ms > bounds.most_ms) this.#failures = 0;
    return reason;
  }

  async #open(stop: AbortSignal): Promise<Session | OperatorError> {
    const { clock, target, open, bounds } = this.#options;
    const giveUp = new AbortController();
    const abandon = () => giveUp.abort();
    stop.addEventListener("abort", abandon, { once: true });
    const cancel = clock.after(bounds.open_max_ms, abandon);
    // Started in a promise, so that an `open` that throws at once is a rejection like any other.
    const opening = Promise.resolve().then(() => open(giveUp.signal));
    try {
      const session =
        (await untilRaised(opening, giveUp.signal)) ?? (await this.#bounded(opening, bounds.close_max_ms));
      if (session !== undefined) return session;
      // It ignores the signal: whatever it still opens is closed as soon as it hands it over.
      opening.then(
        (late) => this.#close(late),
        () => {},
      );
    } catch (thrown) {
      if (!giveUp.signal.aborted) return operatorErrorOf(thrown, target);
    } finally {
      cancel();
      stop.removeEventListener("abort", abandon);
    }
    return this.#options.silent;
  }

  async #waitAfter(reason: OperatorError, stop: AbortSignal): Promise<void> {
    if (this.#again) {
      this.#again = false;
      return;
    }
    const { clock, log, target, bounds } = this.#options;
    const wait_ms = Math.min(bounds.most_ms, bounds.least_ms * 2 ** Math.min(this.#failures, doublings_max));
    this.#failures += 1;
    const problem = reason.message;
    if (this.#status.problem === problem) log.debug(problem);
    else {
      log.warn(`${problem} (trying again by itself)`);
      this.#status = { ...this.#stateOf("retrying", target), problem };
    }
    let cancel = () => {};
    const waited = new Promise<void>((resolve) => {
      cancel = clock.after(wait_ms, resolve);
      this.#endWait = resolve;
    });
    await untilRaised(waited, stop);
    cancel();
    this.#endWait = () => {};
    this.#again = false;
  }

  async #close(session: Session): Promise<void> {
    const closing = session.close().catch((thrown: unknown) => {
      this.#options.log.debug(`closing ${this.#options.target}: ${messageOf(thrown)}`);
    });
    await this.#bounded(closing, this.#options.bounds.close_max_ms);
  }

  /** The result of `work`, or undefined when it takes longer. */
  #bounded<Result>(work: Promise<Result>, most_ms: number): Promise<Result | undefined> {
    return new Promise((resolve, reject) => {
      const cancel = this.#options.clock.after(most_ms, () => resolve(undefined));
      void work.then(resolve, reject).finally(cancel);
    });
  }

  #stateOf(state: DriverStatus["state"], detail: string): DriverStatus {
    return { state, since_ms: this.#options.clock.now().unix_ms, detail };
  }
}

/** Keeps 2 ** failures a finite number. */
const doublings_max = 20;

function operatorErrorOf(thrown: unknown, target: string): OperatorError {
  if (thrown instanceof OperatorError) return thrown;
  return new OperatorError(`${target} cannot be opened`, messageOf(thrown), { cause: thrown });
}

/** The result of `work`, or undefined as soon as the signal is raised. Leaves no listener behind, unlike a race. */
function untilRaised<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result | undefined> {
  return new Promise((resolve, reject) => {
    const raised = () => resolve(undefined);
    if (signal.aborted) return raised();
    signal.addEventListener("abort", raised, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", raised));
  });
}
