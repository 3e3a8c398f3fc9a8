import { HciSimulator } from "../../../../../drivers/ble/simulator/controller.ts";
import type { SimulatedPeripheral } from "../../../../../drivers/ble/simulator/peripheral.ts";
import { SimulatedBox } from "../../../../../drivers/pillbox/simulator/box.ts";
import { BridgeSimulator } from "../../../../../drivers/pillbox/simulator/bridge.ts";
import { nordicUart, SimulatedWatch, WatchSimulator } from "../../../../../drivers/watch/simulator/watch.ts";
import type { Transport } from "../../../../../drivers/wire/simulated-line.ts";
import { ZnpSimulator } from "../../../../../drivers/zigbee/simulator/coordinator.ts";
import type { SimulatedDevice } from "../../../../../drivers/zigbee/simulator/device.ts";
import { clockQuality } from "../../../../../src/base/clock.ts";
import { seededRandom } from "../../../../../testbed/recording-host.ts";
import { below } from "../../../../../testbed/sample.ts";
import type { World } from "../world.ts";
import { AirBox } from "./air-box.ts";
import type { FactBook, Section } from "./fact-book.ts";
import { Scales, s400Key, scaleAddresses } from "./scales.ts";
import type { Fact } from "./truth.ts";
import { type ClimateKind, climateKinds, little, presentValues, watchDoings } from "./wire-values.ts";

interface HouseholdOptions {
  readonly world: World;
  readonly seed: number;
  readonly random: () => number;
  readonly lines: Readonly<Record<Section, Transport>>;
  readonly book: FactBook;
  /** Whether the gateway has known the time since it started. */
  readonly knowsTime: () => boolean;
}

const addresses = {
  wall: "00:0d:6f:00:00:00:30:41",
  door: "00:0d:6f:00:00:00:30:11",
  curtain: "00:0d:6f:00:00:00:30:45",
  climate: "00:0d:6f:00:00:00:04:02",
  mainsBox: "c0:ff:ee:00:00:01",
  batteryBox: "c0:ff:ee:00:00:02",
  airBox: "54:48:e6:00:00:01",
  secretBox: "54:48:e6:00:00:02",
  airClimate: "54:48:e6:00:00:03",
  bleWatch: "c0:ff:ee:00:00:09",
  wireWatch: "c0:ff:ee:00:00:0a",
} as const;

const keys = {
  [addresses.secretBox]: "231d39c1d7cc1ab1aee224cd096db932",
  [scaleAddresses.s400]: s400Key,
} as const;

/** A home of devices of every kind, which tells the bytes of whatever happens in it and keeps a record of it. */
export class Household {
  readonly stick: ZnpSimulator;
  readonly controller: HciSimulator;
  readonly bridge: BridgeSimulator;
  readonly wire: WatchSimulator;
  readonly #options: HouseholdOptions;
  readonly #book: FactBook;
  readonly #zigbee: Readonly<Record<"wall" | "door" | "curtain" | "climate", SimulatedDevice>>;
  readonly #boxes: Readonly<Record<"mainsBox" | "batteryBox", SimulatedBox>>;
  readonly #airBoxes: Readonly<Record<"airBox" | "secretBox", AirBox>>;
  readonly #onAir: Readonly<Record<"airClimate" | "bleWatch", SimulatedPeripheral>>;
  readonly #scales: Scales;
  readonly #bleWatch = new SimulatedWatch();
  /** Of each Zigbee sensor, the fact of its last status, and who heard it. */
  readonly #statuses = new Map<string, { readonly fact: Fact; readonly heard: boolean }>();
  #packet = 0;

