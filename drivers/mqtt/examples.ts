import { clockQuality } from "../../src/base/clock.ts";
import type { ExampleSet } from "../wire/example.ts";
import { Messages } from "./messages.ts";

const moment = { unix_ms: 1_800_000_000_400, monotonic_ms: 9_000_000, quality: clockQuality.synchronised };
const event = { series: "wirelesssensor_events", stamp_ms: moment.unix_ms } as const;
const zigbee = "00:15:8d:00:01:a2:b3:c4";
const device = (address: string) => ({ kind: "wirelesssensors", address }) as const;

const devices = JSON.stringify([
  { ieee_address: "0x00124b0012345678", type: "Coordinator", friendly_name: "Coordinator" },
  {
    ieee_address: "0x00158d0001a2b3c4",
    type: "EndDevice",
    friendly_name: "hall",
    model_id: "lumi.sensor_motion.aq2",
    definition: { model: "RTCGQ11LM", vendor: "Aqara", exposes: [] },
  },
]);

const bed = JSON.stringify({
  dev_cla: "occupancy",
  stat_t: "bed/binary_sensor/occupied/state",
  dev: { ids: "a0b1c2d3e4f5", name: "bed", mdl: "esp32dev", mf: "Espressif", cns: [["mac", "a0b1c2d3e4f5"]] },
});

/** Lines of a topic and a payload each, as `mosquitto_sub -v` prints them. */
export const mqttExamples: ExampleSet = {
  driver: "mqtt",
  moment,
  examples: [
    {
      name: "Zigbee2MQTT: motion, an off that the hub adds, and motion again",
      bytes: hexOf([
        `zigbee2mqtt/bridge/devices ${devices}`,
        'zigbee2mqtt/hall {"battery":91,"last_seen":"2026-11-22T19:00:00.123Z","linkquality":120,"occupancy":true,"voltage":2985}',
        'zigbee2mqtt/hall {"battery":91,"last_seen":"2026-11-22T19:00:00.123Z","linkquality":120,"occupancy":false,"voltage":2985}',
        'zigbee2mqtt/hall {"battery":91,"last_seen":"2026-11-22T19:02:11.500Z","linkquality":117,"occupancy":true,"voltage":2985}',
        'zigbee2mqtt/hall/availability {"state":"online"}',
      ]),
      readings: [
        {
          ...event,
          device: { ...device(zigbee), subtype: "wall", model: "lumi.sensor_motion.aq2", vendor: "Aqara" },
          values: { event: 0b10 },
        },
        { ...event, values: { event: 0b10 } },
      ],
      dropped: { "mqtt states that a hub made up by itself": 1 },
    },
    {
      name: "ESPHome: a bed sensor describes itself, and somebody lies down and gets up",
      bytes: hexOf([
        `homeassistant/binary_sensor/bed/occupied/config ${bed}`,
        "bed/binary_sensor/occupied/state ON",
        "bed/binary_sensor/occupied/state ON",
        "bed/binary_sensor/occupied/state OFF",
      ]),
      readings: [
        {
          ...event,
          device: { ...device("a0:b1:c2:d3:e4:f5"), model: "esp32dev", vendor: "Espressif" },
          values: { event: 0b10 },
        },
        { ...event, values: { event: 0 } },
      ],
    },
    {
      name: "OpenMQTTGateway: a window is opened, broadcast twice, beside a beacon",
      bytes: hexOf([
        'home/OpenMQTTGateway/BTtoMQTT/AABBCCDDEE01 {"id":"AA:BB:CC:DD:EE:01","rssi":-71,"brand":"Shelly","model":"ShellyBLU Door/Window","model_id":"SBDW-002C","packet":7,"batt":80,"open":true,"rot":0}',
        'home/OpenMQTTGateway/BTtoMQTT/AABBCCDDEE01 {"id":"AA:BB:CC:DD:EE:01","rssi":-70,"brand":"Shelly","model":"ShellyBLU Door/Window","model_id":"SBDW-002C","packet":7,"batt":80,"open":true,"rot":0}',
        'home/OpenMQTTGateway/BTtoMQTT/5210A84690AC {"id":"52:10:A8:46:90:AC","rssi":-76,"brand":"GENERIC","model":"iBeacon","model_id":"IBEACON"}',
      ]),
      readings: [
        {
          ...event,
          device: { ...device("aa:bb:cc:dd:ee:01"), subtype: "door", model: "SBDW-002C", vendor: "Shelly" },
          values: { event: 1 },
        },
      ],
    },
    {
      name: "Z-Wave JS UI: a door of a named node is opened and closed, and its battery says nothing",
      bytes: hexOf([
        'zwave/porch/status {"time":1799999999000,"value":true,"status":"Alive","nodeId":7}',
        'zwave/porch/notification/endpoint_0/Access_Control/Door_state_simple {"time":1800000000100,"value":22}',
        'zwave/porch/notification/endpoint_0/Access_Control/Door_state_simple {"time":1800000000200,"value":23}',
        'zwave/porch/notification/endpoint_0/Access_Control/Door_state_simple {"time":1800000000200,"value":23}',
        'zwave/porch/battery/endpoint_0/level {"time":1800000000300,"value":88}',
      ]),
      readings: [
        { ...event, device: device("02:00:00:00:00:0c:00:07"), values: { event: 1 } },
        { ...event, values: { event: 0 } },
      ],
      dropped: { "mqtt messages that came again": 1 },
    },
  ],
  feed: async (bytes, host) => {
    const messages = new Messages({ host, welcome: false, topics: {} });
    for (const line of new TextDecoder().decode(bytes).split("\n")) {
      const at = line.indexOf(" ");
      const payload = new TextEncoder().encode(line.slice(at + 1));
      const arrival = {
        topic: line.slice(0, Math.max(0, at)),
        payload,
        moment,
        retained: false,
        acknowledged: true,
      };
      await messages.take(arrival, "live");
    }
  },
};

function hexOf(lines: readonly string[]): string {
  return Buffer.from(lines.join("\n")).toString("hex");
}
