import { HciSimulator } from "../../../../../drivers/ble/simulator/controller.ts";
import type { SimulatedPeripheral } from "../../../../../drivers/ble/simulator/peripheral.ts";
import { SimulatedPillBox } from "../../../../../drivers/bthome/simulator/box.ts";
import { SimulatedBox } from "../../../../../drivers/pillbox/simulator/box.ts";
import { BridgeSimulator } from "../../../../../drivers/pillbox/simulator/bridge.ts";
import { SimulatedScale, s400Weighing } from "../../../../../drivers/scale/simulator/scale.ts";
import { nordicUart, SimulatedWatch, WatchSimulator } from "../../../../../drivers/watch/simulator/watch.ts";
import type { Transport } from "../../../../../drivers/wire/simulated-line.ts";
import { ZnpSimulator } from "../../../../../drivers/zigbee/simulator/coordinator.ts";
import type { SimulatedDevice } from "../../../../../drivers/zigbee/simulator/device.ts";
import { clockQuality } from "../../../../../src/base/clock.ts";
import { seededRandom } from "../../../../../testbed/recording-host.ts";
import { below } from "../../../../../testbed/sample.ts";
import type { World } from "../world.ts";
import type { Fact, Stretch, Values } from "./truth.ts";

/** Lines of the drivers, by their sections. */
export const sectionNames = ["zigbee", "ble", "pillbox", "watch"] as const;
export type Section = (typeof sectionNames)[number];

interface HouseholdOptions {
  readonly world: World;
  readonly seed: number;
  readonly random: () => number;
  readonly lines: Readonly<Record<Section, Transport>>;
  /** Whether the gateway's driver hears its devices now. */
  readonly listens: (section: Section) => boolean;
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
  scale: "c0:ff:ee:00:18:1d",
  miScale: "c0:ff:ee:00:18:1b",
  s400: "84:46:93:64:a5:e6",
  bleWatch: "c0:ff:ee:00:00:09",
  wireWatch: "c0:ff:ee:00:00:0a",
} as const;

const keys = {
  [addresses.secretBox]: "231d39c1d7cc1ab1aee224cd096db932",
  [addresses.s400]: "58305740b64e4b425e518aa1f4e51339",
} as const;

/** A home of devices of every kind, which tells the bytes of whatever happens in it and keeps a record of it. */
export class Household {
  readonly facts: Fact[] = [];
  /** Stretches of which a device says itself that there is nothing, or that something is missing. */
  readonly notWorn: (Stretch & { readonly address: string })[] = [];
  readonly stick: ZnpSimulator;
  readonly controller: HciSimulator;
  readonly bridge: BridgeSimulator;
  readonly wire: WatchSimulator;
  readonly #options: HouseholdOptions;
  readonly #zigbee: Readonly<Record<"wall" | "door" | "curtain" | "climate", SimulatedDevice>>;
  readonly #boxes: Readonly<Record<"mainsBox" | "batteryBox", SimulatedBox>>;
  readonly #airBoxes: Readonly<Record<"airBox" | "secretBox", AirBox>>;
  readonly #onAir: Readonly<
    Record<"airClimate" | "scale" | "miScale" | "s400" | "bleWatch", SimulatedPeripheral>
  >;
  readonly #scale: SimulatedScale;
  readonly #bleWatch = new SimulatedWatch();
  /** Of each Zigbee sensor, the fact of its last status, and who heard it. */
  readonly #statuses = new Map<string, { readonly fact: Fact; readonly heard: boolean }>();
  #packet = 0;
  #s400Number = 0;
  #weighings = 0;

