import { clockQuality } from "../../src/base/clock.ts";
import { eventWords } from "../../src/domain/event-words.ts";
import { quantities } from "../../src/domain/quantities.ts";
import type { Host } from "../driver.ts";
import type { ProvenTable } from "../wire/example.ts";
import { esphome } from "./esphome.ts";
import { Messages } from "./messages.ts";
import { openmqttgateway } from "./openmqttgateway.ts";
import { zwaveClasses, zwaveJsUi } from "./zwave-js-ui.ts";

const moment = { unix_ms: 1_800_000_000_400, monotonic_ms: 9_000_000, quality: clockQuality.synchronised };

/** Hands messages of a topic and a payload each to the driver. */
async function hear(
  host: Host,
  lines: readonly (readonly [topic: string, payload: string])[],
): Promise<void> {
  const messages = new Messages({ host, welcome: false, topics: {} });
  for (const [topic, text] of lines) {
    const payload = new TextEncoder().encode(text);
    await messages.take({ topic, payload, moment, retained: false, acknowledged: true }, "live");
  }
}

/** A device of Zigbee2MQTT, described as having one property, and what it says. */
function zigbee(host: Host, expose: object, payload: string): Promise<void> {
  // Beside a measure, since a device that only tells how it is itself is no sensor.
  const features = [
    { access: 1, ...expose },
    { property: "noise", type: "numeric", access: 1 },
  ];
  const definition = { model: "1", vendor: "Acme", exposes: [{ features }] };
  const devices = [
    { ieee_address: "0x00158d0001a2b3c4", type: "EndDevice", friendly_name: "hall", definition },
  ];
  return hear(host, [
    ["zigbee2mqtt/bridge/devices", JSON.stringify(devices)],
    ["zigbee2mqtt/hall", payload],
  ]);
}

const exposes = "https://www.zigbee2mqtt.io/guide/usage/exposes.html";
const word = (name: string, bit: number) =>
  [exposes, [`{"${name}":true}`, `event ${1 << bit}`], [`{"${name}":false}`, "event 0"]] as const;

/** The unit that a sensor tells, and by the definition of both what it is in ours. */
const unit = (source: string, ...messages: (readonly [string, string])[]) => [source, ...messages] as const;
const si = "SI Brochure, 9th edition, table 7 and 8";
const fahrenheit = "NIST SP 811, B.8: °C = (°F - 32) / 1.8";

const classes = "https://www.home-assistant.io/integrations/binary_sensor/#device-class";
const sensors = "https://www.home-assistant.io/integrations/sensor/#device-class";
const sign = (bit: number) => [classes, ["ON", `event ${1 << bit}`], ["OFF", "event 0"]] as const;
const measured = (...messages: (readonly [string, string])[]) => [sensors, ...messages, ["nan", ""]] as const;

const theengs = "https://decoder.theengs.io/devices/devices.html";

const registry = "SDS13713, Notification type";
const binary = "SDS13713, Sensor Binary";
const notification = (tail: string, on: readonly number[], off: number, event: number) =>
  [
    registry,
    ...on.map((value) => [`notification/endpoint_0/${tail} {"value":${value}}`, `event ${event}`] as const),
    [`notification/endpoint_0/${tail} {"value":${off}}`, "event 0"],
    [`notification/endpoint_0/${tail} {"value":254}`, ""],
  ] as const;
const binarySensor = (type: string, event: number) =>
  [
    binary,
    [`sensor_binary/endpoint_0/${type} {"value":true}`, `event ${event}`],
    [`sensor_binary/endpoint_0/${type} {"value":false}`, "event 0"],
  ] as const;
const level = (...messages: (readonly [string, string])[]) =>
  [
    "SDS13812, Sensor Multilevel: types and scales",
    ...messages.map(([tail, told]) => [`sensor_multilevel/endpoint_0/${tail}`, told] as const),
  ] as const;
const byClass = (tail: string, told: string) =>
  ["https://zwave-js.github.io/zwave-js-ui/#/usage/setup?id=gateway", [tail, told]] as const;
const door = 'endpoint_0/Access_Control/Door_state {"value":22}';
const warmth = 'endpoint_0/Air_temperature {"value":21.5,"unit":"°C"}';
const watts = '{"value":40,"unit":"W"}';

