import type { Events } from "zigbee-herdsman";
import { clockQuality } from "../../src/base/clock.ts";
import type { ExampleSet } from "../wire/example.ts";
import { HerdsmanLog } from "./herdsman-log.ts";
import { LastStatuses } from "./last-status.ts";
import { Sensors } from "./sensors.ts";

const moment = { unix_ms: 1_800_000_000_250, monotonic_ms: 5_000_000, quality: clockQuality.synchronised };
const device = {
  kind: "wirelesssensors",
  address: "00:0d:6f:00:05:a1:b2:c3",
  subtype: "wall",
  model: "3041",
} as const;

/**
 * Zone Status Change Notifications as a wall sensor sends them: frame control, sequence, command, zone status u16,
 * extended status, zone id, delay u16 in quarter-seconds (ZCL 8.2.2.4.1), taken apart by zigbee-herdsman.
 */
export const zigbeeExamples: ExampleSet = {
  driver: "zigbee",
  moment,
  examples: [
    {
      name: "somebody is there: alarm 2",
      bytes: "19 01 00 3200 00 17 0000",
      readings: [
        { device, series: "wirelesssensor_events", stamp_ms: 1_800_000_000_250, values: { event: 50 } },
      ],
    },
    {
      name: "nobody is there any more, told a second late",
      bytes: "19 02 00 3000 00 17 0400",
      readings: [
        { device, series: "wirelesssensor_events", stamp_ms: 1_799_999_999_250, values: { event: 48 } },
      ],
    },
    {
      name: "a door ajar, and a battery that is low",
      bytes: "19 03 00 2900 00 17 0000",
      readings: [{ device, series: "wirelesssensor_events", values: { event: 0x29 } }],
    },
  ],
  feed: async (bytes, host) => {
    const { Zcl } = await import("zigbee-herdsman");
    const frame = Buffer.from(bytes);
    const header = Zcl.Header.fromBuffer(frame);
    const { payload } = Zcl.Frame.fromBuffer(0x0500, header, frame, {});
    const sensors = new Sensors({
      host,
      statuses: new LastStatuses(host),
      herdsmanLog: new HerdsmanLog({ ...host, dropped: (what) => host.dropped(what) }),
    });
    const message = {
      type: "commandStatusChangeNotification",
      cluster: "ssIasZone",
      data: payload,
      device: { ieeeAddr: "0x000d6f0005a1b2c3", modelID: "3041", endpoints: [] },
      linkquality: 150,
    };
    // The fields that zigbee-herdsman adds to the payload, as far as they are read of a sensor's message.
    sensors.message(message as unknown as Events.MessagePayload, moment);
  },
};