  private constructor(
    options: HouseholdOptions,
    made: { stick: ZnpSimulator; controller: HciSimulator; bridge: BridgeSimulator; wire: WatchSimulator },
  ) {
    const { world, random } = options;
    this.#options = options;
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
    this.#scale = new SimulatedScale({ clock_ms: () => Math.floor(world.now_ms / 1_000) * 1_000 });
    this.#onAir = {
      airClimate: controller.addPeripheral({ address: addresses.airClimate }),
      scale: controller.addPeripheral({
        address: addresses.scale,
        advertisement: { services: ["181d"] },
        services: this.#scale.services,
        onDisconnected: () => this.#scale.disconnected(),
      }),
      miScale: controller.addPeripheral({ address: addresses.miScale }),
      s400: controller.addPeripheral({ address: addresses.s400 }),
      bleWatch: controller.addPeripheral({
        address: addresses.bleWatch,
        advertisement: { name: "Bangle.js c0ff" },
        services: nordicUart(this.#bleWatch, () => this.#onAir.bleWatch),
      }),
    };
    this.#scale.attach(this.#onAir.scale);
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
      this.#told(
        this.#liveFact(addresses.climate, "wirelesssensor_measures", { quantity, value, unit }),
        "zigbee",
      );
    this.#told(this.#liveFact(addresses.climate, "wirelesssensor_events", { event: 0 }), "zigbee");
    this.#broadcastClimate(this.#options.random);
    for (const box of Object.values(this.#airBoxes)) this.#turn(box, 0);
    this.#broadcastMi(70_000);
    for (const device of Object.values(this.#onAir)) device.advertise();
  }

  /** What happens by itself: broadcasts of devices that wait for a connection, and passers-by. */
  hum(): void {
    this.controller.passBy({ address: "d0:5e:00:00:00:01", advertisement: { name: "phone" } });
    if (this.#scale.stored.length > 0) this.#onAir.scale.advertise();
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
      const heard = box.heartbeat() && this.#options.listens("ble");
      // Only now is a change heard whose own broadcasts were not.
      if (heard && box.fact !== undefined && !box.fact.owed) this.#hear(box.fact, true);
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
    this.#told(this.#liveFact(addresses.climate, "wirelesssensor_measures", values), "zigbee", heard);
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
      this.facts.push({
        address: box.mac,
        series: "pillbox_events",
        at_ms: this.#options.world.now_ms,
        values: { event: doors },
        within_ms: 2_000,
        dated: "device",
        told_ms: [],
        owed: true,
      });
    } else this.#turn(this.#airBoxes[draw === 2 ? "airBox" : "secretBox"], below(random, 7));
  }

  /** Somebody steps on a scale. */
  weigh(random: () => number): void {
    const draw = below(random, 3);
    if (draw === 0) this.#weighStandard(random);
    else if (draw === 1) this.#broadcastMi(40_000 + 5 * below(random, 12_000));
    else this.#broadcastS400(40_000 + 100 * below(random, 600), 51 + below(random, 100));
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
      if (activity.states === undefined) {
        this.notWorn.push({ address, from_ms: end_ms - 600_000, to_ms: end_ms });
        continue;
      }
      const distance = Math.round(steps * 70) / 100;
      this.facts.push({
        address,
        series: "watch_epochs",
        at_ms: end_ms - 600_000,
        values: { duration: 600, distance, steps, ...activity.states },
        within_ms: 0,
        dated: "device",
        told_ms: [],
        owed: true,
      });
    }
  }

  /** The gateway's process is gone: what it heard since then need not be there. */
  crashed(since_ms: number): void {
    for (const fact of this.facts)
      if (fact.dated !== "device" && (fact.told_ms.at(-1) ?? 0) >= since_ms && isLive(fact))
        fact.owed = false;
    this.#statuses.clear();
  }

  /** The gateway's process was ended in order: what it heard is there, and the next one may take a sign of life for news. */
  restarted(): void {
    this.#statuses.clear();
  }

  // How it is told.

  #notify(name: "wall" | "door" | "curtain", status: number, delay_quarter_s: number): void {
    const { world } = this.#options;
    const device = this.#zigbee[name];
    const fact: Fact = {
      ...this.#liveFact(addresses[name], "wirelesssensor_events", { event: status }),
      at_ms: world.now_ms - delay_quarter_s * 250,
    };
    const last = this.#statuses.get(name);
    const heard = device.notify(status, { delay_quarter_s }) && this.#options.listens("zigbee");
    // A sign of life says what is known; after a start nobody may know it.
    const same = last?.fact.values["event"] === status && status === 0x30;
    if (same && last.heard && world.now_ms - last.fact.at_ms > 700_000) {
      this.#statuses.set(name, { fact, heard });
      return;
    }
    this.#statuses.set(name, { fact, heard });
    this.facts.push(fact);
    const isNews = last?.heard === true && last.fact.values["event"] !== status;
    if (heard) this.#hear(fact, isNews || status !== 0x30);
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
    this.#told(this.#stampedFact(mac, "pillbox_status", values), "pillbox");
  }

  #turn(box: AirBox, door: number): void {
    const heard = box.turn(door) && this.#options.listens("ble");
    const fact: Fact = {
      ...this.#liveFact(box.address, "pillbox_events", { event: box.doors }),
      // The first that a gateway hears of it may be dated by its clock, which nobody has measured yet.
      within_ms: 3_000 + (box.fact === undefined ? Math.abs(box.ahead_s) * 1_000 : 0),
      dated: "either",
    };
    this.facts.push(fact);
    box.fact = fact;
    if (heard) this.#hear(fact, true);
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
      this.#told(
        this.#liveFact(addresses.airClimate, "wirelesssensor_measures", { quantity, value, unit }),
        "ble",
        heard,
      );
  }

  /** Weight and composition, which the scale keeps until each is confirmed; its pulse is told once. */
  #weighStandard(random: () => number): void {
    const { world } = this.#options;
    const weight_g = 5 * (8_000 + below(random, 12_000));
    const fat = 100 + below(random, 300);
    const water_g = 5 * (4_000 + below(random, 4_000));
    const muscle_g = 5 * (4_000 + below(random, 4_000));
    // Bones are what is left.
    const softLean_g = 5 * Math.round((weight_g - (weight_g * fat) / 1_000) / 5 - below(random, 800));
    const shown_ms = Math.floor(world.now_ms / 1_000) * 1_000 + (this.#scale.setBy_ms ?? 0);
    const fatMass = Math.round((weight_g * fat) / 1_000);
    this.#weighings += 1;
    this.facts.push({
      address: addresses.scale,
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
      told_ms: [],
      owed: true,
    });
    this.#scale.weigh({
      weight: { weight_g, shown_ms },
      compositions: [
        { multiplePackets: false, shown_ms, fat_percent: fat / 10, water_g, muscle_g, softLean_g },
      ],
    });
  }

  /** Xiaomi v2: 181B, control, control, time, impedance, weight × 200. */
  #broadcastMi(weight_g: number): void {
    const { world } = this.#options;
    const device = this.#onAir.miScale;
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
    this.#told(this.#stampedFact(addresses.miScale, "scale_weights", values), "ble", heard);
  }

  #broadcastS400(weight_g: number, heartRate: number): void {
    const { world } = this.#options;
    const device = this.#onAir.s400;
    const sender = {
      address: Uint8Array.fromHex(addresses.s400.replaceAll(":", "")),
      key: Uint8Array.fromHex(keys[addresses.s400]),
    };
    const weighing = {
      profile: 1,
      stamp_s: Math.floor(world.now_ms / 1_000),
      weight_g,
      heartRate,
      impedance_ohm: 500,
    };
    let heard = false;
    for (const bytes of s400Weighing(weighing, sender, this.#s400Number)) {
      device.say({ serviceData: { fe95: bytes } });
      heard = device.advertise() || heard;
    }
    this.#s400Number += 5;
    const values = { weight: weight_g, fatMass: null, waterMass: null, boneMass: null, muscleMass: null };
    this.#told(this.#stampedFact(addresses.s400, "scale_weights", values), "ble", heard);
    this.#told(this.#stampedFact(addresses.s400, "scale_heart", { heartRate }), "ble", heard);
  }

  #liveFact(address: string, series: string, values: Values): Fact {
    const { now_ms } = this.#options.world;
    return { address, series, at_ms: now_ms, values, within_ms: 0, dated: "live", told_ms: [], owed: false };
  }

  #stampedFact(address: string, series: string, values: Values): Fact {
    return { ...this.#liveFact(address, series, values), dated: "stamped" };
  }

  /** Keeps a fact that is told once. */
  #told(fact: Fact, section: Section, heard = true): void {
    this.facts.push(fact);
    if (heard && this.#options.listens(section)) this.#hear(fact, true);
    // A driver that is just starting may hear it.
    else fact.told_ms.push(this.#options.world.now_ms);
  }

  #hear(fact: Fact, owed: boolean): void {
    fact.told_ms.push(this.#options.world.now_ms);
    fact.owed = owed;
  }
}

