import { type Static, Type } from "@sinclair/typebox";
import { messageOf, OperatorError } from "../../src/base/errors.ts";
import type { Driver, DriverDefinition, DriverStatus, Host, Lamp } from "../driver.ts";
import { Reconnect, type Session } from "../wire/reconnect.ts";
import { Blinker } from "./blinker.ts";
import { openCharacterDevice } from "./character-device.ts";
import type { Lines, Listener, Pins } from "./header.ts";
import { hasSysfs, openSysfs } from "./sysfs.ts";

const bcm = Type.Integer({ minimum: 0, maximum: 53, description: "a BCM number" });

const section = Type.Object(
  { led: Type.Optional(bcm), button: Type.Optional(bcm), pause: Type.Optional(bcm) },
  { additionalProperties: false },
);

export const gpioDriver: DriverDefinition<typeof section> = {
  name: "gpio",
  section,
  create: ({ config, host }) => new GpioDriver({ config, host }),
};

/**
 * A lamp that shows the state of the gateway, a button that opens joining, and one by which the people of the home pause the recording. The lamp lights when its
 * line is high; a button pulls its line to ground against a pull-up.
 */
export class GpioDriver implements Driver {
  readonly #config: Static<typeof section>;
  readonly #host: Host;
  readonly #connection: Reconnect;
  #blinker: Blinker | undefined;
  #shown: Lamp = "off";

  constructor({ config, host }: { config: Static<typeof section>; host: Host }) {
    this.#config = config;
    this.#host = host;
    this.#connection = new Reconnect({
      clock: host.clock,
      log: host.log,
      target: "the GPIO header",
      silent: new OperatorError("the GPIO header does not answer", "restart the machine"),
      open: () => this.#open(),
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

  show(lamp: Lamp): void {
    this.#shown = lamp;
    this.#blinker?.show(lamp);
  }

  async #open(): Promise<Session> {
    const { led: lamp, button, pause } = this.#config;
    const { promise: ended, resolve: end } = Promise.withResolvers<OperatorError>();
    const lines = await openLines(
      { lamp, buttons: [button, pause].filter((one) => one !== undefined) },
      {
        pressed: (number) => (number === pause ? this.#host.requestPause() : this.#host.requestJoining()),
        failed: (fault) => end(gpioFault(fault)),
      },
    ).catch((thrown: unknown) => {
      throw gpioFault(thrown);
    });
    if (lamp !== undefined) this.#light(lines, end);
    const parts = Object.entries(this.#config).map(([name, number]) => `${name} on GPIO ${number}`);
    return {
      detail: `${parts.join(", ")} of ${lines.detail}`,
      ended,
      close: async () => {
        this.#blinker?.stop();
        this.#blinker = undefined;
        lines.close();
      },
    };
  }

  #light(lines: Lines, end: (reason: OperatorError) => void): void {
    const write = (lit: boolean) => {
      try {
        lines.light(lit);
      } catch (thrown) {
        end(gpioFault(thrown));
      }
    };
    this.#blinker = new Blinker({ clock: this.#host.clock, write });
    this.#blinker.show(this.#shown);
  }
}

/** By sysfs where that is there and may be written, which older kernels have alone; else by the character device. */
function openLines(pins: Pins, listener: Listener): Promise<Lines> {
  return hasSysfs() ? openSysfs(pins, listener) : openCharacterDevice(pins, listener);
}

function gpioFault(thrown: unknown): OperatorError {
  if (thrown instanceof OperatorError) return thrown;
  const said = messageOf(thrown);
  const remedies: readonly [RegExp, string][] = [
    [/EACCES|EPERM/, "add the user that runs Lintel to the group gpio"],
    [/EBUSY/, "another program or driver uses this line: stop it, or take another in [gpio]"],
    [/EINVAL/, "correct the numbers in [gpio]: they are BCM numbers"],
  ];
  const remedy =
    remedies.find(([says]) => says.test(said))?.[1] ?? "check the numbers in [gpio] and the wiring";
  return new OperatorError(`the GPIO lines cannot be used (${said})`, remedy, { cause: thrown });
}
