import { expect, test } from "bun:test";
import { hour_ms } from "../../../src/base/time.ts";
import type { Gap } from "../../../src/domain/reading.ts";
import type { GatewayStore, Notes } from "../../../src/store/gateway/gateway-store.ts";
import { item, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";
import { openUpload } from "./opening.ts";

test("device health says who listened, which devices were alive, and what is known to be incomplete", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  await lived(gateway);
  const store = await openUpload(directory.path);
  const device = { kind: "wirelesssensors", address: sensor(1).address, subtype: "door" };
  expect(await store.deviceHealthAfter(0, 100)).toEqual({
    devices: [device as never],
    listeners: [{ name: "zigbee", first_ms: start_ms, last_ms: start_ms + 21 * hour_ms }],
    states: [
      {
        device: 0,
        first_ms: start_ms,
        heard_ms: start_ms + 20 * hour_ms,
        listener: "zigbee",
        battery_mv: 2_900,
      },
    ],
    after_note: 0,
    to_note: 3,
    outages: [{ listener: "zigbee", start_ms: start_ms + hour_ms, stop_ms: start_ms + 2 * hour_ms }],
    silences: [{ device: 0, start_ms, stop_ms: start_ms + 20 * hour_ms }],
    gaps: [{ device: 0, from_ms: start_ms, to_ms: start_ms + 5, reason: "missed_broadcasts", lost: 3 }],
  });
  // One at a time, in the order in which they were told, whatever they are.
  const one = async (after_note: number) => {
    const { outages, silences, gaps, to_note } = await store.deviceHealthAfter(after_note, 1);
    return [to_note, outages.length, silences.length, gaps.length];
  };
  const from_ms = start_ms + 25 * hour_ms;
  await gateway.append([], { listening: [{ listener: "zigbee", from_ms, to_ms: from_ms }] });
  expect([await one(0), await one(1), await one(2), await one(3), await one(4)]).toEqual([
    [1, 1, 0, 0],
    [2, 0, 1, 0],
    [3, 0, 0, 1],
    [4, 1, 0, 0],
    [4, 0, 0, 0],
  ]);
  await store.close();
  await gateway.close();
});

test("interruptions are told in pieces, each once, and again where they change", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  const gap = (number: number, more: Partial<Gap> = {}): Gap => {
    return {
      device: sensor(1),
      from_ms: start_ms + number,
      to_ms: start_ms + number + 1,
      reason: "not_worn",
      ...more,
    };
  };
  await gateway.append([], { gaps: [1, 2, 3, 4, 5].map((number) => gap(number)) });
  const store = await openUpload(directory.path);
  const told = async (after_note: number, notes_max = 2) => {
    const { gaps, to_note } = await store.deviceHealthAfter(after_note, notes_max);
    return { numbers: gaps.map(({ from_ms }) => from_ms - start_ms), to_note };
  };
  expect(await told(0)).toEqual({ numbers: [1, 2], to_note: 2 });
  expect(await told(2)).toEqual({ numbers: [3, 4], to_note: 4 });
  expect(await told(4)).toEqual({ numbers: [5], to_note: 5 });
  expect(await told(5)).toEqual({ numbers: [], to_note: 5 });
  // How many were lost has become known: it is told again under a new number.
  await gateway.append([], { gaps: [gap(2, { lost: 7 })] });
  expect(await told(5)).toEqual({ numbers: [2], to_note: 6 });
  expect((await store.deviceHealthAfter(5, 2)).gaps[0]?.lost).toBe(7);
  expect(await told(0, 100)).toEqual({ numbers: [1, 3, 4, 5, 2], to_note: 6 });
  await store.close();
  await gateway.close();
});

test("what is given to another item is told again as that item's", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  await lived(gateway);
  await gateway.importRecords([[{ type: "items", record: item(7, { macaddress: sensor(7).address }) }]]);
  await gateway.append([sensorEvent(sensor(7), start_ms, 48)]);
  const store = await openUpload(directory.path);
  const { to_note } = await store.deviceHealthAfter(0, 100);
  // The item gets the sensor that was provisional, with all that is known of it.
  await gateway.importRecords([[{ type: "items", record: item(7, { macaddress: sensor(1).address }) }]]);
  const { devices, outages, silences, gaps } = await store.deviceHealthAfter(to_note, 100);
  expect(devices).toMatchObject([{ address: sensor(1).address, itemid: 7 }]);
  expect([outages.length, silences.length, gaps.length]).toEqual([0, 1, 1]);
  await store.close();
  await gateway.close();
});

/** A sensor that was silent for a day, heard by a driver that was away for an hour of it. */
async function lived(gateway: GatewayStore): Promise<void> {
  const device = sensor(1, { subtype: "door" });
  const at = (hour: number, more: Notes = {}): Notes => ({
    listening: [{ listener: "zigbee", from_ms: start_ms + hour * hour_ms, to_ms: start_ms + hour * hour_ms }],
    ...more,
  });
  const heard = (hour: number, battery_mv: number) => ({
    states: [{ device, heard_ms: start_ms + hour * hour_ms, listener: "zigbee", battery_mv }],
  });
  const span = (from: number, to: number): Notes => ({
    listening: [{ listener: "zigbee", from_ms: start_ms + from * hour_ms, to_ms: start_ms + to * hour_ms }],
  });
  await gateway.append([], { ...at(0), ...heard(0, 3_000) });
  await gateway.append([], span(0, 1));
  await gateway.append([], span(2, 21));
  await gateway.append([], heard(20, 2_900));
  await gateway.append([], {
    gaps: [{ device, from_ms: start_ms, to_ms: start_ms + 5, reason: "missed_broadcasts", lost: 3 }],
  });
}