/** What only the air carries is lost with a process that has it in memory. A standard scale keeps a weighing. */
function isLive({ address, series }: Fact): boolean {
  return address !== addresses.scale || series === "scale_heart";
}

/** A broadcasting pill box on the air. */
class AirBox {
  readonly address: string;
  /** How far its clock is ahead. */
  readonly ahead_s: number;
  /** Of its last change. */
  fact: Fact | undefined;
  readonly #box: SimulatedPillBox;
  #heard = false;

  constructor(
    controller: HciSimulator,
    of: { address: string; world: World; ahead_s: number; key?: Uint8Array },
  ) {
    const { address, world, ahead_s, key } = of;
    this.address = address;
    this.ahead_s = ahead_s;
    const onAir = controller.addPeripheral({ address });
    this.#box = new SimulatedPillBox({
      address,
      clock_s: () => Math.floor(world.now_ms / 1_000) + ahead_s,
      send: (bytes) => {
        onAir.say({ serviceData: { fcd2: bytes } });
        this.#heard = onAir.advertise() || this.#heard;
      },
      ...(key === undefined ? {} : { key }),
    });
  }

  get doors(): number {
    return this.#box.doors;
  }

  /** Answers whether somebody scanned. */
  turn(door: number): boolean {
    this.#heard = false;
    this.#box.turn(door);
    return this.#heard;
  }

  heartbeat(): boolean {
    this.#heard = false;
    this.#box.heartbeat();
    return this.#heard;
  }
}

