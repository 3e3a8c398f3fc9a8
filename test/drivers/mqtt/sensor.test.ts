import { expect, test } from "bun:test";
import type { Sign, Told } from "../../../drivers/mqtt/hub.ts";
import { recent_max, Sensor } from "../../../drivers/mqtt/sensor.ts";

const device = { kind: "wirelesssensors", address: "00:15:8d:00:01:a2:b3:c4" } as const;

function told(on: boolean, stamp_ms?: number, more: Partial<Told> = {}): Told {
  const signs: Sign[] = [{ key: "occupancy", bit: 1, on }];
  return {
    device,
    signs,
    measures: [],
    says: "changes",
    ...(stamp_ms === undefined ? {} : { stamp_ms }),
    ...more,
  };
}

test("a change is an event, and the same again is none", () => {
  const sensor = new Sensor();
  const events = [true, true, false, false].map((on) => sensor.take(told(on), "live").event);
  expect(events).toEqual([2, undefined, 0, undefined]);
});

test("where a message has only what the device said, the same again is an event too", () => {
  const sensor = new Sensor();
  const events = [1, 2].map((stamp_ms) => sensor.take(told(true, stamp_ms, { says: "all" }), "live").event);
  expect(events).toEqual([2, 2]);
});

test("a stamp that was taken is known after a restart, also of each part of a device", () => {
  const before = new Sensor();
  before.take(told(true, 1_000, { part: "door" }), "live");
  const sensor = new Sensor(before.cursor());
  expect(sensor.take(told(true, 1_000, { part: "door" }), "late").nothing).toBe("again");
  expect(sensor.take(told(false, 1_000, { part: "motion" }), "late").nothing).toBeUndefined();
});

test("of what waited at the broker, all that is older than the stamps which are remembered was taken", () => {
  for (const count of [recent_max, recent_max + 1, 3 * recent_max]) {
    const sensor = new Sensor();
    for (let at = 0; at < count; at += 1) sensor.take(told(at % 2 === 0, 1_000 + at), "live");
    expect(sensor.take(told(true, 999), "late").nothing).toBe("again");
    expect(new Sensor(sensor.cursor()).take(told(true, 999), "late").nothing).toBe("again");
  }
});

test("a hub's clock that was set back loses nothing: live, and while there are few stamps", () => {
  const sensor = new Sensor();
  sensor.take(told(true, 5_000), "live");
  expect(sensor.take(told(false, 1_000), "late").event).toBe(0);
  for (let at = 0; at < recent_max; at += 1) sensor.take(told(at % 2 === 0, 9_000 + at), "live");
  expect(sensor.take(told(true, 2_000), "live").event).toBe(2);
});

test("after a restart a sensor that was on speaks anew, and one that was off does not", () => {
  const on = new Sensor();
  on.take(told(true, 1_000), "live");
  expect(new Sensor(on.cursor()).take(told(true, 2_000), "live").event).toBe(2);
  on.take(told(false, 3_000), "live");
  expect(new Sensor(on.cursor()).take(told(false, 4_000), "live").event).toBeUndefined();
});

test("an off that a hub adds is no event, and the next on is one, also after a restart", () => {
  const before = new Sensor();
  expect(before.take(told(true, 1_000), "live").event).toBe(2);
  expect(before.take(told(false, 1_000), "live").nothing).toBe("added");
  // The broker sends the message itself again, and not what the hub had added.
  const sensor = new Sensor(before.cursor());
  expect(sensor.take(told(true, 1_000), "late").nothing).toBe("again");
  expect(sensor.take(told(true, 2_000), "live").event).toBe(2);
});

test("a bit is set while one of its signs is on", () => {
  const sensor = new Sensor();
  const say = (key: string, on: boolean) =>
    sensor.take({ ...told(on), signs: [{ key, bit: 1, on }] }, "live").event;
  expect([say("moving", true), say("still", true), say("moving", false), say("still", false)]).toEqual([
    2,
    undefined,
    undefined,
    0,
  ]);
});

test("a damaged cursor is none", () => {
  for (const cursor of ["", "{", '{"signs":1}', "null"])
    expect(new Sensor(cursor).take(told(true, 1_000), "live").event).toBe(2);
});

test("a cursor stays short, however many stamps and signs there are", () => {
  const sensor = new Sensor();
  for (let at = 0; at < 200; at += 1)
    sensor.take(
      {
        ...told(true, 1_800_000_000_000 + at, { part: `part ${at}` }),
        signs: [{ key: `porch/binary_sensor/a long name of a sign ${at}/state`, bit: 1, on: true }],
      },
      "live",
    );
  expect(sensor.cursor().length).toBeLessThan(4_096);
});

test("what is not recorded leaves nothing in the cursor, is known again meanwhile, and the next word is an event", () => {
  const sensor = new Sensor();
  sensor.take(told(false, 1_000), "live");
  sensor.settle(true);
  const before = sensor.cursor();
  sensor.take(told(true, 2_000), "live");
  sensor.settle(false);
  expect(sensor.take(told(true, 2_000), "late").nothing).toBe("again");
  expect(sensor.cursor()).not.toContain((2_000).toString(36));
  expect(new Sensor(sensor.cursor()).take(told(true, 3_000), "live").event).toBe(2);
  expect(sensor.take(told(false, 4_000), "live").event).toBe(0);
  sensor.settle(true);
  expect(JSON.parse(sensor.cursor())).toEqual({
    ...JSON.parse(before),
    recent: [(1_000).toString(36), (4_000).toString(36)],
  });
});
