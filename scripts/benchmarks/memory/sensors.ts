import { join } from "node:path";
import { ZnpSimulator } from "../../../drivers/zigbee/simulator/coordinator.ts";
import type { SimulatedDevice } from "../../../drivers/zigbee/simulator/device.ts";
import { numbers } from "../../../testbed/numbers.ts";
import { evenly } from "../stick/home.ts";

/** The sensors of a home, by the models of the simulator: as many as the flats of the programme have at most. */
export const homes = {
  nyce: Array.from({ length: 20 }, () => "3041"),
  /** The makers that studies buy most. */
  usual: [
    ...Array.from({ length: 12 }, () => "3041"),
    ...["SML001", "SML001", "lumi.sensor_magnet.aq2", "lumi.sensor_magnet.aq2", "lumi.sensor_motion.aq2"],
    ...["TRADFRI motion sensor", "SNZB-06P", "SNZB-04"],
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type HomeName = keyof typeof homes;
const numbered = "3041";
/** Notifications of one sensor in a day. */
const notifications_a_day = 150;

/** The Zigbee sensors of a flat around one coordinator, the same for whoever listens. */
export class Sensors {
  readonly devices: readonly SimulatedDevice[];
  sent = 0;
  readonly #words: readonly string[][];
  readonly #simulator: ZnpSimulator;

  private constructor(simulator: ZnpSimulator, home: HomeName) {
    this.#simulator = simulator;
    this.devices = homes[home].map((model) => simulator.addDevice({ model }));
    this.#words = this.devices.map(({ model }) => Object.keys(model.says ?? {}));
  }

  /** A stick on a pty, which is linked at `<directory>/stick`, and the sensors of a home. */
  static async listen(directory: string, home: HomeName): Promise<Sensors> {
    const next = numbers(11);
    const random = (length: number) => Uint8Array.from({ length }, () => Math.floor(next() * 256));
    return new Sensors(
      await ZnpSimulator.listen({ transport: "pty", link: join(directory, "stick"), random }),
      home,
    );
  }

  /** The port that a gateway opens. */
  get path(): string {
    return this.#simulator.path;
  }

  /** A day of notifications, every sensor in turn, at so many a second. */
  async day(rate: number): Promise<void> {
    const total = this.devices.length * notifications_a_day;
    await evenly(rate, total, (count) => {
      this.sent += 1;
      this.#next(count % this.devices.length);
    });
    await this.#simulator.drained();
  }

  /** One counts its notifications up, and the others say one after the other what their models say. */
  #next(index: number): void {
    const device = this.devices[index];
    const words = this.#words[index] ?? [];
    const word = words[Math.floor(this.sent / this.devices.length) % words.length];
    if (device?.modelName === numbered) device.notify(this.sent & 0xffff);
    else if (word !== undefined) device?.say(word);
  }

  close(): Promise<void> {
    return this.#simulator.close();
  }
}
