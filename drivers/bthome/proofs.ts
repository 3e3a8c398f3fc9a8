import { clockQuality } from "../../src/base/clock.ts";
import type { ProvenTable } from "../wire/example.ts";
import { bthomeExamples } from "./examples.ts";
import { objectTypes, presses } from "./objects.ts";

const moment = { unix_ms: 1_800_000_000_400, monotonic_ms: 9_000_000, quality: clockQuality.synchronised };
const sensors = 'https://bthome.io/format, "Sensor data"';
const binaries = 'https://bthome.io/format, "Binary sensor data"';
const others = 'https://bthome.io/format, "Misc data", "Device information"';

/** A number that is kept: its example in the format's own table, then its least and greatest values. */
const number = (...messages: (readonly [string, string])[]) => [sensors, ...messages] as const;

/** An object of which nothing is kept: an object behind it is found, and so its length is right. */
const passed = (object: string) =>
  [others, [`${object} 5f 1b00`, "precipitation 2.7 mm"], [object, ""]] as const;

/** A state that is 0 or 1: of another value only that it is not 0 is known. */
const sign = (id: string, bit: number) =>
  [binaries, [`${id}01`, `event ${1 << bit}`], [`${id}00`, "event 0"]] as const;

const flag = (id: string) => [binaries, [`${id}01 45 1101`, "temperature 27.3 °C"], [`${id}01`, ""]] as const;

