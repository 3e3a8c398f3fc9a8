import { expect, test } from "bun:test";
import { encodeCurrentTime } from "../../drivers/scale/standard.ts";
import { vitals } from "../../drivers/vitals/driver.ts";
import { encodeTemperature, uuids } from "../../drivers/vitals/measurements.ts";
import { encodeHeart } from "../../drivers/wire/heart-rate.ts";
import { clockQuality } from "../../src/base/clock.ts";
import { listening, QuickClock, startRig } from "./ble/rig.ts";

const address = "ed:67:00:00:00:09";

test("a thermometer's temperatures are confirmed once they are kept, and dated by its own wrong clock", async () => {
  await using rig = await startRig({ products: [vitals], clock: new QuickClock(5) });
  await listening(rig);
  const shown_ms = Date.UTC(2001, 1, 3, 4, 5, 6);
  const subscribed = Promise.withResolvers<void>();
  const device = rig.controller.addPeripheral({
    address,
    advertisement: { services: [uuids.thermometerService], name: "Thermo" },
    services: [
      {
        uuid: uuids.thermometerService,
        characteristics: [
          { uuid: uuids.temperature, properties: ["indicate"], onSubscribe: () => subscribed.resolve() },
        ],
      },
      {
        uuid: uuids.timeService,
        characteristics: [
          { uuid: uuids.currentTime, properties: ["read"], onRead: () => encodeCurrentTime(shown_ms) },
        ],
      },
    ],
  });
  const began = rig.host.clock.now();
  device.advertise();
  await subscribed.promise;
  const told = { value: 38.4, unit: "°C" } as const;
  await device.indicate(
    uuids.thermometerService,
    uuids.temperature,
    encodeTemperature({ ...told, shown_ms: shown_ms - 3_600_000 }),
  );
  const [reading] = rig.host.readings;
  expect(reading).toMatchObject({
    device: { kind: "wirelesssensors", address, model: "Thermo" },
    series: "wirelesssensor_measures",
    clock: clockQuality.device,
    values: { quantity: "body_temperature", value: 38.4, unit: "°C" },
  });
  // An hour before its clock was read.
  const read_ms = (reading?.stamp_ms ?? 0) + 3_600_000;
  expect(read_ms).toBeGreaterThanOrEqual(Math.floor(began.unix_ms));
  expect(read_ms).toBeLessThanOrEqual(rig.host.clock.now().unix_ms + 1);
});

test("a belt that wants to be bonded is, and its rates are measures", async () => {
  await using rig = await startRig({ products: [vitals], clock: new QuickClock(5) });
  await listening(rig);
  let subscribed = false;
  const device = rig.controller.addPeripheral({
    address,
    advertisement: { services: [uuids.heartService] },
    security: {},
    services: [
      {
        uuid: uuids.heartService,
        characteristics: [
          {
            uuid: uuids.heart,
            properties: ["notify"],
            needs: "encryption",
            onSubscribe: () => {
              subscribed = true;
            },
          },
        ],
      },
    ],
  });
  await rig.driver.openJoining();
  await rig.host.until("a subscription", () => {
    if (!device.connected) device.advertise();
    return subscribed;
  });
  device.notify(uuids.heartService, uuids.heart, encodeHeart(64));
  const reading = await rig.host.until("the rate", () => rig.host.readings[0]);
  expect(reading.values).toEqual({ quantity: "heart_rate", value: 64, unit: "1/min" });
  expect(device.security?.bonded).toBe(true);
});
