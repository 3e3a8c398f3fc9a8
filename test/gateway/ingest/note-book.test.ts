import { expect, test } from "bun:test";
import { NoteBook } from "../../../src/gateway/ingest/note-book.ts";
import type { IntakeFault } from "../../../src/gateway/ingest/validity.ts";
import type { HeardState } from "../../../src/store/gateway/gateway-store.ts";
import { sensor, start_ms } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

function noteBook() {
  const clock = new SettableClock(start_ms);
  const refused: IntakeFault[] = [];
  let due = 0;
  const notes = new NoteBook({
    clock,
    interval_ms: 1_000,
    onDue: () => {
      due += 1;
    },
    onRefused: (fault) => refused.push(fault),
  });
  const heard = (number: number, told: Partial<HeardState> = {}) =>
    notes.heard({ device: sensor(number), heard_ms: clock.now().unix_ms, ...told });
  return { clock, notes, refused, heard, due: () => due };
}

const states = (noted: ReturnType<NoteBook["take"]>) =>
  noted.facts.flatMap(({ fact }) => ("state" in fact ? [fact.state] : []));
const spans = (noted: ReturnType<NoteBook["take"]>) =>
  noted.facts.flatMap(({ fact }) => ("listening" in fact ? [fact.listening] : []));

test("a note is due once, its interval after the first, and again after the notes were taken", () => {
  const { clock, heard, notes, due } = noteBook();
  heard(1);
  clock.advance(999);
  heard(2);
  expect(due()).toBe(0);
  clock.advance(1);
  expect(due()).toBe(1);
  clock.advance(5_000);
  expect(due()).toBe(1);
  heard(1);
  notes.take();
  expect(clock.waiting).toBe(0);
  notes.dropped("frames", 1);
  clock.advance(1_000);
  expect(due()).toBe(2);
  notes.listening("zigbee");
  clock.advance(1_000);
  expect(due()).toBe(3);
});

test("who stops is told of nothing any more, and may still take what is there", () => {
  const { clock, heard, notes, due } = noteBook();
  heard(1);
  notes.stop();
  heard(2);
  expect(clock.waiting).toBe(0);
  clock.advance(5_000);
  expect(due()).toBe(0);
  expect(states(notes.take())).toHaveLength(2);
});

test("each kind of note waits by itself, and nothing does once they are taken", () => {
  const { notes, heard } = noteBook();
  for (const note of [() => heard(1), () => notes.listening("ble"), () => notes.dropped("frames", 1)]) {
    expect(notes.waiting).toBe(false);
    note();
    expect(notes.waiting).toBe(true);
    notes.take();
  }
  expect(notes.take()).toEqual({ facts: [], dropped: new Map() });
});

test("states of a device become one: the newest of each value, with the moment at which it was heard", () => {
  const { clock, heard, notes } = noteBook();
  heard(1, { device: sensor(1, { subtype: "wall" }), battery_percent: 90 });
  clock.advance(300);
  heard(1, { device: sensor(1, { model: "m" }), linkquality: 7, heard_ms: start_ms + 200 });
  heard(2);
  const noted = notes.take();
  expect(states(noted)).toEqual([
    {
      device: sensor(1, { subtype: "wall", model: "m" }),
      heard_ms: start_ms + 200,
      battery_percent: 90,
      linkquality: 7,
    },
    { device: sensor(2), heard_ms: start_ms + 300 },
  ]);
  expect(noted.facts.map(({ monotonic_ms }) => monotonic_ms)).toEqual([200, 300]);
  heard(1, { device: sensor(1, { subtype: "wall", model: "old" }), battery_percent: 90 });
  heard(1, { device: sensor(1, { model: "new" }), battery_percent: 89 });
  expect(states(notes.take())).toMatchObject([
    { device: { subtype: "wall", model: "new" }, battery_percent: 89 },
  ]);
});

test.each<[Partial<HeardState>, string]>([
  [{ heard_ms: 0.5 }, "device states with impossible values"],
  [{ battery_percent: Number.NaN }, "device states with impossible values"],
  [{ battery_mv: Number.POSITIVE_INFINITY }, "device states with impossible values"],
  [{ linkquality: Number.NaN }, "device states with impossible values"],
  [{ device: sensor(1, { address: "x" }) }, "devices with an impossible address"],
])("a state with %j is refused, said and counted", (told, name) => {
  const { heard, notes, refused } = noteBook();
  heard(1, { listener: "zigbee", ...told });
  expect(refused.map((fault) => fault.name)).toEqual([name]);
  expect(notes.take()).toEqual({ facts: [], dropped: new Map([[name, 1]]) });
});

