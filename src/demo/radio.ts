import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type SimulatorExport, ZnpSimulator } from "../../drivers/zigbee/simulator/coordinator.ts";
import type { SimulatedDevice } from "../../drivers/zigbee/simulator/device.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { flat, type SensorName, sensorNamed, zonestatus } from "./flat.ts";
import { plugIn } from "./plug.ts";
import type { Random } from "./random.ts";
import { type Place, type Step, walk } from "./walk.ts";

/** The simulated stick with the flat's sensors around it, on a pty as a real one would be. */
export class DemoRadio {
  readonly #simulator: ZnpSimulator;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #file: string;
  readonly #devices = new Map<SensorName, SimulatedDevice>();
  #stopped = false;
  #wake: () => void = () => {};

  private constructor(simulator: ZnpSimulator, options: RadioOptions) {
    this.#simulator = simulator;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#file = options.file;
    for (const { name, model, address } of flat) {
      const known = simulator.devices.find(({ ieee }) => ieee === address);
      this.#devices.set(name, known ?? simulator.addDevice({ model, ieee: address }));
    }
  }

  /** `file` keeps the stick's memory from one demo on the same data to the next. */
  static async plugIn(options: RadioOptions): Promise<DemoRadio> {
    const saved = existsSync(options.file)
      ? { saved: JSON.parse(readFileSync(options.file, "utf8")) as SimulatorExport }
      : {};
    const random = (length: number) => options.random.bytes(length);
    const simulator = await plugIn("the Zigbee radio", options.log, (transport) =>
      ZnpSimulator.listen({ transport, random, ...saved }),
    );
    return new DemoRadio(simulator, options);
  }

  /** The path for the gateway's zigbee port setting. */
  get port(): string {
    return this.#simulator.path;
  }

  /** Sensors that belong to no network yet ask to join it, one after the other; call while joining is open. */
  async joinAll(joined: (address: string) => Promise<void>): Promise<void> {
    for (const device of this.#devices.values()) {
      if (device.network_key !== undefined || this.#stopped) continue;
      const done = joined(device.ieee);
      device.join();
      await done;
    }
  }

  get missing(): number {
    return [...this.#devices.values()].filter(({ network_key }) => network_key === undefined).length;
  }

  /** Somebody walks through the flat, a little livelier than people do, until the radio is unplugged. */
  async live(): Promise<void> {
    let place: Place = "living";
    while (!this.#stopped) {
      const next = this.#random.pick(places.filter((one) => one !== place));
      const started_ms = this.#clock.now().monotonic_ms;
      const steps = walk(place, next, this.#random);
      const arrived_ms = Math.max(...steps.filter(isAlarm).map(({ after_ms }) => after_ms), 0);
      for (const { after_ms, sensor, zonestatus: status } of steps) {
        await this.#until(started_ms + Math.min(after_ms, arrived_ms + quiet_ms));
        this.#notify(sensor, status);
      }
      place = next;
      for (const sensor of seenIn[place]) {
        await this.#pause(1_500, 4_500);
        this.#notify(sensor, alarmOf(sensor));
        await this.#pause(2_500, 6_000);
        this.#notify(sensor, zonestatus.wall.idle);
      }
    }
  }

  async unplug(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    writeFileSync(this.#file, JSON.stringify(this.#simulator.export()), { mode: 0o600 });
    await this.#simulator.close();
  }

  #notify(sensor: SensorName, status: number): void {
    if (!this.#stopped) this.#devices.get(sensor)?.notify(status);
  }

  #pause(low_ms: number, high_ms: number): Promise<void> {
    return this.#until(this.#clock.now().monotonic_ms + this.#random.between(low_ms, high_ms));
  }

  #until(moment_ms: number): Promise<void> {
    const delay_ms = moment_ms - this.#clock.now().monotonic_ms;
    if (delay_ms <= 0 || this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#clock.after(delay_ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }
}

interface RadioOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly file: string;
}

const places: readonly Place[] = ["bedroom", "bathroom", "kitchen", "living", "away"];

/** Sensors that are triggered by a person who stays in a place for a moment. */
const seenIn: Readonly<Record<Place, readonly SensorName[]>> = {
  bedroom: ["bedroom-wall"],
  bathroom: ["bathroom-wall"],
  kitchen: ["kitchen-wall", "fridge-door", "medicine-door"],
  living: ["living-wall", "living-wall"],
  away: [],
};

/** Time after which a sensor becomes quiet again; short, because an audience waits. */
const quiet_ms = 2_500;

function isAlarm({ sensor, zonestatus: status }: Step): boolean {
  return status === alarmOf(sensor);
}

function alarmOf(sensor: SensorName): number {
  return zonestatus[sensorNamed(sensor).subtype].alarm;
}
