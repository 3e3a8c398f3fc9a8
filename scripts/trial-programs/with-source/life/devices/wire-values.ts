import { below } from "../../../../../testbed/sample.ts";

/** Bytes of a number on the wire, the least significant first. */
export function little(value: number, bytes: number): number[] {
  return Array.from({ length: bytes }, (_, index) => Math.floor(value / 256 ** index) & 0xff);
}

/** A quantity of a Zigbee sensor: its value on the wire, and in its unit; undefined for what is no value. */
export interface ClimateKind {
  readonly cluster: number;
  readonly attribute: number;
  readonly type: "s16" | "u16";
  readonly quantity: string;
  readonly unit: string;
  draw(random: () => number): readonly [raw: number, value: number | undefined];
}

/** One value in four is that which says that there is none. */
function orNone(random: () => number, none: number, raw: number, value: number) {
  return random() < 0.25 ? ([none, undefined] as const) : ([raw, value] as const);
}

/** By the ZCL: 4.4, 4.7, 4.2, 4.5. */
export const climateKinds: readonly ClimateKind[] = [
  {
    ...{ cluster: 0x0402, attribute: 0, type: "s16", quantity: "temperature", unit: "°C" },
    draw: (random) => {
      const raw = below(random, 8_000) - 3_000;
      return orNone(random, -0x8000, raw, raw / 100);
    },
  },
  {
    ...{ cluster: 0x0405, attribute: 0, type: "u16", quantity: "humidity", unit: "%" },
    draw: (random) => {
      const raw = below(random, 10_001);
      return orNone(random, 0xffff, raw, raw / 100);
    },
  },
  {
    ...{ cluster: 0x0400, attribute: 0, type: "u16", quantity: "illuminance", unit: "lx" },
    draw: (random) => {
      const power = below(random, 6);
      return orNone(random, 0xffff, power * 10_000 + 1, 10 ** power);
    },
  },
  {
    ...{ cluster: 0x0403, attribute: 0, type: "s16", quantity: "pressure", unit: "hPa" },
    draw: (random) => {
      const raw = 900 + below(random, 200);
      return orNone(random, -0x8000, raw, raw);
    },
  },
];

/** Of the simulated sensor: 21.50 °C, 45.20 %, 21761 as 10,000 × log10(lx) + 1, 101.3 kPa, 1.0 × 1 ÷ 10 W. */
export const presentValues = [
  ["temperature", 21.5, "°C"],
  ["humidity", 45.2, "%"],
  ["illuminance", 10 ** 2.176, "lx"],
  ["pressure", 1_013, "hPa"],
  ["power", 1, "W"],
] as const;

export const watchDoings = [
  { name: "UNKNOWN", steps_max: 120, states: { walkState: 1, runState: 1, sleepState: 1 } },
  { name: "NOT_WORN", steps_max: 0, states: undefined },
  { name: "WALKING", steps_max: 950, states: { walkState: 2, runState: 1, sleepState: 1 } },
  { name: "EXERCISE", steps_max: 900, states: { walkState: 1, runState: 2, sleepState: 1 } },
  { name: "LIGHT_SLEEP", steps_max: 6, states: { walkState: 1, runState: 1, sleepState: 2 } },
  { name: "DEEP_SLEEP", steps_max: 0, states: { walkState: 1, runState: 1, sleepState: 3 } },
] as const;
