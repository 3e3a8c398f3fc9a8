import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { SimulatedBox } from "../../drivers/pillbox/simulator/box.ts";
import { BridgeSimulator } from "../../drivers/pillbox/simulator/bridge.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { boxes } from "./belongings.ts";
import type { Buffers } from "./buffers.ts";
import { Pauses } from "./pauses.ts";
import { broadcast_every_s, broadcast_for_s, type Doors, offsetAt_ms } from "./pill-boxes.ts";
import { plugIn } from "./plug.ts";
import type { Random } from "./random.ts";

interface Options {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly file: string;
  readonly buffer: Buffers["box"];
}

/** State of the box kept between demos on the same data. */
interface Saved {
  /** Events before `doors`, of which nothing but the number is known. */
  readonly before: number;
  readonly doors: readonly Doors[];
}

/** The simulated radio bridge with the polled pill box, which has kept some events for the first poll. */
export class DemoBridge {
  readonly #simulator: BridgeSimulator;
  readonly #box: SimulatedBox;
  readonly #options: Options;
  readonly #before: number;
  readonly #pauses: Pauses;

  private constructor(simulator: BridgeSimulator, options: Options) {
    const { clock, file, buffer } = options;
    this.#simulator = simulator;
    this.#options = options;
    this.#pauses = new Pauses(clock);
    const now_ms = () => clock.now().unix_ms;
    this.#box = new SimulatedBox({
      mac: boxes.breakfast.address,
      now_ms,
      ahead_ms: -offsetAt_ms(now_ms()),
      window: { every_s: broadcast_every_s, length_s: broadcast_for_s },
    });
    this.#box.voltage_mv = 5_008;
    const saved: Saved = existsSync(file)
      ? JSON.parse(readFileSync(file, "utf8"))
      : { before: buffer.told, doors: [] };
    this.#before = saved.before;
    for (let seq = 0; seq < saved.before; seq++) this.#box.doors(0, 0);
    for (const { at_ms, doors } of [...saved.doors, ...buffer.doors]) this.#box.doors(doors, at_ms);
    simulator.boxes.push(this.#box);
    this.#save();
  }

  static async plugIn(options: Options): Promise<DemoBridge> {
    const random = () => options.random.next();
    const simulator = await plugIn("the pill box bridge", options.log, (transport) =>
      BridgeSimulator.listen({ transport, random }),
    );
    return new DemoBridge(simulator, options);
  }

  get port(): string {
    return this.#simulator.path;
  }

  /** Somebody opens today's door now and then; the hourly polls tell of it. */
  async live(): Promise<void> {
    const { clock, random } = this.#options;
    while (!this.#pauses.stopped) {
      await this.#pauses.pause(random.between(300_000, 900_000));
      if (this.#pauses.stopped) return;
      const today = new Date(clock.now().unix_ms).getDay();
      this.#box.door(today, true);
      await this.#pauses.pause(random.between(6_000, 20_000));
      this.#box.door(today, false);
      this.#save();
    }
  }

  async unplug(): Promise<void> {
    this.#pauses.stop();
    this.#save();
    await this.#simulator.close();
  }

  /** After each door, so that the box counts on after a demo that was killed. */
  #save(): void {
    const doors = this.#box.history
      .slice(this.#before)
      .map(({ at_ms, doors: open }) => ({ at_ms, doors: open }));
    const kept = doors.slice(-kept_max);
    const saved: Saved = { before: this.#before + doors.length - kept.length, doors: kept };
    writeFileSync(this.#options.file, JSON.stringify(saved), { mode: 0o600 });
  }
}

/** As many as the box itself holds. */
const kept_max = 1_440;
