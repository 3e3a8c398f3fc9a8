import { type TSchema, Type } from "@sinclair/typebox";
import { BleDriver } from "../../../drivers/ble/driver.ts";
import { HciSimulator } from "../../../drivers/ble/simulator/controller.ts";
import type { Advertisement, Peripheral, PeripheralDefinition } from "../../../drivers/peripheral.ts";
import type { TransportKind } from "../../../drivers/wire/simulated-line.ts";
import { type Clock, type Moment, SystemClock } from "../../../src/base/clock.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";

/**
 * The system's clock, some times as fast: what takes minutes takes seconds, through the real thing. While timers run it passes at most
 * `step_max_ms` for each turn of the event loop, so that a stall of a busy machine is no time-out of a device.
 */
export class QuickClock implements Clock {
  readonly #system = new SystemClock();
  readonly boot = this.#system.boot;
  readonly #start = this.#system.now();
  readonly #timers = new Set<{ readonly due_ms: number; readonly action: () => void }>();
  #looked_ms = this.#start.monotonic_ms;
  #past_ms = 0;
  #ticking: Timer | undefined;

  constructor(readonly factor: number) {}

  now(): Moment {
    const now = this.#system.now();
    const step_ms = now.monotonic_ms - this.#looked_ms;
    this.#looked_ms = now.monotonic_ms;
    this.#past_ms += (this.#ticking === undefined ? step_ms : Math.min(step_ms, step_max_ms)) * this.factor;
    const { unix_ms, monotonic_ms } = this.#start;
    return {
      ...now,
      unix_ms: Math.floor(unix_ms + this.#past_ms),
      monotonic_ms: monotonic_ms + this.#past_ms,
    };
  }

  after(delay_ms: number, action: () => void): () => void {
    this.now();
    const timer = { due_ms: this.#past_ms + delay_ms, action };
    this.#timers.add(timer);
    this.#ticking ??= setInterval(() => this.#tick(), tick_ms);
    return () => void this.#timers.delete(timer);
  }

  /** Runs what is due, in order of time. */
  #tick(): void {
    this.now();
    const due = [...this.#timers].filter(({ due_ms }) => due_ms <= this.#past_ms);
    for (const timer of due.sort((one, other) => one.due_ms - other.due_ms))
      if (this.#timers.delete(timer)) timer.action();
    if (this.#timers.size > 0) return;
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }
}

const tick_ms = 2;
const step_max_ms = 4;

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
