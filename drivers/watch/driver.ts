import { type Static, Type } from "@sinclair/typebox";
import { messageOf, OperatorError } from "../../src/base/errors.ts";
import type { Device } from "../../src/domain/reading.ts";
import type { Driver, DriverDefinition, DriverStatus, Host } from "../driver.ts";
import { type LineWork, openLineSession } from "../wire/line-session.ts";
import { Reconnect, type RetryBounds, type Session } from "../wire/reconnect.ts";
import type { SerialLine } from "../wire/serial-line.ts";
import { HealthFetch } from "./fetch.ts";
import { stride_default_m } from "./readings.ts";

const section = Type.Object(
  {
    port: Type.String({
      minLength: 1,
      description: "the device path of a watch's serial line, or tcp://host:port",
    }),
    baud: Type.Optional(
      Type.Integer({
        minimum: 1_200,
        maximum: 4_000_000,
        description: "the speed of the line in bits per second, 9600 unless said",
      }),
    ),
    address: Type.Optional(
      Type.String({
        pattern: "^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$",
        description:
          "the watch's hardware address, which the line does not tell, such as c0:ff:ee:00:00:01; one of the home unless said",
      }),
    ),
    stride_m: Type.Optional(
      Type.Number({ minimum: 0.1, maximum: 2, description: "metres a step, 0.7 unless said" }),
    ),
  },
  { additionalProperties: false },
);

export const watchDriver: DriverDefinition<typeof section> = {
  name: "watch",
  section,
  create: ({ config, host }) => new WatchDriver({ config, host }),
};

export interface WatchOptions {
  readonly config: Static<typeof section>;
  readonly host: Host;
  /** For tests: how long to wait between attempts. */
  readonly bounds?: Partial<RetryBounds>;
}

/** Espruino's serial console. */
const baud_default = 9_600;
/** A block of the log is as long. */
const fetch_interval_ms = 600_000;

/** A watch on a wire, with the lines that it otherwise speaks over Bluetooth. */
export class WatchDriver implements Driver {
  readonly #options: WatchOptions;
  readonly #device: Device;
  readonly #connection: Reconnect;

  constructor(options: WatchOptions) {
    const { config, host } = options;
    this.#options = options;
    const address = (config.address ?? host.localAddress).toLowerCase();
    this.#device = { kind: "watches", address, model: "Bangle.js", vendor: "Espruino" };
    this.#connection = new Reconnect({
      clock: host.clock,
      log: host.log,
      target: `watch on ${config.port}`,
      open: (signal) => this.#open(signal),
      silent: new OperatorError(`the watch on ${config.port} does not answer`, "check the port in [watch]"),
      ...(options.bounds === undefined ? {} : { bounds: options.bounds }),
    });
  }

  start(): void {
    this.#connection.start();
  }

  stop(): Promise<void> {
    return this.#connection.stop();
  }

  status(): DriverStatus {
    return this.#connection.status();
  }

  #open(signal: AbortSignal): Promise<Session> {
    const { config } = this.#options;
    const { port, baud = baud_default } = config;
    const line = { port, baud, device: "the watch", section: "[watch]" };
    return openLineSession(line, signal, (open) => this.#fetching(open));
  }

  #fetching(line: SerialLine): LineWork {
    const { config, host } = this.#options;
    const fetch = new HealthFetch({
      host,
      device: this.#device,
      stride_m: config.stride_m ?? stride_default_m,
      send: (text) => line.write(new TextEncoder().encode(text)),
    });
    return {
      receive: (chunk) => fetch.receive(chunk, host.clock.now()),
      detail: () => `watch ${this.#device.address} on ${config.port}`,
      run: (signal) => this.#fetchOn(fetch, signal),
    };
  }

  /** Fetches now and whenever another block is due, until `signal` is raised or the watch falls silent. */
  async #fetchOn(fetch: HealthFetch, signal: AbortSignal): Promise<OperatorError> {
    try {
      while (!signal.aborted) {
        await fetch.run(signal);
        await this.#sleep(signal);
      }
      return new OperatorError("the watch is no longer read", "start Lintel again");
    } catch (thrown) {
      if (thrown instanceof OperatorError) return thrown;
      return new OperatorError(
        `reading the watch ended: ${messageOf(thrown)}`,
        "it is tried again by itself",
      );
    }
  }

  #sleep(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const cancel = this.#options.host.clock.after(signal.aborted ? 0 : fetch_interval_ms, wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }
}
