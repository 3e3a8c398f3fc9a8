import { SimulatedBox } from "../../drivers/pillbox/simulator/box.ts";
import { BridgeSimulator } from "../../drivers/pillbox/simulator/bridge.ts";
import { boxes } from "./devices.ts";
import type { Buffers } from "./history.ts";
import { broadcast_every_s, broadcast_for_s, type Doors, offsetAt_ms } from "./pill-boxes.ts";
import { type Peripherals, plugIn, save, saved } from "./plug.ts";

/** State of the box kept between demos on the same data. */
interface Memory {
  /** Events before `doors`, of which nothing but the number is known. */
  readonly before: number;
  readonly doors: readonly Doors[];
}

/** The simulated radio bridge with the polled pill box, which has kept some events for the first poll. */
export class DemoPillBoxBridge {
  readonly #simulator: BridgeSimulator;
  readonly #box: SimulatedBox;
  readonly #options: Peripherals;
  readonly #before: number;

  private constructor(simulator: BridgeSimulator, options: Peripherals & { buffer: Buffers["box"] }) {
    const { clock, file, buffer } = options;
    this.#simulator = simulator;
    this.#options = options;
    const now_ms = () => clock.now().unix_ms;
    this.#box = new SimulatedBox({
      mac: boxes.breakfast.address,
      now_ms,
      ahead_ms: -offsetAt_ms(now_ms()),
      window: { every_s: broadcast_every_s, length_s: broadcast_for_s },
    });
    this.#box.voltage_mv = 5_008;
    const { before, doors } = saved<Memory>(file) ?? { before: buffer.told, doors: [] };
    this.#before = before;
    for (let seq = 0; seq < before; seq++) this.#box.doors(0, 0);
    for (const { at_ms, doors: open } of [...doors, ...buffer.doors]) this.#box.doors(open, at_ms);
    simulator.boxes.push(this.#box);
    this.#save();
  }

  static async plugIn(options: Peripherals & { buffer: Buffers["box"] }): Promise<DemoPillBoxBridge> {
    const random = () => options.random.next();
    const simulator = await plugIn("the pill box bridge", options.log, (transport) =>
      BridgeSimulator.listen({ transport, random }),
    );
    return new DemoPillBoxBridge(simulator, options);
  }

  get port(): string {
    return this.#simulator.path;
  }

  /** Somebody opens today's door now and then; the hourly polls tell of it. */
  async live(): Promise<void> {
    const { clock, random, pauses } = this.#options;
    while (await pauses.pause(random.between(300_000, 900_000))) {
      const today = new Date(clock.now().unix_ms).getDay();
      this.#box.door(today, true);
      await pauses.pause(random.between(6_000, 20_000));
      this.#box.door(today, false);
      this.#save();
    }
  }

  async unplug(): Promise<void> {
    this.#save();
    await this.#simulator.close();
  }

  /** After each door, so that the box counts on after a demo that was killed. */
  #save(): void {
    const doors = this.#box.history.slice(this.#before).map(({ at_ms, doors: open }) => ({
      at_ms,
      doors: open,
    }));
    const kept = doors.slice(-kept_max);
    const memory: Memory = { before: this.#before + doors.length - kept.length, doors: kept };
    save(this.#options.file, memory);
  }
}

/** As many as the box itself holds. */
const kept_max = 1_440;