test("a state says who listened, where it tells", () => {
  const { heard, notes } = noteBook();
  heard(1, { listener: "zigbee" });
  heard(2);
  expect(spans(notes.take())).toEqual([{ listener: "zigbee", from_ms: start_ms, to_ms: start_ms }]);
});

test("facts of a device go with each of its states, the last that were told", () => {
  const { heard, notes } = noteBook();
  notes.describe(sensor(1), { description: "old" });
  notes.describe(sensor(1), { description: "new" });
  notes.describe(sensor(2), { blind_s: -1 });
  heard(1);
  heard(2);
  const noted = notes.take();
  expect(states(noted).map(({ facts }) => facts)).toEqual([{ description: "new" }, undefined]);
  expect(noted.dropped).toEqual(new Map([["facts of devices that cannot be", 1]]));
  heard(1);
  expect(states(notes.take())).toMatchObject([{ facts: { description: "new" } }]);
});

test("listening within a minute is one span, after longer it is another, and listeners are apart", () => {
  const { clock, notes } = noteBook();
  notes.listening("zigbee");
  notes.listening("ble");
  clock.advance(60_000);
  notes.listening("zigbee");
  clock.advance(60_001);
  notes.listening("zigbee");
  clock.advance(10);
  notes.listening("zigbee");
  const noted = notes.take();
  expect(spans(noted)).toEqual([
    { listener: "zigbee", from_ms: start_ms, to_ms: start_ms + 60_000 },
    { listener: "zigbee", from_ms: start_ms + 120_001, to_ms: start_ms + 120_011 },
    { listener: "ble", from_ms: start_ms, to_ms: start_ms },
  ]);
  expect(noted.facts.map(({ monotonic_ms }) => monotonic_ms)).toEqual([60_000, 120_011, 0]);
});

test("spans of a listener, states and facts of devices, and names of counts are bounded", () => {
  const { clock, heard, notes } = noteBook();
  for (let span = 0; span < 101; span += 1) {
    notes.listening("zigbee");
    clock.advance(60_001);
  }
  for (let device = 0; device < 5_001; device += 1) {
    notes.describe(sensor(device), { description: "one" });
    heard(device);
  }
  heard(0, { linkquality: 3 });
  notes.describe(sensor(0), { description: "other" });
  for (let name = 0; name < 201; name += 1) notes.dropped(`things ${name}`, 2);
  notes.dropped("things 0", 1);
  const noted = notes.take();
  expect(spans(noted)).toHaveLength(100);
  expect(states(noted)).toHaveLength(5_000);
  expect(states(noted)[0]?.linkquality).toBe(3);
  expect(noted.dropped.size).toBe(201);
  expect(noted.dropped.get("device states that found no room")).toBe(1);
  expect(noted.dropped.get("things 0")).toBe(3);
  expect(noted.dropped.get("things of too many names")).toBe(4);
  heard(5_000);
  heard(0);
  expect(states(notes.take()).map(({ facts }) => facts)).toEqual([undefined, { description: "other" }]);
});

test("what could not be committed is noted again, and what is newer wins over it", () => {
  const { clock, heard, notes } = noteBook();
  heard(1, { battery_percent: 90, linkquality: 1 });
  notes.listening("zigbee");
  notes.dropped("frames", 2);
  const failed = notes.take();
  clock.advance(30_000);
  heard(1, { linkquality: 2 });
  notes.listening("zigbee");
  notes.dropped("frames", 3);
  notes.giveBack(failed);
  const noted = notes.take();
  expect(states(noted)).toMatchObject([{ heard_ms: start_ms + 30_000, battery_percent: 90, linkquality: 2 }]);
  expect(spans(noted)).toEqual([{ listener: "zigbee", from_ms: start_ms, to_ms: start_ms + 30_000 }]);
  expect(noted.dropped).toEqual(new Map([["frames", 5]]));
});

test("a span that could not be committed goes on in a newer one that begins within a minute of its end", () => {
  const { clock, notes } = noteBook();
  notes.listening("zigbee");
  clock.advance(30_000);
  notes.listening("zigbee");
  const failed = notes.take();
  clock.advance(50_000);
  notes.listening("zigbee");
  clock.advance(50_000);
  notes.listening("zigbee");
  notes.giveBack(failed);
  expect(spans(notes.take())).toEqual([{ listener: "zigbee", from_ms: start_ms, to_ms: start_ms + 130_000 }]);
});