  private constructor(
    options: HouseholdOptions,
    made: { stick: ZnpSimulator; controller: HciSimulator; bridge: BridgeSimulator; wire: WatchSimulator },
  ) {
    const { world, random } = options;
    this.#options = options;
    this.#book = options.book;
    this.stick = made.stick;
    this.controller = made.controller;
    this.bridge = made.bridge;
    this.wire = made.wire;
    const device = (model: string, ieee: string) => made.stick.addDevice({ model, ieee });
    this.#zigbee = {
      wall: device("3041", addresses.wall),
      door: device("3011", addresses.door),
      curtain: device("3045", addresses.curtain),
      climate: device("climate", addresses.climate),
    };
    const now_ms = () => world.now_ms;
    const drift_ppm = () => below(random, 100) - 50;
    this.#boxes = {
      mainsBox: new SimulatedBox({
        mac: addresses.mainsBox,
        now_ms,
        ahead_ms: below(random, 40_000),
        drift_ppm: drift_ppm(),
      }),
      batteryBox: new SimulatedBox({
        mac: addresses.batteryBox,
        now_ms,
        ahead_ms: below(random, 40_000) - 20_000,
        drift_ppm: drift_ppm(),
        power: "battery",
        window: { every_s: 4 * 3_600, length_s: 600 },
      }),
    };
    made.bridge.boxes.push(...Object.values(this.#boxes));
    made.bridge.onReply = (reply) => {
      if (reply.type === "status" && "status" in reply) this.#status(reply.mac, reply.status);
      return true;
    };
    const { controller } = made;
    this.#airBoxes = {
      airBox: new AirBox(controller, { address: addresses.airBox, world, ahead_s: 0 }),
      secretBox: new AirBox(controller, {
        address: addresses.secretBox,
        world,
        ahead_s: below(random, 7_200) - 3_600,
        key: Uint8Array.fromHex(keys[addresses.secretBox]),
      }),
    };
    this.#scales = new Scales(controller, world, options.book);
    this.#onAir = {
      airClimate: controller.addPeripheral({ address: addresses.airClimate }),
      bleWatch: controller.addPeripheral({
        address: addresses.bleWatch,
        advertisement: { name: "Bangle.js c0ff" },
        services: nordicUart(this.#bleWatch, () => this.#onAir.bleWatch),
      }),
    };
  }

  static async make(options: HouseholdOptions): Promise<Household> {
    const { world, lines, seed } = options;
    const clock = {
      boot: "stick",
      now: () => ({ unix_ms: world.now_ms, monotonic_ms: world.now_ms, quality: clockQuality.synchronised }),
      after: (delay_ms: number, action: () => void) => world.after(delay_ms, action),
    };
    const random = seededRandom(seed + 1);
    return new Household(options, {
      stick: await ZnpSimulator.listen({ transport: lines.zigbee, random, clock }),
      controller: await HciSimulator.listen({ transport: lines.ble }),
      bridge: await BridgeSimulator.listen({ transport: lines.pillbox, random: options.random }),
      wire: await WatchSimulator.listen({ transport: lines.watch }),
    });
  }

  /** Sections of the gateway's configuration. */
  static sections(lines: Readonly<Record<Section, Transport>>): ReadonlyMap<string, unknown> {
    return new Map<string, unknown>([
      ["zigbee", { port: lines.zigbee.path, adapter: "zstack" }],
      ["pillbox", { port: lines.pillbox.path }],
      ["watch", { port: lines.watch.path, address: addresses.wireWatch }],
      ["ble", { port: lines.ble.path, keys, scale: {} }],
    ]);
  }

  /** All devices ask to be let in. */
  join(): void {
    for (const device of Object.values(this.#zigbee)) device.join();
    // Who lets a sensor in asks for its present values (attributes of its model).
    for (const [quantity, value, unit] of presentValues)
      this.#book.told(
        this.#book.live(addresses.climate, "wirelesssensor_measures", { quantity, value, unit }),
        "zigbee",
      );
    this.#book.told(this.#book.live(addresses.climate, "wirelesssensor_events", { event: 0 }), "zigbee");
    this.#broadcastClimate(this.#options.random);
    for (const box of Object.values(this.#airBoxes)) this.#turn(box, 0);
    this.#scales.join();
    for (const device of Object.values(this.#onAir)) device.advertise();
  }

  /** Happens by itself: broadcasts of devices that wait for a connection, and passers-by. */
  hum(): void {
    this.controller.passBy({ address: "d0:5e:00:00:00:01", advertisement: { name: "phone" } });
    this.#scales.hum();
    this.#onAir.bleWatch.advertise();
  }

  // What people do.

  /** Somebody moves, a door opens or closes, a sensor is taken off. */
  sense(random: () => number): void {
    const name = (["wall", "door", "curtain"] as const)[below(random, 3)] ?? "wall";
    const alarm = name === "door" ? 1 : 2;
    const status = 0x30 | (random() < 0.6 ? alarm : 0) | (random() < 0.1 ? 4 : 0) | (random() < 0.1 ? 8 : 0);
    this.#notify(name, status, random() < 0.2 ? below(random, 40) : 0);
  }

  /** The sign of life that sensors send every two hours. */
  heartbeats(): void {
    for (const name of ["wall", "door", "curtain"] as const)
      this.#notify(name, this.#zigbee[name].zonestatus, 0);
    for (const box of Object.values(this.#airBoxes)) {
      const heard = box.heartbeat() && this.#book.listens("ble");
      // Only now is a change heard whose own broadcasts were not.
      if (!heard || box.fact === undefined || box.fact.owed) continue;
      // Nobody can say how long ago it was before the time is known: it gets that of the arrival.
      if (!this.#options.knowsTime())
        box.fact.within_ms = Math.max(box.fact.within_ms, this.#options.world.now_ms - box.fact.at_ms);
      this.#book.hear(box.fact, true);
    }
  }

  /** Temperature, humidity, light, pressure or power at a Zigbee sensor changes; now and then it cannot tell. */
  measure(random: () => number): void {
    const kind = climateKinds[below(random, climateKinds.length)] as ClimateKind;
    const [raw, value] = kind.draw(random);
    const heard = this.#zigbee.climate.report(kind.cluster, [
      [kind.attribute, { type: kind.type, value: raw }],
    ]);
    if (value === undefined) return;
    const values = { quantity: kind.quantity, value, unit: kind.unit };
    this.#book.told(this.#book.live(addresses.climate, "wirelesssensor_measures", values), "zigbee", heard);
  }

  /** A sensor on Bluetooth measures. */
  airMeasure(random: () => number): void {
    this.#broadcastClimate(random);
  }

  /** A door of a pill box opens or closes. */
  takePill(random: () => number): void {
    const draw = below(random, 4);
    if (draw < 2) {
      const box = this.#boxes[draw === 0 ? "mainsBox" : "batteryBox"];
      box.door(below(random, 7), random() < 0.6);
      const doors = box.history.at(-1)?.doors ?? 0;
      this.#book.keeps({
        address: box.mac,
        series: "pillbox_events",
        at_ms: this.#options.world.now_ms,
        values: { event: doors },
        within_ms: 2_000,
        dated: "device",
      });
    } else this.#turn(this.#airBoxes[draw === 2 ? "airBox" : "secretBox"], below(random, 7));
  }

  /** Somebody steps on a scale. */
  weigh(random: () => number): void {
    this.#scales.weigh(random);
  }

  /** Ten minutes of both watches are over. */
  watchBlock(): void {
    const { world, random } = this.#options;
    const end_ms = Math.round(world.now_ms / 600_000) * 600_000;
    for (const [watch, address] of [
      [this.#bleWatch, addresses.bleWatch],
      [this.wire.watch, addresses.wireWatch],
    ] as const) {
      const activity = watchDoings[below(random, watchDoings.length)] as (typeof watchDoings)[number];
      const steps = activity.steps_max === 0 ? 0 : below(random, activity.steps_max);
      watch.blocks.push({ end_ms, steps, activity: activity.name });
      if (activity.states === undefined) continue;
      const distance = Math.round(steps * 70) / 100;
      this.#book.keeps({
        address,
        series: "watch_epochs",
        at_ms: end_ms - 600_000,
        values: { duration: 600, distance, steps, ...activity.states },
        within_ms: 0,
        dated: "device",
      });
    }
  }

  /** The gateway is another process from now on, which may take a sign of life for news. */
  forgotten(): void {
    this.#statuses.clear();
  }

  // How it is told.

  #notify(name: "wall" | "door" | "curtain", status: number, delay_quarter_s: number): void {
    const { world } = this.#options;
    const device = this.#zigbee[name];
    const fact: Fact = {
      ...this.#book.live(addresses[name], "wirelesssensor_events", { event: status }),
      at_ms: world.now_ms - delay_quarter_s * 250,
    };
    const last = this.#statuses.get(name);
    const heard = device.notify(status, { delay_quarter_s }) && this.#book.listens("zigbee");
    if (heard) this.#book.sign(addresses[name]);
    // A sign of life says what is known; after a start nobody may know it.
    const same = last?.fact.values["event"] === status && status === 0x30;
    if (same && last.heard && world.now_ms - last.fact.at_ms > 700_000) {
      this.#statuses.set(name, { fact, heard });
      return;
    }
    this.#statuses.set(name, { fact, heard });
    this.#book.facts.push(fact);
    const isNews = last?.heard === true && last.fact.values["event"] !== status;
    if (heard) this.#book.hear(fact, isNews || status !== 0x30);
  }

  /** A box tells its status. */
  #status(mac: string, status: ReturnType<SimulatedBox["status"]>): void {
    const { devicestamp, eventcount, nextpanicstart, nextpanicstop } = status;
    const values = {
      ...{ devicestamp, eventcount, nextpanicstart, nextpanicstop, macaddress: mac },
      voltage: status.voltage_mv,
      powersource: status.power,
      batteryseconds: String(status.batteryseconds),
      firmwarerevsion: status.firmware,
    };
    this.#book.told(this.#book.stamped(mac, "pillbox_status", values), "pillbox");
  }

  #turn(box: AirBox, door: number): void {
    const heard = box.turn(door) && this.#book.listens("ble");
    const fact: Fact = {
      ...this.#book.live(box.address, "pillbox_events", { event: box.doors }),
      within_ms: 3_000,
      unmeasured_ms: Math.abs(box.ahead_s) * 1_000,
      dated: "either",
    };
    this.#book.facts.push(fact);
    box.fact = fact;
    if (heard) this.#book.hear(fact, true);
  }

  #broadcastClimate(random: () => number): void {
    this.#packet = (this.#packet + 1) % 256;
    const temperature = below(random, 6_000) - 2_000;
    const humidity = below(random, 10_001);
    const pressure = 95_000 + below(random, 10_000);
    const illuminance = below(random, 10_000_000);
    // https://bthome.io/format: packet id, °C × 100 signed, % × 100, hPa × 100, lx × 100.
    const bytes = [
      ...[0x44, 0x00, this.#packet],
      ...[0x02, ...little(temperature, 2), 0x03, ...little(humidity, 2)],
      ...[0x04, ...little(pressure, 3), 0x05, ...little(illuminance, 3)],
    ];
    const device = this.#onAir.airClimate;
    device.say({ serviceData: { fcd2: Uint8Array.from(bytes) } });
    const heard = [1, 2, 3].map(() => device.advertise()).includes(true);
    for (const [quantity, value, unit] of [
      ["temperature", temperature / 100, "°C"],
      ["humidity", humidity / 100, "%"],
      ["pressure", pressure / 100, "hPa"],
      ["illuminance", illuminance / 100, "lx"],
    ] as const)
      this.#book.told(
        this.#book.live(addresses.airClimate, "wirelesssensor_measures", { quantity, value, unit }),
        "ble",
        heard,
      );
  }
}