/** Service data without its first byte, as a sensor broadcasts them that is not encrypted. */
const objects: ProvenTable["proofs"] = {
  "00": [others, ["0009 45 1101", "temperature 27.3 °C"], ["0009", ""]],
  "01": [
    sensors,
    ["0161 45 1101", "temperature 27.3 °C, battery 97 %"],
    ["0100 45 1101", "temperature 27.3 °C, battery 0 %"],
    ["0164 45 1101", "temperature 27.3 °C, battery 100 %"],
    ["01ff 45 1101", "temperature 27.3 °C"],
  ],
  "02": number(
    ["02ca09", "temperature 25.06 °C"],
    ["020080", "temperature -327.68 °C"],
    ["02ff7f", "temperature 327.67 °C"],
    ["02ffff", "temperature -0.01 °C"],
    ["020000", "temperature 0 °C"],
  ),
  "03": number(["03bf13", "humidity 50.55 %"], ["031027", "humidity 100 %"], ["030000", "humidity 0 %"]),
  "04": number(["04138a01", "pressure 1008.83 hPa"], ["04ffffff", "pressure 167772.15 hPa"]),
  "05": number(
    ["05138a14", "illuminance 13460.67 lx"],
    ["05000000", "illuminance 0 lx"],
    ["05ffffff", "illuminance 167772.15 lx"],
  ),
  "06": passed("065e1f"),
  "07": passed("073e1d"),
  "08": number(["08ca06", "dew_point 17.38 °C"], ["08ffff", "dew_point -0.01 °C"]),
  "09": passed("0960"),
  "0a": number(["0a138a14", "energy 1346.067 kWh"], ["0affffff", "energy 16777.215 kWh"]),
  "0b": number(["0b021b00", "power 69.14 W"], ["0bffffff", "power 167772.15 W"]),
  // Beside a measure of the mains it is the voltage of the mains, else that of the battery.
  "0c": number(
    ["0c860b 45 1101", "temperature 27.3 °C, battery 2950 mV"],
    ["0b021b00 0c020c", "power 69.14 W, voltage 3.074 V"],
  ),
  "0d": number(["0d120c", "pm25 3090 µg/m³"], ["0dffff", "pm25 65535 µg/m³"]),
  "0e": number(["0e021c", "pm10 7170 µg/m³"], ["0effff", "pm10 65535 µg/m³"]),
  "0f": flag("0f"),
  "10": flag("10"),
  // Alone, a door or window is a lid of a pill box.
  "11": [
    binaries,
    ["1101 2100", "event 1"],
    ["1100 2101", "event 0"],
    ["1102", "dropped bthome broadcasts of doors that cannot be"],
  ],
  "12": number(["12e204", "co2 1250 ppm"], ["12ffff", "co2 65535 ppm"]),
  "13": number(["133301", "voc 307 µg/m³"], ["13ffff", "voc 65535 µg/m³"]),
  "14": number(["14020c", "soil_moisture 30.74 %"], ["14ffff", "soil_moisture 655.35 %"]),
  "15": sign("15", 3),
  "16": flag("16"),
  "17": sign("17", 0),
  "18": flag("18"),
  "19": flag("19"),
  "1a": [
    binaries,
    ["1a01", "event 1"],
    ["1a00", "event 0"],
    ["1a02", "dropped bthome broadcasts of doors that cannot be"],
  ],
  "1b": sign("1b", 0),
  "1c": sign("1c", 0),
  "1d": flag("1d"),
  "1e": flag("1e"),
  "1f": flag("1f"),
  "20": sign("20", 0),
  "21": sign("21", 1),
  "22": sign("22", 1),
  "23": sign("23", 1),
  "24": flag("24"),
  "25": sign("25", 1),
  "26": flag("26"),
  "27": flag("27"),
  "28": flag("28"),
  "29": sign("29", 0),
  "2a": flag("2a"),
  "2b": sign("2b", 2),
  "2c": sign("2c", 0),
  "2d": [
    binaries,
    ["2d01", "event 1"],
    ["2d00", "event 0"],
    ["2d02", "dropped bthome broadcasts of doors that cannot be"],
  ],
  "2e": number(["2e23", "humidity 35 %"], ["2e64", "humidity 100 %"]),
  "2f": number(["2f23", "soil_moisture 35 %"], ["2f64", "soil_moisture 100 %"]),
  "3a": [
    'https://bthome.io/format, "Event data"',
    ["3a01", "action_single 1"],
    ["3a01 3a02", "action_1_single 1, action_2_double 1"],
    ["3a00 3a04", "action_2_long 1"],
    ["3a00", ""],
  ],
  "3c": passed("3c0103"),
  "3d": passed("3d0960"),
  "3e": passed("3e2a2c0960"),
  "3f": number(["3f020c", "angle 307.4 °"], ["3f0080", "angle -3276.8 °"], ["3fff7f", "angle 3276.7 °"]),
  "40": number(["400c00", "target_distance 0.012 m"], ["40ffff", "target_distance 65.535 m"]),
  "41": number(["414e00", "target_distance 7.8 m"], ["41ffff", "target_distance 6553.5 m"]),
  "42": passed("424e3400"),
  "43": number(["434e34", "current 13.39 A"], ["43ffff", "current 65.535 A"]),
  "44": number(["444e34", "speed 133.9 m/s"], ["44ffff", "speed 655.35 m/s"]),
  "45": number(
    ["451101", "temperature 27.3 °C"],
    ["450080", "temperature -3276.8 °C"],
    ["45ff7f", "temperature 3276.7 °C"],
  ),
  "46": number(["4632", "uv_index 5"], ["46ff", "uv_index 25.5"]),
  "47": passed("478756"),
  "48": passed("48dc87"),
  "49": passed("49dc87"),
  "4a": number(
    ["45 1101 4a1e00", "temperature 27.3 °C, battery 3000 mV"],
    ["43 4e34 4a020c", "current 13.39 A, voltage 307.4 V"],
  ),
  "4b": passed("4b138a14"),
  "4c": passed("4c41018a01"),
  "4d": number(["4d12138a14", "energy 344593.17 kWh"], ["4dffffffff", "energy 4294967.295 kWh"]),
  "4e": passed("4e87562a01"),
  "4f": passed("4f87562a01"),
  "50": passed("505d396164"),
  "51": number(["518756", "acceleration 22.151 m/s²"], ["51ffff", "acceleration 65.535 m/s²"]),
  "52": passed("528756"),
  "53": passed("530c 48656c6c6f20576f726c6421"),
  "54": passed("540c 48656c6c6f20576f726c6421"),
  "55": passed("5587562a01"),
  "56": number(["56e803", "conductivity 1000 µS/cm"], ["56ffff", "conductivity 65535 µS/cm"]),
  "57": number(
    ["57ea", "temperature -22 °C"],
    ["5780", "temperature -128 °C"],
    ["577f", "temperature 127 °C"],
  ),
  "58": number(
    ["58ea", "temperature -7.7 °C"],
    ["5880", "temperature -44.8 °C"],
    ["587f", "temperature 44.45 °C"],
  ),
  "59": passed("59ea"),
  "5a": passed("5aeaea"),
  "5b": passed("5beaeaeaea"),
  "5c": number(["5c02fbffff", "power -12.78 W"], ["5cffffff7f", "power 21474836.47 W"]),
  "5d": number(["5d02ea", "current -5.63 A"], ["5dff7f", "current 32.767 A"]),
  "5e": passed("5e9f8c"),
  "5f": number(["5f1b00", "precipitation 2.7 mm"], ["5fffff", "precipitation 6553.5 mm"]),
  "60": [others, ["45 1101 6001", "temperature 27.3 °C"], ["6001", ""]],
  f0: [others, ["45 1101 f00100", "temperature 27.3 °C"], ["f00100", ""]],
  f1: [others, ["45 1101 f100010204", "temperature 27.3 °C"], ["f100010204", ""]],
  f2: [others, ["45 1101 f2000106", "temperature 27.3 °C"], ["f2000106", ""]],
};

const named = (value: string, name: string) =>
  ['https://bthome.io/format, "Event data"', [`3a${value}`, `action_${name} 1`]] as const;

/** A broadcast that is sent at intervals, behind the length, type and UUID of its AD structure. */
const feed: ProvenTable["feed"] = async (message, host) => {
  const data = message.replaceAll(" ", "");
  const length = (4 + data.length / 2).toString(16).padStart(2, "0");
  await bthomeExamples.feed(Uint8Array.fromHex(`${length}16d2fc40${data}`), host);
};

export const bthomeTables: readonly ProvenTable[] = [
  {
    name: "bthome objects",
    rows: [...objectTypes.keys()].map((id) => id.toString(16).padStart(2, "0")),
    proofs: objects,
    moment,
    feed,
  },
  {
    name: "bthome presses",
    rows: [...presses.keys()].map(String),
    proofs: {
      1: named("01", "single"),
      2: named("02", "double"),
      3: named("03", "triple"),
      4: named("04", "long"),
      5: named("05", "long_double"),
      6: named("06", "long_triple"),
      128: named("80", "hold"),
    },
    moment,
    feed,
  },
];
