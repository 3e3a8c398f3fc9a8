import { afterAll, expect, test } from "bun:test";
import type { Events, Models } from "zigbee-herdsman";
import { HerdsmanLog } from "../../../drivers/zigbee/herdsman-log.ts";
import { LastStatuses } from "../../../drivers/zigbee/last-status.ts";
import { Sensors } from "../../../drivers/zigbee/sensors.ts";
import { clockQuality } from "../../../src/base/clock.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";
import { StandInDevice } from "../../../testbed/stand-in-device.ts";

const directory = temporaryDirectory();
afterAll(() => directory.remove());

interface Said {
  /** Milliseconds since the message before. */
  readonly after_ms: number;
  readonly cluster: string;
  readonly type?: string;
  readonly data: object;
}

let devices = 0;

/** The values that are recorded of what a model says, taken apart by its own definition. */
async function recordedOf(
  modelID: string,
  messages: readonly Said[],
  { zoneType }: { zoneType?: number } = {},
) {
  const host = new RecordingHost({ directory: directory.path });
  devices += 1;
  const device = new StandInDevice(`0x40000000000000${devices.toString(16).padStart(2, "0")}`, {
    modelID,
  });
  const endpoint = device.getEndpoint(1);
  if (zoneType !== undefined) {
    endpoint.inputClusters.push(0x0500);
    endpoint.getClusterAttributeValue = () => zoneType as never;
  }
  const herdsmanLog = new HerdsmanLog({ ...host, dropped: () => {} });
  const statuses = new LastStatuses(host);
  const sensors = new Sensors({ host, statuses, herdsmanLog });
  await sensors.identify(device as unknown as Models.Device);
  let now_ms = 5_000_000;
  for (const [index, { after_ms, ...said }] of messages.entries()) {
    now_ms += after_ms;
    const meta = { zclTransactionSequenceNumber: index, rawData: Buffer.alloc(0) };
    const whole = { type: "attributeReport", ...said, device, endpoint, meta };
    sensors.message(whole as unknown as Events.MessagePayload, {
      unix_ms: 1_800_000_000_000 + now_ms,
      monotonic_ms: now_ms,
      quality: clockQuality.synchronised,
    });
  }
  await sensors.close();
  statuses.close();
  return host.readings.map(({ values }) => values["event"] ?? `${values["quantity"]} ${values["value"]}`);
}

const occupied = (occupancy: number, after_ms: number): Said => ({
  after_ms,
  cluster: "msOccupancySensing",
  data: { occupancy },
});
const light = (measuredValue: number, after_ms: number): Said => ({
  after_ms,
  cluster: "msIlluminanceMeasurement",
  data: { measuredValue },
});
const aqara = "lumi.sensor_motion.aq2";

test("a movement that an Aqara tells by occupancy and by light is one event, in either order", async () => {
  expect(await recordedOf(aqara, [occupied(1, 0), light(25, 40)])).toEqual([0b10, "illuminance 25"]);
  expect(await recordedOf(aqara, [light(25, 0), occupied(1, 40)])).toEqual([0b10, "illuminance 25"]);
});

test("a movement of which the light alone arrived is an event, and so is each later one of a sensor without ends", async () => {
  const messages = [
    occupied(1, 0),
    light(25, 40),
    light(30, 60_000),
    occupied(1, 60_000),
    occupied(1, 60_000),
  ];
  expect(await recordedOf(aqara, messages)).toEqual([
    0b10,
    "illuminance 25",
    0b10,
    "illuminance 30",
    0b10,
    0b10,
  ]);
});

test("a sensor that tells ends repeats how it is, which is no event", async () => {
  const hue = await recordedOf("SML001", [
    occupied(1, 0),
    occupied(0, 10_000),
    occupied(0, 300_000),
    occupied(1, 10_000),
    occupied(1, 300_000),
    occupied(0, 10_000),
  ]);
  expect(hue).toEqual([0b10, 0, 0b10, 0]);
});

test("until it has told an end, nobody knows whether a sensor ever does: each saying is an event", async () => {
  expect(await recordedOf("SML001", [occupied(1, 0), occupied(1, 300_000)])).toEqual([0b10, 0b10]);
});

const motionZone = 0x000d;
const zone = (zonestatus: number, after_ms: number): Said => ({
  after_ms,
  cluster: "ssIasZone",
  type: "commandStatusChangeNotification",
  data: { zonestatus, extendedstatus: 0, zoneID: 23, delay: 0 },
});

test("a movement that a zone has told is no second one by occupancy, but one that the zone did not tell is an event", async () => {
  const messages = [zone(0x21, 0), occupied(1, 200), zone(0x20, 60_000), occupied(1, 60_000)];
  expect(await recordedOf("Motion Sensor", messages, { zoneType: motionZone })).toEqual([0x21, 0x20, 0x22]);
});

test("where a motion sensor without a definition has a zone, its occupancy is none beside it", async () => {
  const messages = [occupied(1, 0), zone(0x21, 200), zone(0x20, 60_000)];
  expect(await recordedOf("of nobody", messages, { zoneType: motionZone })).toEqual([0x21, 0x20]);
  expect(await recordedOf("of nobody", messages.slice(0, 1))).toEqual([0b10]);
});
