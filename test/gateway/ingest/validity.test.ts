import { describe, expect, test } from "bun:test";
import { clockQuality, stamp_end_ms } from "../../../src/base/clock.ts";
import { measureOf } from "../../../src/domain/quantities.ts";
import { cursor_length_max, type Device, type Gap, type Reading } from "../../../src/domain/reading.ts";
import { text_length_max } from "../../../src/domain/series.ts";
import {
  faultOfCursor,
  faultOfDevice,
  faultOfGap,
  faultOfReading,
  kindAndAddress,
} from "../../../src/gateway/ingest/validity.ts";
import { reading, sensor, sensorEvent, start_ms } from "../../../testbed/sample.ts";

const name = "wirelesssensors 00:0d:6f:00:05:a1:00:01";
const event = sensorEvent(sensor(1), start_ms, 1);
const year10000_ms = Date.UTC(10_000, 0, 1);
const waits = { monotonic_ms: 5, clock: clockQuality.unsynchronised } as const;
const stampOf = (stamp_ms: number, more: Partial<Reading> = {}): Reading => ({ ...event, stamp_ms, ...more });
const byDevice = (stamp: number, offset: number) =>
  stampOf(start_ms, { deviceClock: { stamp_ms: stamp, offset_ms: offset } });
const measure = (values: object): Reading =>
  reading(sensor(1), "wirelesssensor_measures", start_ms, { ...measureOf("temperature", 21.5), ...values });

describe("a reading that can be kept", () => {
  test.each<[string, Reading]>([
    ["an event", event],
    ["the first millisecond", stampOf(0)],
    ["the last millisecond", stampOf(stamp_end_ms - 1)],
    ["a stamp by a wrong system clock", stampOf(-year10000_ms, waits)],
    ["a stamp by a system clock far ahead", stampOf(year10000_ms, waits)],
    ["a device's clock at its bounds", byDevice(year10000_ms, -year10000_ms)],
    ["a fraction of monotonic time", stampOf(1, { monotonic_ms: 0.5 })],
    ["the largest number", measure({ value: Number.MAX_SAFE_INTEGER })],
    ["the smallest number", measure({ value: -Number.MAX_SAFE_INTEGER })],
    ["the longest text", measure({ quantity: "x".repeat(text_length_max) })],
    [
      "values that a scale does not know",
      reading(sensor(1, { kind: "scales" }), "scale_weights", start_ms, {
        weight: 70,
        fatMass: null,
        waterMass: null,
        boneMass: null,
        muscleMass: null,
        batteryLevel: null,
      }),
    ],
    ["a subtype that its series has", sensorEvent(sensor(1, { subtype: "door" }), start_ms, 1)],
  ])("%s", (_, kept) => {
    expect(faultOfReading(kept)).toBeUndefined();
  });

  test.each(Object.values(clockQuality))("a clock of quality %i", (clock) => {
    expect(faultOfReading({ ...event, clock })).toBeUndefined();
  });
});

const impossibleStamp = "readings with an impossible stamp";
const impossibleValues = "readings with impossible values";

describe("a reading that cannot be kept", () => {
  test.each<[Reading, string, string]>([
    [stampOf(-1), impossibleStamp, `stamp -1 of ${name}`],
    [stampOf(stamp_end_ms), impossibleStamp, `stamp ${stamp_end_ms} of ${name}`],
    [stampOf(0.5), impossibleStamp, `stamp 0.5 of ${name}`],
    [stampOf(year10000_ms + 1, waits), impossibleStamp, `stamp ${year10000_ms + 1} of ${name}`],
    [stampOf(-year10000_ms - 1, waits), impossibleStamp, `stamp ${-year10000_ms - 1} of ${name}`],
    [byDevice(year10000_ms + 1, 0), impossibleStamp, `stamp ${start_ms} of ${name}`],
    [byDevice(0, 0.5), impossibleStamp, `stamp ${start_ms} of ${name}`],
    [stampOf(1, { monotonic_ms: Number.NaN }), impossibleStamp, `stamp 1 of ${name}`],
    [
      stampOf(-1, { clock: clockQuality.deviceUnmeasured, monotonic_ms: 5 }),
      impossibleStamp,
      `stamp -1 of ${name}`,
    ],
    [{ ...event, clock: 6 as 0 }, "readings of an unknown clock quality", `clock 6 of ${name}`],
    [{ ...event, series: "weather" as "scale_heart" }, "readings of an unknown series", "series weather"],
    [
      { ...event, series: "scale_heart" },
      "readings that do not belong to the device",
      `scale_heart of ${name}`,
    ],
    [measure({ value: Number.MAX_SAFE_INTEGER + 1 }), impossibleValues, `wirelesssensor_measures of ${name}`],
    [
      measure({ value: -Number.MAX_SAFE_INTEGER - 1 }),
      impossibleValues,
      `wirelesssensor_measures of ${name}`,
    ],
    [
      measure({ unit: "x".repeat(text_length_max + 1) }),
      impossibleValues,
      `wirelesssensor_measures of ${name}`,
    ],
    [
      { ...event, values: { event: "1" } },
      impossibleValues,
      `wirelesssensor_events of ${name} (event: Expected integer)`,
    ],
    [
      { ...event, values: { event: 1, other: 2 } },
      impossibleValues,
      `wirelesssensor_events of ${name} (other: Unexpected property)`,
    ],
    [
      { ...event, device: { ...event.device, kind: "toasters" as "scales" } },
      "devices of an unknown kind",
      "kind toasters",
    ],
    [
      reading(sensor(1, { kind: "pillboxes", subtype: "broadcasting" }), "pillbox_status", start_ms, {}),
      "readings that do not belong to the device",
      "pillbox_status of pillboxes 00:0d:6f:00:05:a1:00:01",
    ],
  ])("%#", (wrong, fault, detail) => {
    expect(faultOfReading(wrong)?.name).toBe(fault);
    expect(faultOfReading(wrong)?.detail.startsWith(detail)).toBe(true);
  });

  test("is said without a field where its fields are as they should be", () => {
    expect(faultOfReading(measure({ value: Number.MAX_SAFE_INTEGER + 1 }))?.detail).toBe(
      `wirelesssensor_measures of ${name}`,
    );
  });

  test("of a pill box of the right subtype, or of one that has not told, is judged by its values", () => {
    for (const subtype of [{ subtype: "polled" }, {}]) {
      const box = sensor(1, { kind: "pillboxes", ...subtype });
      expect(faultOfReading(reading(box, "pillbox_status", start_ms, {}))?.name).toBe(impossibleValues);
    }
  });
});

