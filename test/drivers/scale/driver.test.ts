import { describe, expect, test } from "bun:test";
import { scales } from "../../../drivers/scale/driver.ts";
import {
  SimulatedScale,
  type SimulatedScaleOptions,
  s400Weighing,
  xiaomiWeighing,
} from "../../../drivers/scale/simulator/scale.ts";
import { uuids } from "../../../drivers/scale/standard.ts";
import { encodeHeart } from "../../../drivers/wire/heart-rate.ts";
import { clockQuality } from "../../../src/base/clock.ts";
import { listening, QuickClock, type Rig, startRig } from "../ble/rig.ts";

const address = "c0:ff:ee:00:18:1d";
const shown_ms = Date.UTC(2026, 10, 20, 7, 31, 5);

/** A standard scale on the air; `step` makes it advertise. */
function scaleOn(rig: Rig, options: SimulatedScaleOptions = {}) {
  const scale = new SimulatedScale({
    manufacturer: "Beurer",
    model: "BF720",
    battery_percent: 85,
    ...options,
  });
  const device = rig.controller.addPeripheral({
    address,
    advertisement: { services: ["181d", "181b"], name: "BF720" },
    services: scale.services,
    onDisconnected: () => scale.disconnected(),
  });
  scale.attach(device);
  return { scale, device };
}

const start = (config = {}) => startRig({ products: scales, clock: new QuickClock(10), config });

const composition = {
  multiplePackets: false,
  fat_percent: 25,
  softLean_g: 52_000,
  muscle_g: 50_000,
  water_g: 40_000,
} as const;

