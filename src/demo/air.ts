import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { HciSimulator } from "../../drivers/ble/simulator/controller.ts";
import type { SimulatedPeripheral } from "../../drivers/ble/simulator/peripheral.ts";
import { SimulatedPillBox } from "../../drivers/bthome/simulator/box.ts";
import { SimulatedScale } from "../../drivers/scale/simulator/scale.ts";
import type { Block } from "../../drivers/watch/health-log.ts";
import { nordicUart, SimulatedWatch } from "../../drivers/watch/simulator/watch.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { boxes, scale, watch } from "./belongings.ts";
import type { Buffers } from "./buffers.ts";
import { Pauses } from "./pauses.ts";
import { plugIn } from "./plug.ts";
import type { Random } from "./random.ts";
import { blockNow, blocksOf } from "./watch-epochs.ts";
import { batteryOn, composedWeight, dayNumber } from "./weighings.ts";

interface Options {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly file: string;
  readonly buffer: Buffers["watch"];
}

/** State kept between demos on the same data: the pill box continues its count. */
interface Saved {
  readonly count: number;
}

/** The simulated Bluetooth controller, and around it the evening's pill box, the scale and the watch. */
export class DemoAir {
  readonly #controller: HciSimulator;
  readonly #options: Options;
  readonly #pauses: Pauses;
  readonly #box: SimulatedPillBox;
  readonly #scale: SimulatedScale;
  readonly #scaleOnAir: SimulatedPeripheral;
  readonly #watch = new SimulatedWatch();
  readonly #watchOnAir: SimulatedPeripheral;

  private constructor(controller: HciSimulator, options: Options) {
    this.#controller = controller;
    this.#options = options;
    this.#pauses = new Pauses(options.clock);
    this.#box = this.#putBox();
    const now_ms = () => options.clock.now().unix_ms;
    this.#scale = new SimulatedScale({
      manufacturer: scale.vendor,
      model: scale.model,
      battery_percent: batteryOn(dayNumber(now_ms())),
      clock_ms: now_ms,
    });
    this.#scaleOnAir = controller.addPeripheral({
      address: scale.address,
      advertisement: { services: ["181d", "181b"], name: scale.model },
      services: this.#scale.services,
      onDisconnected: () => this.#scale.disconnected(),
    });
    this.#scale.attach(this.#scaleOnAir);
    this.#watch.battery_percent = 71;
    this.#watch.blocks.push(...blocksOf(options.buffer));
    this.#watchOnAir = controller.addPeripheral({
      address: watch.address,
      advertisement: { name: `Bangle.js ${watch.serialnum}` },
      services: nordicUart(this.#watch, () => this.#watchOnAir),
    });
  }

  static async plugIn(options: Options): Promise<DemoAir> {
    const controller = await plugIn("the Bluetooth controller", options.log, (transport) =>
      HciSimulator.listen({ transport }),
    );
    return new DemoAir(controller, options);
  }

  /** Settings for the gateway's `[ble]` section. */
  get section(): { port: string; keys: Record<string, string> } {
    return { port: this.#controller.path, keys: { [boxes.supper.address]: key.toHex() } };
  }

  /** Pills, weighings and a watch that is there to be read, more often than in life, until the controller is unplugged. */
  async live(): Promise<void> {
    while (!this.#controller.scanning && !this.#pauses.stopped) await this.#pauses.pause(scanning_poll_ms);
    await Promise.all([this.#takePills(), this.#weigh(), this.#wear()]);
  }

  async unplug(): Promise<void> {
    this.#pauses.stop();
    this.#save();
    await this.#controller.close();
  }

  #save(): void {
    const saved: Saved = { count: this.#box.count };
    writeFileSync(this.#options.file, JSON.stringify(saved), { mode: 0o600 });
  }

  #putBox(): SimulatedPillBox {
    const { clock, file } = this.#options;
    const { address } = boxes.supper;
    const device = this.#controller.addPeripheral({ address, addressType: "public" });
    const saved: Saved = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { count: 0 };
    return new SimulatedPillBox({
      address,
      key,
      clock_s: () => Math.floor(clock.now().unix_ms / 1000),
      battery_percent: 84,
      count: saved.count,
      send: (serviceData) => {
        device.say({ serviceData: { fcd2: serviceData } });
        device.advertise();
      },
    });
  }

  /** A door that is opened is closed again. */
  async #takePills(): Promise<void> {
    // Heard before anything has happened, so that the first door is not taken for an old one.
    this.#box.heartbeat();
    for (let wait_ms = first_dose_ms; ; wait_ms = this.#options.random.between(25_000, 60_000)) {
      await this.#pauses.pause(wait_ms);
      if (this.#pauses.stopped) return;
      const today = new Date(this.#options.clock.now().unix_ms).getDay();
      this.#turn(today);
      await this.#pauses.pause(this.#options.random.between(4_000, 9_000));
      if (this.#pauses.stopped) return;
      this.#turn(today);
    }
  }

  /** Its count is saved at once, so that it continues after a demo that was killed. */
  #turn(door: number): void {
    this.#box.turn(door);
    this.#save();
  }

  /** Somebody steps on the scale, which then wants to be heard. */
  async #weigh(): Promise<void> {
    const { clock, random } = this.#options;
    for (let wait_ms = first_weighing_ms; ; wait_ms = random.between(60_000, 120_000)) {
      await this.#pauses.pause(wait_ms);
      if (this.#pauses.stopped) return;
      const now_ms = clock.now().unix_ms;
      const { weight, fatMass, waterMass, boneMass, muscleMass } = composedWeight(dayNumber(now_ms), random);
      const shown_ms = Math.floor(now_ms / 1000) * 1000;
      this.#scale.weigh({
        weight: { weight_g: weight, shown_ms },
        compositions: [
          {
            shown_ms,
            multiplePackets: false,
            fat_percent: (fatMass / weight) * 100,
            softLean_g: weight - fatMass - boneMass,
            muscle_g: muscleMass,
            water_g: waterMass,
          },
        ],
        heartRates: [Math.round(random.between(62, 76))],
      });
      for (let tries = 0; tries < advertisements_max && this.#scale.stored.length > 0; tries++) {
        if (this.#pauses.stopped) return;
        this.#scaleOnAir.advertise();
        await this.#pauses.pause(advertising_ms);
      }
    }
  }

  /** Advertises, for the hourly fetch, and writes its log on. */
  async #wear(): Promise<void> {
    const { clock, random } = this.#options;
    while (!this.#pauses.stopped) {
      const now_ms = clock.now().unix_ms;
      const last_ms = this.#watch.blocks.at(-1)?.end_ms;
      const block = blockNow(now_ms, random);
      if (last_ms === undefined || block.end_ms > last_ms) this.#remember(block);
      this.#watchOnAir.advertise();
      await this.#pauses.pause(watch_advertises_ms);
    }
  }

  #remember(block: Block): void {
    this.#watch.blocks.push(block);
    if (this.#watch.blocks.length > blocks_max) this.#watch.blocks.shift();
  }
}

const key = Uint8Array.fromHex("7e1d0c5b92f34a6880a1c6d2e5479b13");
const first_dose_ms = 6_000;
const first_weighing_ms = 11_000;
const scanning_poll_ms = 100;
const advertising_ms = 500;
const watch_advertises_ms = 4_000;
/** A minute. */
const advertisements_max = 120;
/** Four weeks. */
const blocks_max = 4_032;