describe("a device", () => {
  const long = "x".repeat(text_length_max);
  test.each<[string, Partial<Device>]>([
    ["a short address", { address: "0a:0b" }],
    ["a long address", { address: "00:11:22:33:44:55:66:77" }],
    ["the longest texts", { subtype: long, model: long, vendor: long }],
  ])("may have %s", (_, told) => {
    expect(faultOfDevice({ ...sensor(1), ...told })).toBeUndefined();
  });

  test.each<[Partial<Device>, string, string]>([
    [{ address: "0a" }, "devices with an impossible address", "address 0a"],
    [
      { address: "00:11:22:33:44:55:66:77:88" },
      "devices with an impossible address",
      "address 00:11:22:33:44:55:66:77:88",
    ],
    [{ address: "0A:0B" }, "devices with an impossible address", "address 0A:0B"],
    [{ address: "0a:0b\n" }, "devices with an impossible address", "address 0a:0b\n"],
    [{ address: " 0a:0b" }, "devices with an impossible address", "address  0a:0b"],
    [{ address: "y".repeat(50) }, "devices with an impossible address", `address ${"y".repeat(40)}`],
    [{ subtype: `${long}x` }, "devices with overlong names", name],
    [{ model: `${long}x` }, "devices with overlong names", name],
    [{ vendor: `${long}x` }, "devices with overlong names", name],
  ])("may not be %j", (told, fault, detail) => {
    expect(faultOfDevice({ ...sensor(1), ...told })).toEqual({ name: fault, detail });
  });

  test("is named by kind and address", () => {
    expect(kindAndAddress(sensor(1))).toBe(name);
  });
});

describe("a gap", () => {
  const gap: Gap = { device: sensor(1), from_ms: 5, to_ms: 5, reason: "not_worn" };

  test("lies between two dates, the first not after the second, with a reason that is known", () => {
    for (const sound of [gap, { ...gap, lost: 0 }, { ...gap, from_ms: -5, lost: 7 }])
      expect(faultOfGap(sound)).toBeUndefined();
    for (const wrong of [
      { from_ms: 6 },
      { from_ms: 0.5 },
      { to_ms: Number.NaN },
      { to_ms: year10000_ms + 1 },
      { lost: -1 },
      { lost: 0.5 },
      { reason: "toString" as "not_worn" },
    ])
      expect(faultOfGap({ ...gap, ...wrong })?.name).toBe("impossible gaps");
    expect(faultOfGap({ ...gap, from_ms: 6 })?.detail).toBe(`not_worn from 6 to 5 of ${name}`);
  });

  test("is of a device that can be", () => {
    expect(faultOfGap({ ...gap, device: sensor(1, { address: "0" }) })?.name).toBe(
      "devices with an impossible address",
    );
  });
});

test("a cursor has its longest value at most", () => {
  const cursor = (length: number) => ({ name: "events", value: "x".repeat(length) });
  expect(faultOfCursor(undefined)).toBeUndefined();
  expect(faultOfCursor(cursor(cursor_length_max))).toBeUndefined();
  expect(faultOfCursor(cursor(cursor_length_max + 1))).toEqual({
    name: "cursors that are too long",
    detail: `events has ${cursor_length_max + 1} characters`,
  });
});