describe("a standard scale", () => {
  test("has its weight recorded through noble, and gets its confirmation after the commit", async () => {
    await using rig = await start();
    await listening(rig);
    const { scale, device } = scaleOn(rig, { composes: false });
    const order: string[] = [];
    const accept = rig.host.accept.bind(rig.host);
    rig.host.accept = async (reading, cursor) => {
      order.push(`committing, ${scale.confirmed} confirmed`);
      // Long enough for a confirmation that does not wait to overtake it.
      await new Promise<void>((resolve) => rig.host.clock.after(500, resolve));
      order.push(`committed, ${scale.confirmed} confirmed`);
      return await accept(reading, cursor);
    };
    scale.weigh({ weight: { weight_g: 73_720 } });
    device.advertise();
    const reading = await rig.host.until("the weight", () => rig.host.readings[0]);
    await rig.host.until("the confirmation", () => scale.confirmed === 1);
    expect(order).toEqual(["committing, 0 confirmed", "committed, 0 confirmed"]);
    expect(reading).toMatchObject({
      device: { kind: "scales", address, vendor: "Beurer", model: "BF720" },
      series: "scale_weights",
      values: {
        weight: 73_720,
        fatMass: null,
        boneMass: null,
        waterMass: null,
        muscleMass: null,
        batteryLevel: 85,
      },
    });
  });

  test("makes one reading of weight and composition, and its heart rate another", async () => {
    await using rig = await start();
    await listening(rig);
    const { scale, device } = scaleOn(rig);
    scale.weigh({ weight: { weight_g: 80_000 }, compositions: [composition], heartRates: [90, 71, 72] });
    device.advertise();
    await rig.host.until("both readings", () => rig.host.readings.length === 2);
    expect(rig.host.readings.map(({ series, values }) => [series, values])).toEqual([
      [
        "scale_weights",
        {
          weight: 80_000,
          fatMass: 20_000,
          waterMass: 40_000,
          boneMass: 8_000,
          muscleMass: 50_000,
          batteryLevel: 85,
        },
      ],
      ["scale_heart", { heartRate: 72 }],
    ]);
  });

  test("dates a heart rate by the first of those that it tells, and keeps the last", async () => {
    await using rig = await start();
    await listening(rig);
    const { scale, device } = scaleOn(rig, { leaves: false });
    scale.weigh({ weight: { weight_g: 80_000 } });
    device.advertise();
    await rig.host.until("the weight to be confirmed", () => scale.confirmed === 1);
    const { clock } = rig.host;
    const beat = (rate: number) => device.notify(uuids.heartService, uuids.heart, encodeHeart(rate));
    beat(90);
    await new Promise<void>((resolve) => clock.after(4_000, resolve));
    const later_ms = clock.now().unix_ms;
    beat(72);
    const heart = () => rig.host.readings.find(({ series }) => series === "scale_heart");
    const { stamp_ms, values } = await rig.host.until("the heart rate", heart);
    expect(values).toEqual({ heartRate: 72 });
    expect(stamp_ms).toBeLessThan(later_ms);
  });

  test("puts a composition in two packets together, and weighings in pounds into grams", async () => {
    await using rig = await start();
    await listening(rig);
    const { scale, device } = scaleOn(rig);
    const head = { shown_ms, user: 1 };
    scale.weigh({
      weight: { weight_g: 80_000, imperial: true, ...head },
      compositions: [
        { multiplePackets: true, fat_percent: 25, softLean_g: 52_000, imperial: true, ...head },
        { multiplePackets: true, muscle_g: 50_000, water_g: 40_000, imperial: true },
      ],
    });
    device.advertise();
    const { values } = await rig.host.until("the reading", () => rig.host.readings[0]);
    expect(values).toEqual({
      weight: 80_000,
      fatMass: 20_000,
      waterMass: 39_998,
      boneMass: 8_000,
      muscleMass: 49_999,
      batteryLevel: 85,
    });
    await rig.host.until("all confirmations", () => scale.confirmed === 3);
    expect(rig.host.readings).toHaveLength(1);
  });

  test("is asked with each user's consent, and a refused code is said", async () => {
    await using rig = await start({
      scale: {
        users: [
          { index: 1, consent: 1111 },
          { index: 2, consent: 9 },
          { address: "00:00:00:00:00:01", index: 3, consent: 3 },
        ],
      },
    });
    await listening(rig);
    const { scale, device } = scaleOn(rig, { consents: { 1: 1111, 2: 2222, 3: 3 } });
    for (const [user, weight_g] of [
      [1, 70_000],
      [2, 80_000],
      [3, 90_000],
    ] as const)
      scale.weigh({
        weight: { weight_g, user, shown_ms: shown_ms + user * 60_000 },
        compositions: [{ ...composition, user, shown_ms: shown_ms + user * 60_000 }],
      });
    scale.weigh({ weight: { weight_g: 60_000, shown_ms } });
    device.advertise();
    await rig.host.until("the refusal", () => rig.host.said(/refuses the consent code of user 2/));
    await rig.host.until("two readings", () => rig.host.readings.length === 2);
    expect(rig.host.readings.map(({ values }) => values["weight"]).toSorted()).toEqual([60_000, 70_000]);
    expect(scale.stored.map(({ weight: { user } }) => user)).toEqual([2, 3]);
  });

  test("has stored weighings dated by its own clock, wrong as it is, and its clock set", async () => {
    await using rig = await start();
    await listening(rig);
    const off_ms = -9 * 365 * 24 * 3600_000;
    const clock_ms = () => rig.host.clock.now().unix_ms + off_ms;
    const { scale, device } = scaleOn(rig, { clock_ms, leaves: false });
    const days_ms = 3 * 24 * 3600_000;
    const taken_ms = rig.host.clock.now().unix_ms - days_ms;
    const stored = { shown_ms: Math.floor((clock_ms() - days_ms) / 1000) * 1000 };
    scale.weigh({ weight: { weight_g: 70_000, ...stored }, compositions: [{ ...composition, ...stored }] });
    const advertise = () => void device.advertise();
    const reading = await rig.host.until("the reading", () => rig.host.readings[0], advertise);
    expect(Math.abs(reading.stamp_ms - taken_ms)).toBeLessThan(2_000);
    expect(reading.clock).toBe(clockQuality.device);
    expect(reading.deviceClock?.stamp_ms).toBe(stored.shown_ms);
    expect(Math.abs((scale.setBy_ms ?? 0) + off_ms)).toBeLessThan(3_000);
    // The next is taken by the clock as it was set.
    const now = { shown_ms: Math.floor((clock_ms() + (scale.setBy_ms ?? 0)) / 1000) * 1000 };
    scale.weigh({ weight: { weight_g: 71_000, ...now }, compositions: [{ ...composition, ...now }] });
    const live = await rig.host.until("the live reading", () => rig.host.readings[1]);
    expect(Math.abs(live.stamp_ms - rig.host.clock.now().unix_ms)).toBeLessThan(5_000);
  });

  test("keeps a weighing that the disk refused, and tells it again once", async () => {
    await using rig = await start();
    await listening(rig);
    const { scale, device } = scaleOn(rig, { composes: false });
    rig.host.refusal = new Error("the disk is full");
    scale.weigh({ weight: { weight_g: 70_000, shown_ms } });
    device.advertise();
    await rig.host.until("the refusal", () => rig.host.readings.length === 1);
    await rig.host.until("the end of the connection", () => !device.connected);
    expect(scale.confirmed).toBe(0);
    rig.host.refusal = undefined;
    const advertise = () => void device.advertise();
    await rig.host.until("the confirmation", () => scale.confirmed === 1, advertise);
    expect(rig.host.readings).toHaveLength(2);
    // Told once more, because its confirmation was lost.
    scale.weigh({ weight: { weight_g: 70_000, shown_ms } });
    await rig.host.until("the second confirmation", () => scale.confirmed === 2, advertise);
    expect(rig.host.readings).toHaveLength(2);
  });

  test("has the weight recorded when no composition comes", async () => {
    await using rig = await start();
    await listening(rig);
    const { scale, device } = scaleOn(rig, { leaves: false });
    scale.weigh({ weight: { weight_g: 65_000 } });
    device.advertise();
    const { values } = await rig.host.until("the weight", () => rig.host.readings[0]);
    expect(values).toMatchObject({ weight: 65_000, fatMass: null });
    expect(scale.confirmed).toBe(1);
  });

  test("that disconnects when it is done has not failed", async () => {
    await using rig = await start();
    await listening(rig);
    const { scale, device } = scaleOn(rig);
    scale.weigh({ weight: { weight_g: 65_000 }, compositions: [composition] });
    device.advertise();
    await rig.host.until("the end of the connection", () => device.connections === 1 && !device.connected);
    await rig.host.until("the reading", () => rig.host.readings.length === 1);
    expect(rig.host.lines.filter((line) => line.startsWith("warn"))).toEqual([]);
  });
});

