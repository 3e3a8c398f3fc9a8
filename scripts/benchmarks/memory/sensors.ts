import { join } from "node:path";
import { ZnpSimulator } from "../../../drivers/zigbee/simulator/coordinator.ts";
import type { SimulatedDevice } from "../../../drivers/zigbee/simulator/device.ts";
import { numbers } from "../../../test/drivers/numbers.ts";

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

  /** A stick on a pty, which is linked at `<directory>/stick`. */
  static async listen(directory: string): Promise<Sensors> {
    const next = numbers(11);
    const random = (length: number) => Uint8Array.from({ length }, () => Math.floor(next() * 256));
    return new Sensors(
      await ZnpSimulator.listen({ transport: "pty", link: join(directory, "stick"), random }),
    );
  }

  /** The port that a gateway opens. */
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
