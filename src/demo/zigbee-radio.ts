import { type SimulatorExport, ZnpSimulator } from "../../drivers/zigbee/simulator/coordinator.ts";
import type { SimulatedDevice } from "../../drivers/zigbee/simulator/device.ts";
import { type SensorName, sensorNamed, sensors, zonestatus } from "./devices.ts";
import { type Peripherals, plugIn, save, saved } from "./plug.ts";
import { type Place, type Step, walk } from "./walk.ts";

/** The simulated stick with the flat's sensors around it, on a pty as a real one would be. */
export class DemoZigbeeRadio {
  readonly #simulator: ZnpSimulator;
  readonly #options: Peripherals;
  readonly #devices = new Map<SensorName, SimulatedDevice>();

  private constructor(simulator: ZnpSimulator, options: Peripherals) {
    this.#simulator = simulator;
    this.#options = options;
    for (const { name, model, address } of sensors) {
      const known = simulator.devices.find(({ ieee }) => ieee === address);
      this.#devices.set(name, known ?? simulator.addDevice({ model, ieee: address }));
    }
  }

  /** The file keeps the stick's memory from one demo on the same data to the next. */
  static async plugIn(options: Peripherals): Promise<DemoZigbeeRadio> {
    const random = (length: number) => options.random.bytes(length);
    const memory = saved<SimulatorExport>(options.file);
    const simulator = await plugIn("the Zigbee radio", options.log, (transport) =>
      ZnpSimulator.listen({ transport, random, saved: memory }),
    );
    return new DemoZigbeeRadio(simulator, options);
  }

  /** The path for the gateway's zigbee port setting. */
  get port(): string {
    return this.#simulator.path;
  }

  /** Sensors that belong to no network yet ask to join it, one after the other; call while joining is open. */
  async joinAll(joined: (address: string) => Promise<void>): Promise<void> {
    for (const device of this.#devices.values()) {
      if (device.network_key !== undefined || this.#options.pauses.stopped) continue;
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
    const { clock, random, pauses } = this.#options;
    let place: Place = "living";
    while (!pauses.stopped) {
      const next = random.pick(places.filter((one) => one !== place));
      const started_ms = clock.now().monotonic_ms;
      const steps = walk(place, next, random);
      const arrived_ms = Math.max(...steps.filter(isAlarm).map(({ after_ms }) => after_ms), 0);
      for (const { after_ms, sensor, zonestatus: status } of steps) {
        const due_ms = started_ms + Math.min(after_ms, arrived_ms + quiet_ms);
        await pauses.pause(due_ms - clock.now().monotonic_ms);
        this.#notify(sensor, status);
      }
      place = next;
      for (const sensor of seenIn[place]) {
        await pauses.pause(random.between(1_500, 4_500));
        this.#notify(sensor, alarmOf(sensor));
        await pauses.pause(random.between(2_500, 6_000));
        this.#notify(sensor, zonestatus.wall.idle);
      }
    }
  }

  async unplug(): Promise<void> {
    save(this.#options.file, this.#simulator.export());
    await this.#simulator.close();
  }

  #notify(sensor: SensorName, status: number): void {
    if (!this.#options.pauses.stopped) this.#devices.get(sensor)?.notify(status);
  }
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
