import { HciSimulator } from "../../drivers/ble/simulator/controller.ts";
import type { SimulatedPeripheral } from "../../drivers/ble/simulator/peripheral.ts";
import { SimulatedPillBox } from "../../drivers/bthome/simulator/box.ts";
import { SimulatedScale } from "../../drivers/scale/simulator/scale.ts";
import { nordicUart, SimulatedWatch } from "../../drivers/watch/simulator/watch.ts";
import { boxes, scale, watch } from "./devices.ts";
import type { Buffers } from "./history.ts";
import { type Peripherals, plugIn, save, saved } from "./plug.ts";
import { blockNow } from "./watch-log.ts";
import { batteryOn, composedWeight, dayNumber } from "./weighings.ts";

/** The simulated Bluetooth controller, and around it the evening's pill box, the scale and the watch. */
export class DemoBleDevices {
  readonly #controller: HciSimulator;
  readonly #options: Peripherals;
  readonly #box: SimulatedPillBox;
  readonly #scale: SimulatedScale;
  readonly #scaleRadio: SimulatedPeripheral;
  readonly #watch = new SimulatedWatch();
  readonly #watchRadio: SimulatedPeripheral;

  private constructor(controller: HciSimulator, options: Peripherals & { buffer: Buffers["watch"] }) {
    this.#controller = controller;
    this.#options = options;
    const now_ms = () => options.clock.now().unix_ms;
    const boxRadio = controller.addPeripheral({ address: boxes.supper.address, addressType: "public" });
    this.#box = new SimulatedPillBox({
      address: boxes.supper.address,
      key,
      clock_s: () => Math.floor(now_ms() / 1000),
      battery_percent: 84,
      count: saved<{ count: number }>(options.file)?.count ?? 0,
      send: (serviceData) => {
        boxRadio.say({ serviceData: { fcd2: serviceData } });
        boxRadio.advertise();
      },
    });
    this.#scale = new SimulatedScale({
      manufacturer: scale.vendor,
      model: scale.model,
      battery_percent: batteryOn(dayNumber(now_ms())),
      clock_ms: now_ms,
    });
    this.#scaleRadio = controller.addPeripheral({
      address: scale.address,
      advertisement: { services: ["181d", "181b"], name: scale.model },
      services: this.#scale.services,
      onDisconnected: () => this.#scale.disconnected(),
    });
    this.#scale.attach(this.#scaleRadio);
    this.#watch.battery_percent = 71;
    this.#watch.blocks.push(...options.buffer);
    this.#watchRadio = controller.addPeripheral({
      address: watch.address,
      advertisement: { name: `Bangle.js ${watch.serialnum}` },
      services: nordicUart(this.#watch, () => this.#watchRadio),
    });
  }

  static async plugIn(options: Peripherals & { buffer: Buffers["watch"] }): Promise<DemoBleDevices> {
    const controller = await plugIn("the Bluetooth controller", options.log, (transport) =>
      HciSimulator.listen({ transport }),
    );
    return new DemoBleDevices(controller, options);
  }

  /** Settings for the gateway's `[ble]` section. */
  get section(): { port: string; keys: Record<string, string> } {
    return { port: this.#controller.path, keys: { [boxes.supper.address]: key.toHex() } };
  }

  /** Pills, weighings and a watch that is there to be read, more often than in life, until the controller is unplugged. */
  async live(): Promise<void> {
    const { pauses } = this.#options;
    while (!this.#controller.scanning && (await pauses.pause(scanning_poll_ms)));
    await Promise.all([this.#takePills(), this.#weigh(), this.#wear()]);
  }

  async unplug(): Promise<void> {
    this.#save();
    await this.#controller.close();
  }

  /** The pill box continues its count with the next demo on the same data. */
  #save(): void {
    save(this.#options.file, { count: this.#box.count });
  }

  /** A door that is opened is closed again. */
  async #takePills(): Promise<void> {
    const { clock, random, pauses } = this.#options;
    // Heard before anything has happened, so that the first door is not taken for an old one.
    this.#box.heartbeat();
    for (let wait_ms = first_dose_ms; await pauses.pause(wait_ms); wait_ms = random.between(25_000, 60_000)) {
      const today = new Date(clock.now().unix_ms).getDay();
      this.#turn(today);
      if (await pauses.pause(random.between(4_000, 9_000))) this.#turn(today);
    }
  }

  /** Its count is saved at once, so that it continues after a demo that was killed. */
  #turn(door: number): void {
    this.#box.turn(door);
    this.#save();
  }

  /** Somebody steps on the scale, which then wants to be heard. */
  async #weigh(): Promise<void> {
    const { clock, random, pauses } = this.#options;
    for (
      let wait_ms = first_weighing_ms;
      await pauses.pause(wait_ms);
      wait_ms = random.between(60_000, 120_000)
    ) {
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
        if (pauses.stopped) return;
        this.#scaleRadio.advertise();
        await pauses.pause(advertising_ms);
      }
    }
  }

  /** Advertises, for the hourly fetch, and writes its log on. */
  async #wear(): Promise<void> {
    const { clock, random, pauses } = this.#options;
    const { blocks } = this.#watch;
    do {
      const block = blockNow(clock.now().unix_ms, random);
      if (block.end_ms > (blocks.at(-1)?.end_ms ?? 0)) blocks.push(block);
      if (blocks.length > blocks_max) blocks.shift();
      this.#watchRadio.advertise();
    } while (await pauses.pause(watch_advertises_ms));
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
