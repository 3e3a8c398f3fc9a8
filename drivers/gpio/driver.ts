import { type Static, Type } from "@sinclair/typebox";
import type { Gpio } from "onoff";
import { messageOf, OperatorError } from "../../src/errors.ts";
import type { Driver, DriverDefinition, DriverStatus, Host, Lamp } from "../driver.ts";
import { Reconnect, type Session } from "../wire/reconnect.ts";
import { Blinker } from "./blinker.ts";
import { headerChip, lineOf } from "./chip.ts";

const bcm = Type.Integer({ minimum: 0, maximum: 53, description: "a BCM number" });

const section = Type.Object(
  { led: Type.Optional(bcm), button: Type.Optional(bcm) },
  { additionalProperties: false },
);

export const gpioDriver: DriverDefinition<typeof section> = {
  name: "gpio",
  section,
  create: ({ config, host }) => new GpioDriver({ config, host }),
};

/** A button bounces for less than this; a press must last longer. */
const debounce_ms = 30;

/**
 * A lamp that shows the state of the gateway, and a button that opens joining. The lamp lights when its
 * line is high; the button pulls its line to ground against a pull-up.
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
    const { led, button } = this.#config;
    const chip = headerChip();
    const lines = {
      led: led === undefined ? undefined : lineOf(chip, led),
      button: button === undefined ? undefined : lineOf(chip, button),
    };
    const { Gpio } = await import("onoff");
    const opened: Gpio[] = [];
    const { promise: ended, resolve: end } = Promise.withResolvers<OperatorError>();
    const close = async () => {
      this.#blinker?.stop();
      this.#blinker = undefined;
      for (const line of opened.splice(0)) line.unexport();
    };
    try {
      if (lines.led !== undefined) {
        const lamp = new Gpio(lines.led, "out");
        opened.push(lamp);
        this.#light(lamp, end);
      }
      if (lines.button !== undefined) {
        const key = new Gpio(lines.button, "in", "both", { debounceTimeout: debounce_ms, activeLow: true });
        opened.push(key);
        this.#listen(key, end);
      }
    } catch (thrown) {
      await close();
      throw gpioFault(thrown);
    }
    const parts = Object.entries(this.#config).map(([name, number]) => `${name} on GPIO ${number}`);
    const detail = `${parts.join(", ")} of ${chip.label} (base ${chip.base})`;
    return {
      detail,
      ended,
      close: async () => {
        const lamp = lines.led === undefined ? undefined : opened[0];
        this.#blinker?.stop();
        lamp?.writeSync(0);
        await close();
      },
    };
  }

  #light(lamp: Gpio, end: (reason: OperatorError) => void): void {
    const write = (lit: boolean) => {
      try {
        lamp.writeSync(lit ? 1 : 0);
      } catch (thrown) {
        end(gpioFault(thrown));
      }
    };
    this.#blinker = new Blinker({ clock: this.#host.clock, write });
    this.#blinker.show(this.#shown);
  }

  /** One press is one request, however long it lasts; a button that is down from the start is not pressed. */
  #listen(key: Gpio, end: (reason: OperatorError) => void): void {
    let down = key.readSync() === 1;
    key.watch((error, value) => {
      if (error) {
        end(gpioFault(error));
        return;
      }
      const pressed = value === 1 && !down;
      down = value === 1;
      if (pressed) this.#host.requestJoining();
    });
  }
}

function gpioFault(thrown: unknown): OperatorError {
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
