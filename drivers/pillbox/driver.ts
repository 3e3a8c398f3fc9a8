import { type Static, Type } from "@sinclair/typebox";
import { OperatorError } from "../../src/errors.ts";
import type { Driver, DriverDefinition, DriverStatus, Host } from "../driver.ts";
import { Reconnect, type RetryBounds, type Session } from "../wire/reconnect.ts";
import { openSerialLine, type SerialLine } from "../wire/serial-line.ts";
import { type AskBounds, askBounds, Bridge, Unanswered } from "./bridge.ts";
import { Poller } from "./poller.ts";

const section = Type.Object(
  {
    port: Type.String({
      minLength: 1,
      description: "the device path of the radio bridge of polled pill boxes, or tcp://host:port",
    }),
    baud: Type.Optional(
      Type.Integer({
        minimum: 1_200,
        maximum: 4_000_000,
        description: "the speed of the bridge's serial line in bits per second, 115200 unless said",
      }),
    ),
  },
  { additionalProperties: false },
);

export const pillboxDriver: DriverDefinition<typeof section> = {
  name: "pillbox",
  section,
  create: ({ config, host }) => new PillboxDriver({ config, host }),
};

export interface PillboxOptions {
  readonly config: Static<typeof section>;
  readonly host: Host;
  /** For tests: how long to wait between attempts, and for replies. */
  readonly bounds?: Partial<RetryBounds>;
  readonly askBounds?: Partial<AskBounds>;
}

const baud_default = 115_200;

/** Polled pill boxes behind a radio bridge on a serial line. */
export class PillboxDriver implements Driver {
  readonly #options: PillboxOptions;
  readonly #connection: Reconnect;

  constructor(options: PillboxOptions) {
    const { config, host } = options;
    this.#options = options;
    this.#connection = new Reconnect({
      clock: host.clock,
      log: host.log,
      target: `pill box bridge on ${config.port}`,
      open: (signal) => this.#open(signal),
      silent: this.#silent(),
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

  async #open(signal: AbortSignal): Promise<Session> {
    const { config, host } = this.#options;
    let receive: (chunk: Uint8Array) => void = () => {};
    const line = await openSerialLine(
      {
        port: config.port,
        baud: config.baud ?? baud_default,
        device: "the pill box bridge",
        section: "[pillbox]",
        onData: (chunk) => receive(chunk),
      },
      signal,
    );
    const bridge = new Bridge({
      clock: host.clock,
      write: (bytes) => line.write(bytes),
      dropped: (what, count) => host.dropped(what, count),
      bounds: { ...askBounds, ...this.#options.askBounds },
    });
    receive = (chunk) => bridge.receive(chunk, host.clock.now());
    const poller = new Poller({ host, bridge });
    try {
      await Promise.race([poller.list(signal), line.ended.then((reason) => Promise.reject(reason))]);
    } catch (thrown) {
      await line.close();
      throw thrown instanceof Unanswered ? this.#silent() : thrown;
    }
    return this.#session(line, poller);
  }

  #session(line: SerialLine, poller: Poller): Session {
    const stop = new AbortController();
    const polling = poller.run(stop.signal);
    const boxes = poller.count === 1 ? "1 box" : `${poller.count} boxes`;
    return {
      detail: `pill box bridge on ${this.#options.config.port}, ${boxes}`,
      ended: Promise.race([
        line.ended,
        polling.then((reason) => (reason instanceof Unanswered ? this.#silent() : reason)),
      ]),
      close: async () => {
        stop.abort(new Error("the driver stops"));
        await line.close();
        await polling;
      },
    };
  }

  #silent(): OperatorError {
    return new OperatorError(
      `the pill box bridge on ${this.#options.config.port} does not answer`,
      "check that the port is the bridge's, and its baud rate in [pillbox]",
    );
  }
}