export const mqttTables: readonly ProvenTable[] = [
  {
    name: "words of events",
    rows: Object.keys(eventWords),
    proofs: {
      presence: word("presence", 1),
      occupancy: word("occupancy", 1),
      contact: [exposes, ['{"contact":false}', "event 1"], ['{"contact":true}', "event 0"]],
      water_leak: word("water_leak", 0),
      vibration: word("vibration", 0),
      smoke: word("smoke", 0),
      gas: word("gas", 0),
      carbon_monoxide: word("carbon_monoxide", 0),
      tamper: word("tamper", 2),
      battery_low: word("battery_low", 3),
    },
    moment,
    feed: (payload, host, property) => zigbee(host, { property, type: "binary" }, payload),
  },
  {
    name: "units",
    rows: Object.entries(quantities).flatMap(([name, row]) =>
      Object.keys("also" in row ? row.also : {}).map((told) => `${name} ${told}`),
    ),
    proofs: {
      "temperature °F": unit(
        fahrenheit,
        ["70.7", "temperature 21.5 °C"],
        ["32", "temperature 0 °C"],
        ["-40", "temperature -40 °C"],
      ),
      "temperature K": unit(
        si,
        ["294.65", "temperature 21.5 °C"],
        ["273.15", "temperature 0 °C"],
        ["0", "temperature -273.15 °C"],
      ),
      "illuminance lux": unit(si, ["12", "illuminance 12 lx"]),
      "illuminance Lux": unit(si, ["12", "illuminance 12 lx"]),
      "pressure kPa": unit(si, ["101.325", "pressure 1013.25 hPa"], ["30.01", "pressure 300.1 hPa"]),
      "pressure Pa": unit(si, ["101325", "pressure 1013.25 hPa"], ["0", "pressure 0 hPa"]),
      "pressure mbar": unit(si, ["1013.25", "pressure 1013.25 hPa"], ["0", "pressure 0 hPa"]),
      "power kW": unit(si, ["1.5", "power 1500 W"], ["-0.2", "power -200 W"]),
      "power mW": unit(si, ["1500", "power 1.5 W"], ["-200", "power -0.2 W"], ["0", "power 0 W"]),
      "energy Wh": unit(si, ["1500", "energy 1.5 kWh"], ["0", "energy 0 kWh"]),
      "voltage mV": unit(si, ["229500", "voltage 229.5 V"], ["0", "voltage 0 V"]),
      "current mA": unit(si, ["1250", "current 1.25 A"], ["-20", "current -0.02 A"]),
      "device_temperature °F": unit(
        fahrenheit,
        ["82.4", "device_temperature 28 °C"],
        ["-40", "device_temperature -40 °C"],
      ),
      "target_distance cm": unit(si, ["230", "target_distance 2.3 m"], ["0", "target_distance 0 m"]),
      "target_distance mm": unit(si, ["230", "target_distance 0.23 m"], ["0", "target_distance 0 m"]),
      "body_temperature °F": unit(
        fahrenheit,
        ["98.6", "body_temperature 37 °C"],
        ["32", "body_temperature 0 °C"],
      ),
    },
    moment,
    feed: (value, host, row) => {
      const [quantity = "", told = ""] = row.split(" ");
      // Zigbee's own voltage in mV is that of a battery; ESPHome tells the voltage of anything.
      if (quantity === "voltage") return node(host, "sensor voltage", `${value} ${told}`);
      return zigbee(
        host,
        { property: quantity, type: "numeric", unit: told },
        JSON.stringify({ [quantity]: Number(value) }),
      );
    },
  },
  {
    name: "esphome classes",
    rows: Object.keys(esphome.tells ?? {}),
    proofs: {
      "binary_sensor presence": sign(1),
      "binary_sensor occupancy": sign(1),
      "binary_sensor contact": [exposes, ["OFF", "event 1"], ["ON", "event 0"]],
      "binary_sensor water_leak": sign(0),
      "binary_sensor vibration": sign(0),
      "binary_sensor smoke": sign(0),
      "binary_sensor gas": sign(0),
      "binary_sensor carbon_monoxide": sign(0),
      "binary_sensor tamper": sign(2),
      "binary_sensor battery_low": sign(3),
      "binary_sensor open": sign(0),
      "binary_sensor motion": sign(1),
      "binary_sensor moving": sign(1),
      "binary_sensor door": sign(0),
      "binary_sensor window": sign(0),
      "binary_sensor opening": sign(0),
      "binary_sensor garage_door": sign(0),
      "binary_sensor moisture": sign(0),
      "binary_sensor battery": sign(3),
      "sensor temperature": measured(
        ["21.5 °C", "temperature 21.5 °C"],
        ["-3 °C", "temperature -3 °C"],
        ["70.7 °F", "temperature 21.5 °C"],
      ),
      "sensor humidity": measured(["45.2 %", "humidity 45.2 %"]),
      "sensor illuminance": measured(["12 lx", "illuminance 12 lx"]),
      "sensor pressure": measured(
        ["101325 Pa", "pressure 1013.25 hPa"],
        ["1013.25 hPa", "pressure 1013.25 hPa"],
      ),
      "sensor atmospheric_pressure": measured(
        ["1013.25 hPa", "pressure 1013.25 hPa"],
        ["29.92 inHg", "pressure 29.92 inHg"],
      ),
      "sensor power": measured(["1.5 kW", "power 1500 W"]),
      "sensor energy": measured(["1.5 kWh", "energy 1.5 kWh"]),
      "sensor voltage": measured(["229.5 V", "voltage 229.5 V"]),
      "sensor current": measured(["1250 mA", "current 1.25 A"]),
      "sensor carbon_dioxide": measured(["415 ppm", "co2 415 ppm"]),
      "sensor volatile_organic_compounds": measured(["307 µg/m³", "voc 307 µg/m³"]),
      "sensor pm25": measured(["12 µg/m³", "pm25 12 µg/m³"]),
      "sensor pm10": measured(["20 µg/m³", "pm10 20 µg/m³"]),
      "sensor sound_pressure": measured(["41 dBA", "noise 41 dBA"]),
      "sensor moisture": measured(["30 %", "soil_moisture 30 %"]),
      "sensor distance": measured(["230 cm", "target_distance 2.3 m"]),
    },
    moment,
    feed: (state, host, row) => node(host, row, state),
  },
  {
    name: "theengs words",
    rows: Object.keys(openmqttgateway.tells ?? {}),
    proofs: {
      open: [
        theengs,
        ['{"open":true,"batt":80}', "event 1, battery 80 %"],
        ['{"open":false,"volt":2.95}', "event 0, battery 2950 mV"],
      ],
      motion: [theengs, ['{"motion":true}', "event 2"], ['{"motion":false}', "event 0"]],
      tempc: [
        theengs,
        ['{"tempc":21.5,"tempf":70.7}', "temperature 21.5 °C"],
        ['{"tempc":"-3.5"}', "temperature -3.5 °C"],
        ['{"tempc":null}', ""],
      ],
      hum: [theengs, ['{"hum":45.2}', "humidity 45.2 %"], ['{"hum":45.2,"batt":101}', "humidity 45.2 %"]],
      lux: [
        theengs,
        ['{"lux":12}', "illuminance 12 lx"],
        ['{"lux":0}', "illuminance 0 lx"],
        ['{"lux":null}', ""],
      ],
      pres: [theengs, ['{"pres":1013.25}', "pressure 1013.25 hPa"], ['{"pres":null}', ""]],
    },
    moment,
    feed: (fields, host) =>
      hear(host, [["home/g/BTtoMQTT/A", JSON.stringify({ id: "AA:BB:CC:DD:EE:01", ...JSON.parse(fields) })]]),
  },
  {
    name: "z-wave values",
    rows: Object.keys(zwaveJsUi.tells ?? {}),
    proofs: {
      "home_security/motion_sensor_status": notification("Home_Security/Motion_sensor_status", [7, 8], 0, 2),
      "home_security/cover_status": notification("Home_Security/Cover_status", [3], 0, 4),
      "home_security/sensor_status": notification("Home_Security/Sensor_status", [1, 2], 0, 1),
      "access_control/door_state_simple": notification("Access_Control/Door_state_simple", [22], 23, 1),
      "access_control/door_state": notification("Access_Control/Door_state", [22], 23, 1),
      "water_alarm/sensor_status": notification("Water_Alarm/Sensor_status", [1, 2], 0, 1),
      "smoke_alarm/sensor_status": notification("Smoke_Alarm/Sensor_status", [1, 2], 0, 1),
      "co_alarm/sensor_status": notification("CO_Alarm/Sensor_status", [1, 2], 0, 1),
      motion: binarySensor("Motion", 2),
      "door-window": binarySensor("Door-Window", 1),
      tamper: binarySensor("Tamper", 4),
      water: binarySensor("Water", 1),
      smoke: binarySensor("Smoke", 1),
      any: binarySensor("Any", 2),
      air_temperature: level(
        ['Air_temperature {"value":21.5,"unit":"°C"}', "temperature 21.5 °C"],
        ['Air_temperature {"value":70.7,"unit":"°F"}', "temperature 21.5 °C"],
        [
          'Air_temperature {"value":21.5}',
          "dropped zwave-js-ui messages that tell a measure without its unit",
        ],
      ),
      humidity: level(
        ['Humidity {"value":45,"unit":"%"}', "humidity 45 %"],
        ['Humidity {"value":null,"unit":"%"}', "dropped zwave-js-ui messages whose humidity is no number"],
      ),
      illuminance: level(
        ['Illuminance {"value":12,"unit":"Lux"}', "illuminance 12 lx"],
        ['Illuminance {"value":0,"unit":"Lux"}', "illuminance 0 lx"],
      ),
      barometric_pressure: level(
        ['Barometric_pressure {"value":101.3,"unit":"kPa"}', "pressure 1013 hPa"],
        ['Barometric_pressure {"value":29.92,"unit":"inHg"}', "pressure 29.92 inHg"],
      ),
      atmospheric_pressure: level(['Atmospheric_pressure {"value":101.3,"unit":"kPa"}', "pressure 1013 hPa"]),
      power: level(
        ['Power {"value":40,"unit":"W"}', "power 40 W"],
        ['Power {"value":-40,"unit":"W"}', "power -40 W"],
      ),
      // 66049 is 0x010201: rate consumed, watts, electric.
      "meter, W consumed": [
        "SDS13781, Meter",
        [`meter/endpoint_0/value/66049 ${watts}`, "power 40 W"],
        [`meter/endpoint_0/value/65537 {"value":40,"unit":"kWh"}`, ""],
      ],
      "battery/isLow": [
        "SDS13781, Battery",
        ['battery/endpoint_0/isLow {"value":true}', "event 8"],
        ['battery/endpoint_0/level {"value":88}', "battery 88 %"],
        ['battery/endpoint_0/level {"value":255}', ""],
      ],
    },
    moment,
    feed: zwave,
  },
  {
    name: "z-wave command classes",
    rows: Object.keys(zwaveClasses),
    proofs: {
      notification: byClass(`notification/${door}`, "event 1"),
      "113": byClass(`113/0/Access_Control/Door_state {"value":22}`, "event 1"),
      sensor_binary: byClass('sensor_binary/endpoint_0/Motion {"value":true}', "event 2"),
      "48": byClass('48/0/Motion {"value":true}', "event 2"),
      sensor_multilevel: byClass(`sensor_multilevel/${warmth}`, "temperature 21.5 °C"),
      "49": byClass('49/0/Air_temperature {"value":21.5,"unit":"°C"}', "temperature 21.5 °C"),
      meter: byClass(`meter/endpoint_0/value/66049 ${watts}`, "power 40 W"),
      "50": byClass(`50/0/value/66049 ${watts}`, "power 40 W"),
      battery: byClass('battery/endpoint_0/isLow {"value":true}', "event 8"),
      "128": byClass('128/0/isLow {"value":true}', "event 8"),
    },
    moment,
    feed: zwave,
  },
];

/** A sensor of an ESPHome node by its component and class, and its state with the unit that it was described with. */
function node(host: Host, row: string, state: string): Promise<void> {
  const [component, dev_cla] = row.split(" ");
  const [value = "", unit_of_meas] = state.split(" ");
  const config = { dev_cla, stat_t: "bed/state", unit_of_meas, dev: { ids: "a0b1c2d3e4f5", name: "bed" } };
  return hear(host, [
    [`homeassistant/${component}/bed/one/config`, JSON.stringify(config)],
    ["bed/state", value],
  ]);
}

function zwave(message: string, host: Host): Promise<void> {
  const at = message.indexOf(" ");
  const told = { time: 1_800_000_000_100, ...JSON.parse(message.slice(at)) };
  return hear(host, [[`zwave/nodeID_7/${message.slice(0, at)}`, JSON.stringify(told)]]);
}
