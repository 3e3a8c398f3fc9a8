import { ZnpSimulator } from "../../../drivers/zigbee/simulator/coordinator.ts";
import type { SimulatedDevice } from "../../../drivers/zigbee/simulator/device.ts";
import { Random } from "../../../src/demo/random.ts";

/** As many as the flats of the programme have at most. */
const sensors_count = 20;
/** Notifications of one sensor in a day. */
const notifications_a_day = 150;
const tick_ms = 5;

/** The Zigbee sensors of a flat around one coordinator, the same for whoever listens. */
export class Sensors {
  readonly devices: readonly SimulatedDevice[];
  sent = 0;
  readonly #simulator: ZnpSimulator;

  private constructor(simulator: ZnpSimulator) {
    this.#simulator = simulator;
    this.devices = Array.from({ length: sensors_count }, () => simulator.addDevice({ model: "3041" }));
  }

  static async listen(): Promise<Sensors> {
    const random = new Random(11);
    return new Sensors(
      await ZnpSimulator.listen({ transport: "tcp", random: (length) => random.bytes(length) }),
    );
  }

  /** `tcp://127.0.0.1:…` */
  get path(): string {
    return this.#simulator.path;
  }

  /** A day of notifications, every sensor in turn, at so many a second. */
  async day(rate: number): Promise<void> {
    const total = sensors_count * notifications_a_day;
    const started = performance.now();
    for (let count = 0; count < total; ) {
      const due = Math.min(total, Math.floor(((performance.now() - started) / 1000) * rate));
      for (; count < due; count++) {
        this.sent += 1;
        this.devices[count % sensors_count]?.notify(this.sent & 0xffff);
      }
      await Bun.sleep(tick_ms);
    }
    await this.#simulator.drained();
  }

  close(): Promise<void> {
    return this.#simulator.close();
  }
}