describe("a Mi scale", () => {
  const weigh = (rig: Rig, packets: readonly Uint8Array[]) => {
    const device = rig.controller.addPeripheral({ address, advertisement: { name: "MIBFS" } });
    device.advertise();
    for (const data of packets) {
      device.say({ serviceData: { "181b": data } });
      device.advertise();
    }
  };

  test("is one reading for each weighing: a stable one, without a composition", async () => {
    await using rig = await start();
    await listening(rig);
    weigh(rig, [
      ...xiaomiWeighing({ weight_g: 70_000, shown_ms }),
      ...xiaomiWeighing({ weight_g: 82_500, shown_ms: shown_ms + 40_000 }),
      ...xiaomiWeighing({ weight_g: 82_400, shown_ms: shown_ms + 55_000 }),
      ...xiaomiWeighing({ weight_g: 60_000, shown_ms: shown_ms + 3600_000, unit: "lb" }),
    ]);
    await rig.host.until("the readings", () => rig.host.readings.length === 4);
    expect(rig.host.readings.map(({ values }) => values["weight"])).toEqual([70_000, 82_500, 82_400, 60_001]);
    expect(rig.host.readings[0]).toMatchObject({
      device: { model: "XMTZC05HM", vendor: "Xiaomi" },
      values: { fatMass: null, waterMass: null, boneMass: null, muscleMass: null, batteryLevel: null },
      deviceClock: { stamp_ms: shown_ms },
    });
  });

  test("that is woken and tells its last weighing again is no new one, after a restart either", async () => {
    const cursors = new Map<string, string>();
    for (const expected of [1, 0]) {
      await using rig = await start();
      for (const [name, value] of cursors) rig.host.cursors.set(name, value);
      await listening(rig);
      weigh(rig, xiaomiWeighing({ weight_g: 70_000, shown_ms }));
      weigh(rig, [new Uint8Array(12)]);
      await rig.host.until("the last packet", () =>
        rig.host.drops.get("scale broadcasts of an unknown form"),
      );
      await rig.host.until("the readings", () => rig.host.readings.length === expected);
      for (const [name, value] of rig.host.cursors) cursors.set(name, value);
    }
  });
});

describe("an S400", () => {
  const key = Uint8Array.fromHex("58305740b64e4b425e518aa1f4e51339");
  const sender = { address: Uint8Array.fromHex("84469364a5e6"), key };
  const config = { keys: { "84:46:93:64:a5:e6": key.toHex() } };
  const say = (rig: Rig, packets: readonly Uint8Array[]) => {
    const device = rig.controller.addPeripheral({ address: "84:46:93:64:a5:e6", addressType: "public" });
    for (const data of packets) {
      device.say({ serviceData: { fe95: data } });
      device.advertise();
    }
  };
  const weighing = {
    profile: 1,
    stamp_s: 1_751_914_873,
    weight_g: 74_200,
    heartRate: 52,
    impedance_ohm: 400,
  };

  test("is one weight and one heart rate for each weighing", async () => {
    await using rig = await start(config);
    await listening(rig);
    const next = { ...weighing, stamp_s: weighing.stamp_s + 60, weight_g: 80_100, heartRate: 66 };
    say(rig, [
      Uint8Array.fromHex("1059d53b06e6a564934684"),
      Uint8Array.fromHex("4859d53b2d3314943c58b133638c7457a4000000c3e670dc"),
      ...s400Weighing(weighing, sender),
      ...s400Weighing(next, sender, 9),
      ...s400Weighing(weighing, sender, 20),
    ]);
    await rig.host.until(
      "the replay",
      () => rig.host.drops.get("scale broadcasts that somebody sent again") === 5,
    );
    expect(
      rig.host.readings.map(({ series, values }) => [series, values["weight"] ?? values["heartRate"]]),
    ).toEqual([
      ["scale_weights", 74_200],
      ["scale_heart", 52],
      ["scale_weights", 80_100],
      ["scale_heart", 66],
    ]);
    expect(rig.host.readings[0]?.device).toMatchObject({ model: "MJTZC01YM", vendor: "Xiaomi" });
  });

  test("without a key, or with another one, is said once", async () => {
    for (const keys of [{}, { "84:46:93:64:a5:e6": "00".repeat(16) }]) {
      await using rig = await start({ keys });
      await listening(rig);
      say(rig, s400Weighing(weighing, sender));
      await rig.host.until("the counts", () => [...rig.host.drops.values()].includes(5));
      expect(rig.host.lines.filter((line) => /\[ble.keys\]/.test(line))).toHaveLength(1);
      expect(rig.host.readings).toEqual([]);
    }
  });
});
