import { capital } from "../base/words.ts";

/**
 * Quantities that sensors measure, by the names that zigbee2mqtt's converters give them, each in one unit. A new quantity is one more row; one that
 * is not here is kept all the same, under the name and in the unit that its driver tells.
 */
export const quantities = {
  temperature: {
    title: "Temperature",
    unit: "°C",
    meaning: "how warm it is at the sensor",
    also: { "°F": fahrenheit, K: (value) => value - 273.15 },
  },
  humidity: { title: "Humidity", unit: "%", meaning: "relative humidity of the air at the sensor" },
  illuminance: {
    title: "Light",
    unit: "lx",
    meaning: "how much light falls on the sensor",
    also: { lux: times(1), Lux: times(1) },
  },
  pressure: {
    title: "Air pressure",
    unit: "hPa",
    meaning: "pressure of the air at the sensor, not reduced to sea level",
    also: { kPa: times(10), Pa: times(0.01), mbar: times(1) },
  },
  power: {
    title: "Power",
    unit: "W",
    meaning: "electric power of the appliance behind the sensor",
    also: { kW: times(1_000), mW: times(0.001) },
  },
  energy: {
    title: "Energy",
    unit: "kWh",
    meaning: "electric energy since the last reset of the sensor's counter",
    also: { Wh: times(0.001) },
  },
  voltage: {
    title: "Mains voltage",
    unit: "V",
    meaning: "voltage of the mains at the sensor; the voltage of a battery is a state of the device",
    also: { mV: times(0.001) },
  },
  current: {
    title: "Current",
    unit: "A",
    meaning: "current through the appliance behind the sensor",
    also: { mA: times(0.001) },
  },
  co2: { title: "Carbon dioxide", unit: "ppm", meaning: "carbon dioxide in the air" },
  voc: { title: "Volatile compounds", unit: "µg/m³", meaning: "volatile organic compounds in the air" },
  pm25: { title: "Fine dust", unit: "µg/m³", meaning: "particles in the air that are smaller than 2.5 µm" },
  pm10: { title: "Dust", unit: "µg/m³", meaning: "particles in the air that are smaller than 10 µm" },
  formaldehyd: { title: "Formaldehyde", unit: "mg/m³", meaning: "formaldehyde in the air" },
  noise: { title: "Noise", unit: "dBA", meaning: "how loud it is at the sensor; no sound is kept" },
  soil_moisture: { title: "Soil moisture", unit: "%", meaning: "how wet the soil is" },
  device_temperature: {
    title: "Device temperature",
    unit: "°C",
    meaning: "how warm it is inside the sensor itself",
    also: { "°F": fahrenheit },
  },
  target_distance: {
    title: "Distance",
    unit: "m",
    meaning: "distance between the radar and a person",
    also: { cm: times(0.01), mm: times(0.001) },
  },
  strength: {
    title: "Vibration",
    unit: "",
    meaning: "how strongly the sensor was shaken, on the maker's own scale",
  },
  heart_rate: { title: "Heart rate", unit: "1/min", meaning: "how often the heart beats" },
  body_temperature: {
    title: "Body temperature",
    unit: "°C",
    meaning: "temperature of a person, at the place of the thermometer",
    also: { "°F": fahrenheit },
  },
  angle: { title: "Tilt", unit: "°", meaning: "how far the sensor was tilted" },
} as const satisfies Readonly<Record<string, QuantityRow>>;

/** A name in the table, and every press of a button: `action_single`, `action_double`, `action_hold` and whatever else its maker calls one. */
export const action_prefix = "action_";

/** Names and units that are no words of anybody's own: those of the table, and usual presses of buttons. */
export const usualQuantities = new RegExp(
  `^(${Object.keys(quantities).join("|")}|${action_prefix}(single|double|triple|quadruple|hold|release|long|on|off|toggle|[0-9]{1,2})(_[0-9]{1,2})?)$`,
);
export const usualUnits = new RegExp(
  `^(${Object.values(quantities)
    .flatMap(({ unit, ...row }) => [unit, ...Object.keys("also" in row ? row.also : {})])
    .join("|")})$`,
);

interface Quantity {
  readonly title: string;
  /** Empty where the value has none. */
  readonly unit: string;
  readonly meaning: string;
}

interface QuantityRow extends Quantity {
  /** Other units that devices tell it in, each with how a value becomes one of `unit`. */
  readonly also?: Readonly<Record<string, (value: number) => number>>;
}

/** A quantity by its name; undefined of one that is not in the table. */
export function quantityOf(name: string): Quantity | undefined {
  if (name.startsWith(action_prefix)) return { ...press, title: titleOf(name) };
  return rowOf(name);
}

/** The values of a reading of `wirelesssensor_measures`. */
export interface MeasureValues {
  readonly quantity: string;
  readonly value: number;
  readonly unit: string;
  readonly [field: string]: string | number;
}

/**
 * A measure as it is recorded: in the unit of the table where the quantity is known and was told in one that can be turned into it, and
 * otherwise as it was told. `unit`: what the device tells it in; absent: that of the table.
 */
export function measureOf(quantity: string, value: number, unit?: string): MeasureValues {
  const known = rowOf(quantity);
  const told = unit ?? known?.unit ?? "";
  const turn = known?.also?.[told];
  // Zero is zero: JSON writes no other, so that a negative one would not come back as it is.
  if (known === undefined || turn === undefined) return { quantity, value: value + 0, unit: told };
  // Without the digits that a product in binary adds: 30.01 kPa are 300.1 hPa.
  return { quantity, value: Number(turn(value).toPrecision(12)), unit: known.unit };
}

/** One press of a button, by what its maker calls it: `single`, `double`, `hold`. */
export function pressOf(action: string): MeasureValues {
  return { quantity: `${action_prefix}${action}`, value: 1, unit: "" };
}

/** A name as a title: `soil_moisture` is `Soil moisture`. */
export function titleOf(quantity: string): string {
  const known = rowOf(quantity);
  const words = quantity.replaceAll("_", " ").replace(/^action /, "button ");
  return known?.title ?? capital(words);
}

const press = { unit: "", meaning: "a button was pressed, in the way that the name says: the value is 1" };

function rowOf(name: string): QuantityRow | undefined {
  return Object.hasOwn(quantities, name) ? quantities[name as keyof typeof quantities] : undefined;
}

function times(factor: number): (value: number) => number {
  return (value) => value * factor;
}

function fahrenheit(value: number): number {
  return ((value - 32) * 5) / 9;
}
