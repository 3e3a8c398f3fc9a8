import type { HciSimulator } from "../../../../../drivers/ble/simulator/controller.ts";
import type { SimulatedPeripheral } from "../../../../../drivers/ble/simulator/peripheral.ts";
import { SimulatedScale, s400Weighing } from "../../../../../drivers/scale/simulator/scale.ts";
import { below } from "../../../../../testbed/sample.ts";
import type { World } from "../world.ts";
import type { FactBook } from "./fact-book.ts";
import { little } from "./wire-values.ts";

export const scaleAddresses = {
  standard: "c0:ff:ee:00:18:1d",
  mi: "c0:ff:ee:00:18:1b",
  s400: "84:46:93:64:a5:e6",
} as const;
export const s400Key = "58305740b64e4b425e518aa1f4e51339";

/** A standard scale, which keeps its weighings until they are read, and two that broadcast them. */
export class Scales {
  readonly #world: World;
  readonly #book: FactBook;
  readonly #standard: SimulatedScale;
  readonly #onAir: SimulatedPeripheral;
  readonly #mi: SimulatedPeripheral;
  readonly #s400: SimulatedPeripheral;
  #number = 0;
  #stepped_ms = 0;

  constructor(controller: HciSimulator, world: World, book: FactBook) {
    this.#world = world;
    this.#book = book;
    const scale = new SimulatedScale({ clock_ms: () => Math.floor(world.now_ms / 1_000) * 1_000 });
    this.#standard = scale;
    this.#onAir = controller.addPeripheral({
      address: scaleAddresses.standard,
      advertisement: { services: ["181d"] },
      services: scale.services,
      onDisconnected: () => scale.disconnected(),
    });
    scale.attach(this.#onAir);
    this.#mi = controller.addPeripheral({ address: scaleAddresses.mi });
    this.#s400 = controller.addPeripheral({ address: scaleAddresses.s400 });
  }

  /** All are heard, whether they have something to tell or not. */
  join(): void {
    this.mi(70_000);
    this.#onAir.advertise();
  }

  /** The one that keeps its weighings waits for a connection. */
  hum(): void {
    if (this.#standard.stored.length > 0) this.#onAir.advertise();
  }

  /** Somebody steps on one of them. */
  weigh(random: () => number): void {
    // What people do in a power cut is made up for at once at its end, but nobody steps on a scale twice in a minute.
    if (this.#world.now_ms - this.#stepped_ms < 60_000) return;
    this.#stepped_ms = this.#world.now_ms;
    const draw = below(random, 3);
    if (draw === 0) this.standard(random);
    else if (draw === 1) this.mi(40_000 + 5 * below(random, 12_000));
    else this.s400(40_000 + 100 * below(random, 600), 51 + below(random, 100));
  }

  /** Weight and composition, which the scale keeps until each is confirmed; its pulse is told once. */
  standard(random: () => number): void {
    const world = this.#world;
    const weight_g = 5 * (8_000 + below(random, 12_000));
    const fat = 100 + below(random, 300);
    const water_g = 5 * (4_000 + below(random, 4_000));
    const muscle_g = 5 * (4_000 + below(random, 4_000));
    // Bones are what is left.
    const softLean_g = 5 * Math.round((weight_g - (weight_g * fat) / 1_000) / 5 - below(random, 800));
    const shown_ms = Math.floor(world.now_ms / 1_000) * 1_000 + (this.#standard.setBy_ms ?? 0);
    const fatMass = Math.round((weight_g * fat) / 1_000);
    this.#book.keeps({
      address: scaleAddresses.standard,
      series: "scale_weights",
      at_ms: world.now_ms,
      values: {
        weight: weight_g,
        fatMass,
        waterMass: water_g,
        muscleMass: muscle_g,
        boneMass: Math.round(weight_g - (weight_g * fat) / 1_000 - softLean_g),
      },
      within_ms: 2_000,
      dated: "either",
    });
    this.#standard.weigh({
      weight: { weight_g, shown_ms },
      compositions: [
        { multiplePackets: false, shown_ms, fat_percent: fat / 10, water_g, muscle_g, softLean_g },
      ],
    });
  }

  /** Xiaomi v2: 181B, control, control, time, impedance, weight × 200. */
  mi(weight_g: number): void {
    const world = this.#world;
    const device = this.#mi;
    const date = new Date(world.now_ms);
    const time = [
      ...little(date.getUTCFullYear(), 2),
      ...[date.getUTCMonth() + 1, date.getUTCDate()],
      ...[date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()],
    ];
    const packet = (control: number, of_g: number) =>
      Uint8Array.from([0x02, control, ...time, ...little(500, 2), ...little(of_g / 5, 2)]);
    let heard = false;
    for (const bytes of [
      packet(0x04, weight_g - 1_000),
      packet(0x24, weight_g),
      packet(0x26, weight_g),
      packet(0xa6, weight_g),
    ]) {
      device.say({ serviceData: { "181b": bytes } });
      heard = device.advertise() || heard;
    }
    const values = { weight: weight_g, fatMass: null, waterMass: null, boneMass: null, muscleMass: null };
    this.#book.told(this.#book.stamped(scaleAddresses.mi, "scale_weights", values), "ble", heard);
  }

  /** An S400 tells weight, and weight with pulse. */
  s400(weight_g: number, heartRate: number): void {
    const world = this.#world;
    const device = this.#s400;
    const sender = {
      address: Uint8Array.fromHex(scaleAddresses.s400.replaceAll(":", "")),
      key: Uint8Array.fromHex(s400Key),
    };
    const weighing = {
      profile: 1,
      stamp_s: Math.floor(world.now_ms / 1_000),
      weight_g,
      heartRate,
      impedance_ohm: 500,
    };
    let heard = false;
    for (const bytes of s400Weighing(weighing, sender, this.#number)) {
      device.say({ serviceData: { fe95: bytes } });
      heard = device.advertise() || heard;
    }
    this.#number += 5;
    const values = { weight: weight_g, fatMass: null, waterMass: null, boneMass: null, muscleMass: null };
    this.#book.told(this.#book.stamped(scaleAddresses.s400, "scale_weights", values), "ble", heard);
    this.#book.told(this.#book.stamped(scaleAddresses.s400, "scale_heart", { heartRate }), "ble", heard);
  }
}
