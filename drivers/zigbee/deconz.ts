import type { Writable } from "node:stream";
import type { Clock } from "../../src/base/clock.ts";
import type { Adapter } from "./arrivals.ts";
import { whenSet } from "./field-watch.ts";

/** The parts of zigbee-herdsman's adapter of deCONZ that are corrected here. Checked against zigbee-herdsman 10.9.5. */
interface DeconzDriver {
  readonly tickTimer: ReturnType<typeof setInterval>;
  /** 0 while it waits for no answer of the stick. */
  readonly txState: number;
  onPortClose: () => void;
  /** Bits of the state that the stick told last. */
  deviceStatus: number;
  /** Gives the stick the network of the configuration. */
  reconfigureNetwork: () => Promise<void>;
  /** Asks for what these bits tell of. */
  handleApsQueueOnDeviceState: () => void;
  once(event: "close", closed: () => void): void;
}

/** The last thing that an adapter does in its constructor before it starts a timer that it keeps no handle of. */
const lastOfConstructor = "receivedGreenPowerIndication";

/**
 * Corrections of zigbee-herdsman's deCONZ adapter, which
 *
 * - goes on after its end: it listens to the parser of the whole process and opens its port again after five seconds, so that two of
 *   them hear each message and fight for the port;
 * - tells nobody that its port has closed, and on TCP throws where it should notice that;
 * - throws the fault of a write that failed where nobody catches it, which ends the process;
 * - takes messages from the stick, which then forgets them, until it closes its port over their answers.
 */
export class DeconzGuard {
  readonly #events: Pick<NodeJS.EventEmitter, "removeAllListeners">;
  #poll: ReturnType<typeof setInterval> | undefined;
  #driver: DeconzDriver | undefined;
  /** Whether the stick was given another network at this start, which its adapter does not tell. */
  reconfigured = false;

  private constructor(events: Pick<NodeJS.EventEmitter, "removeAllListeners">) {
    this.#events = events;
  }

  /** To be made before the adapter is. */
  static async make(): Promise<DeconzGuard> {
    const { frameParserEvents } = await import("zigbee-herdsman/dist/adapter/deconz/driver/frameParser.js");
    frameParserEvents.removeAllListeners();
    const guard = new DeconzGuard(frameParserEvents);
    const on = Object.getPrototypeOf(frameParserEvents).on as typeof frameParserEvents.on;
    frameParserEvents.on = (event, listener) => {
      on.call(frameParserEvents, event, listener);
      if (event === lastOfConstructor) nextInterval((timer) => (guard.#poll = timer));
      return frameParserEvents;
    };
    return guard;
  }

  /** To be told of the adapter before it starts. */
  watch(adapter: Adapter): void {
    const driver = (adapter as unknown as { driver: DeconzDriver }).driver;
    this.#driver = driver;
    const reconfigure = driver.reconfigureNetwork.bind(driver);
    driver.reconfigureNetwork = () => {
      this.reconfigured = true;
      return reconfigure();
    };
    driver.onPortClose = driver.onPortClose.bind(driver);
    for (const port of ["serialPort", "socketPort"]) whenSet(driver, port, failQuietly);
    // Whoever is told of it closes the driver, which tells again.
    driver.once("close", () => adapter.emit("disconnected"));
  }

  /** Fetches no more messages, and waits for the one that is under way. What the stick still has it keeps for the next start. */
  async quiesce(clock: Clock): Promise<void> {
    const driver = this.#driver;
    if (driver === undefined) return;
    const ask = driver.handleApsQueueOnDeviceState.bind(driver);
    driver.handleApsQueueOnDeviceState = () => {
      driver.deviceStatus &= ~messageWaits;
      ask();
    };
    for (let tries = 0; tries < answer_tries_max && driver.txState !== 0; tries += 1)
      await new Promise<void>((resolve) => clock.after(answer_retry_ms, resolve));
  }

  release(): void {
    clearInterval(this.#poll);
    clearInterval(this.#driver?.tickTimer);
    this.#events.removeAllListeners();
  }
}

/** A port that closes while it is written to tells that by its end too. A socket whose other end has gone gets another `write` by itself. */
function failQuietly(port: unknown): void {
  const writable = port as Writable;
  let write = writable.write;
  Object.defineProperty(writable, "write", {
    configurable: true,
    get: () => (bytes: Uint8Array, done?: unknown) =>
      write.call(writable, bytes, undefined as never, (fault) => {
        if (!fault && typeof done === "function") done();
      }),
    set: (other: Writable["write"]) => {
      write = other;
    },
  });
}

const messageWaits = 0x08;
const answer_retry_ms = 10;
const answer_tries_max = 100;

/** Calls `made` with the timer of the next call of setInterval. */
function nextInterval(made: (timer: ReturnType<typeof setInterval>) => void): void {
  const real = globalThis.setInterval;
  globalThis.setInterval = ((...given: Parameters<typeof setInterval>) => {
    globalThis.setInterval = real;
    const timer = real(...given);
    made(timer);
    return timer;
  }) as typeof setInterval;
}