function little(value: number, bytes: number): number[] {
  return Array.from({ length: bytes }, (_, index) => Math.floor(value / 256 ** index) & 0xff);
}

/** What a Zigbee sensor measures: on the wire, and in the unit of the quantity; undefined for what is no value. */
interface ClimateKind {
  readonly cluster: number;
  readonly attribute: number;
  readonly type: "s16" | "u16";
  readonly quantity: string;
  readonly unit: string;
  draw(random: () => number): readonly [raw: number, value: number | undefined];
}

/** One value in ten is that which says that there is none. */
function orNone(random: () => number, none: number, raw: number, value: number) {
  return random() < 0.1 ? ([none, undefined] as const) : ([raw, value] as const);
}

/** By the ZCL: 4.4, 4.7, 4.2, 4.5. */
const climateKinds: readonly ClimateKind[] = [
  {
    ...{ cluster: 0x0402, attribute: 0, type: "s16", quantity: "temperature", unit: "°C" },
    draw: (random) => {
      const raw = below(random, 8_000) - 3_000;
      return orNone(random, -0x8000, raw, raw / 100);
    },
  },
  {
    ...{ cluster: 0x0405, attribute: 0, type: "u16", quantity: "humidity", unit: "%" },
    draw: (random) => {
      const raw = below(random, 10_001);
      return orNone(random, 0xffff, raw, raw / 100);
    },
  },
  {
    ...{ cluster: 0x0400, attribute: 0, type: "u16", quantity: "illuminance", unit: "lx" },
    draw: (random) => {
      const power = below(random, 6);
      return orNone(random, 0xffff, power * 10_000 + 1, 10 ** power);
    },
  },
  {
    ...{ cluster: 0x0403, attribute: 0, type: "s16", quantity: "pressure", unit: "hPa" },
    draw: (random) => {
      const raw = 900 + below(random, 200);
      return orNone(random, -0x8000, raw, raw);
    },
  },
];

/** Of the simulated sensor: 21.50 °C, 45.20 %, 21761 as 10,000 × log10(lx) + 1, 101.3 kPa, 1.0 × 1 ÷ 10 W. */
const presentValues = [
  ["temperature", 21.5, "°C"],
  ["humidity", 45.2, "%"],
  ["illuminance", 10 ** 2.176, "lx"],
  ["pressure", 1_013, "hPa"],
  ["power", 1, "W"],
] as const;

const watchDoings = [
  { name: "UNKNOWN", steps_max: 120, states: { walkState: 1, runState: 1, sleepState: 1 } },
  { name: "NOT_WORN", steps_max: 0, states: undefined },
  { name: "WALKING", steps_max: 950, states: { walkState: 2, runState: 1, sleepState: 1 } },
  { name: "EXERCISE", steps_max: 900, states: { walkState: 1, runState: 2, sleepState: 1 } },
  { name: "LIGHT_SLEEP", steps_max: 6, states: { walkState: 1, runState: 1, sleepState: 2 } },
  { name: "DEEP_SLEEP", steps_max: 0, states: { walkState: 1, runState: 1, sleepState: 3 } },
] as const;
