import { type Static, Type } from "@sinclair/typebox";
import { OperatorError } from "../../src/base/errors.ts";
import type { Driver, DriverDefinition, DriverStatus, Host } from "../driver.ts";
import { type LineWork, openLineSession } from "../wire/line-session.ts";
import { Reconnect, type RetryBounds, type Session } from "../wire/reconnect.ts";
import type { SerialLine } from "../wire/serial-line.ts";
import { type AskBounds, askBounds, Bridge, Unanswered } from "./bridge.ts";
import { Poller } from "./poller.ts";
import { products } from "./readings.ts";

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
  products,
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
  #poller: Poller | undefined;

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

  busy(): string | undefined {
    const box = this.#poller?.inWindow;
    return box && `the radio window of pill box ${box.mac} is open, or about to`;
  }

  #open(signal: AbortSignal): Promise<Session> {
    const { config } = this.#options;
    const { port, baud = baud_default } = config;
    const line = { port, baud, device: "the pill box bridge", section: "[pillbox]" };
    return openLineSession(line, signal, (open) => this.#polling(open));
  }

  #polling(line: SerialLine): LineWork {
    const { config, host } = this.#options;
    const bridge = new Bridge({
      clock: host.clock,
      write: (bytes) => line.write(bytes),
      dropped: (what, count) => host.dropped(what, count),
      bounds: { ...askBounds, ...this.#options.askBounds },
    });
    const poller = new Poller({ host, bridge });
    this.#poller = poller;
    return {
      receive: (chunk) => bridge.receive(chunk, host.clock.now()),
      greet: (signal) =>
        poller.list(signal).catch((thrown: unknown) => {
          throw thrown instanceof Unanswered ? this.#silent() : thrown;
        }),
      detail: () => {
        const boxes = poller.count === 1 ? "1 box" : `${poller.count} boxes`;
        return `pill box bridge on ${config.port}, ${boxes}`;
      },
      run: async (signal) => {
        const reason = await poller.run(signal);
        return reason instanceof Unanswered ? this.#silent() : reason;
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
