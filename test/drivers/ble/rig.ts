import { type TSchema, Type } from "@sinclair/typebox";
import { BleDriver } from "../../../drivers/ble/driver.ts";
import { HciSimulator } from "../../../drivers/ble/simulator/controller.ts";
import type { Advertisement, Peripheral, PeripheralDefinition } from "../../../drivers/peripheral.ts";
import type { TransportKind } from "../../../drivers/wire/simulated-line.ts";
import { type Clock, type Moment, SystemClock } from "../../../src/base/clock.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";

/** The system's clock, some times as fast: what takes minutes takes seconds, through the real thing. */
export class QuickClock implements Clock {
  readonly #system = new SystemClock();
  readonly boot = this.#system.boot;
  readonly #start = this.#system.now();

  constructor(readonly factor: number) {}

  now(): Moment {
    const now = this.#system.now();
    const past_ms = (now.monotonic_ms - this.#start.monotonic_ms) * (this.factor - 1);
    return { ...now, unix_ms: now.unix_ms + past_ms, monotonic_ms: now.monotonic_ms + past_ms };
  }

  after(delay_ms: number, action: () => void): () => void {
    return this.#system.after(delay_ms / this.factor, action);
  }
}

export interface Heard {
  readonly advertisement: Advertisement;
  readonly moment: Moment;
}

/** A product that recognises whatever has service data of `uuid`, and keeps what it is given. */
export function recordingProduct(options: {
  name?: string;
  uuid?: string;
  section?: TSchema;
  peripheral?: Partial<Peripheral>;
  created?: (made: Parameters<PeripheralDefinition["create"]>[0]) => void;
}): { definition: PeripheralDefinition; heard: Heard[] } {
  const { name = "recorder", uuid = "fcd2", section = Type.Object({}), peripheral, created } = options;
  const heard: Heard[] = [];
  const definition: PeripheralDefinition = {
    name,
    section,
    kind: "pillboxes",
    recognises: ({ serviceData }) => serviceData.has(uuid),
    deviceOf: ({ address }) => ({ kind: "pillboxes", address }),
    create: (made) => {
      created?.(made);
      return {
        advertised: (advertisement, moment) => void heard.push({ advertisement, moment }),
        ...peripheral,
      };
    },
  };
  return { definition, heard };
}

/** A driver at a simulated controller, and what is needed to look at both. */
export interface Rig extends AsyncDisposable {
  readonly controller: HciSimulator;
  readonly host: RecordingHost;
  readonly driver: BleDriver;
}

export async function startRig(options: {
  products: readonly PeripheralDefinition[];
  transport?: TransportKind;
  config?: Readonly<Record<string, unknown>>;
  clock?: Clock;
  /** Where the driver is to look instead of at the controller. */
  port?: string;
}): Promise<Rig> {
  const directory = temporaryDirectory();
  const controller = await HciSimulator.listen({
    transport: options.transport ?? "pty",
    link: `${directory.path}/controller`,
  });
  const { clock } = options;
  const host = new RecordingHost({
    directory: `${directory.path}/ble`,
    ...(clock === undefined ? {} : { clock }),
  });
  const driver = new BleDriver({
    config: { ...options.config, port: options.port ?? controller.path },
    host,
    products: options.products,
    bounds: { least_ms: 20, most_ms: 200 },
  });
  driver.start();
  return {
    controller,
    host,
    driver,
    [Symbol.asyncDispose]: async () => {
      await driver.stop();
      await controller.close();
      directory.remove();
    },
  };
}

/** Resolves when the driver listens. */
export function listening({ driver, host }: Rig): Promise<unknown> {
  return host.until("the driver to listen", () => driver.status().state === "listening");
}

/** A product's whole broadcast, `16 D2FC …`. */
export function bthome(...bytes: number[]) {
  return { serviceData: { fcd2: Uint8Array.from(bytes) } };
}
