import type { quantities } from "../../domain/quantities.ts";
import { type SeriesName, seriesOf } from "../../domain/series.ts";
import type { MeasuredFact } from "./facts.ts";

/**
 * A kind of measurement, and what it is in each standard: the one table from Lintel's series to theirs. A standard that is left out of a row has no
 * schema or code for it; `unmapped` says so.
 */
export interface Mapping {
  readonly series: SeriesName;
  /** The fields of the series that it is made of. */
  readonly fields: readonly string[];
  /** Of `wirelesssensor_measures`: the quantity. */
  readonly quantity?: string;
  /** Made of stretches of sleep, not of single readings. */
  readonly sleep?: true;
  /** It measures a room, not somebody. */
  readonly ofRoom?: true;
  /** How it is made, where it is more than a number in another unit. */
  readonly made?: string;
  readonly ieee1752?: DataPointForm;
  readonly fhir?: ObservationForm;
}

/** A data point of IEEE 1752.1 or Open mHealth. */
export interface DataPointForm {
  readonly namespace: "ieee" | "omh";
  readonly name: string;
  readonly version: string;
  /** Everything of the body but its time frame; undefined where there is nothing to tell. */
  readonly body: (fact: MeasuredFact) => object | undefined;
}

/** An Observation of FHIR R4 with one number; units are UCUM codes. */
export interface ObservationForm {
  readonly loinc: Loinc;
  readonly unit: string;
  readonly value: (fact: MeasuredFact) => number | undefined;
  readonly category?: "vital-signs" | "activity";
  /** The profile of the standard that it keeps to. */
  readonly profile?: string;
  readonly components?: readonly Omit<ObservationForm, "components">[];
}

export interface Loinc {
  readonly code: string;
  readonly display: string;
}

const kilograms =
  (field: string) =>
  ({ values }: MeasuredFact) =>
    over(values[field], 1000);
const told =
  (field: string) =>
  ({ values }: MeasuredFact) =>
    over(values[field], 1);

export const mappings: readonly Mapping[] = [
  {
    series: "scale_weights",
    fields: ["weight"],
    ieee1752: dataPoint("omh:body-weight:3.0", "body_weight", "kg", kilograms("weight")),
    fhir: {
      ...vitalSign("bodyweight", { code: "29463-7", display: "Body weight" }),
      unit: "kg",
      value: kilograms("weight"),
    },
  },
  {
    series: "scale_weights",
    fields: ["fatMass"],
    fhir: bodyMass({ code: "73708-0", display: "Body fat [Mass] Calculated" }, "fatMass"),
  },
  {
    series: "scale_weights",
    fields: ["fatMass", "weight"],
    made: "fat weight as a percentage of the total weight, to a hundredth",
    ieee1752: dataPoint("omh:body-fat-percentage:2.0", "body_fat_percentage", "%", fatPercentage),
  },
  {
    series: "scale_weights",
    fields: ["waterMass"],
    fhir: bodyMass({ code: "101683-1", display: "Body water mass" }, "waterMass"),
  },
  {
    series: "scale_weights",
    fields: ["boneMass"],
    fhir: bodyMass({ code: "101685-6", display: "Body bone mass" }, "boneMass"),
  },
  {
    series: "scale_weights",
    fields: ["muscleMass"],
    fhir: bodyMass({ code: "73964-9", display: "Body muscle mass Calculated" }, "muscleMass"),
  },
  { series: "scale_heart", fields: ["heartRate"], ...heartRate("heartRate") },
  {
    series: "watch_epochs",
    fields: ["duration", "steps"],
    ieee1752: dataPoint("omh:step-count:3.0", "step_count", "steps", told("steps")),
    fhir: {
      loinc: { code: "55423-8", display: "Number of steps in unspecified time Pedometer" },
      category: "activity",
      unit: "{steps}",
      value: told("steps"),
    },
  },
  {
    series: "watch_epochs",
    fields: ["duration", "distance"],
    fhir: {
      loinc: { code: "55430-3", display: "Walking distance unspecified time Pedometer" },
      category: "activity",
      unit: "m",
      value: told("distance"),
    },
  },
  {
    series: "watch_epochs",
    fields: ["duration", "steps", "distance", "walkState", "runState"],
    made: "epochs in which the watch told that somebody walked or ran",
    ieee1752: { namespace: "ieee", name: "physical-activity", version: "1.0", body: activity },
  },
  {
    series: "watch_epochs",
    fields: ["duration", "sleepState"],
    sleep: true,
    made: "stretches of sleep that at most an hour parts, with the breaks between them (van Hees and others, Scientific Reports 8, 2018, 12975, join them so)",
    ieee1752: { namespace: "ieee", name: "sleep-episode", version: "1.0", body: sleepEpisode },
    fhir: {
      ...minutesOf({ code: "93832-4", display: "Sleep duration" }, "asleep"),
      category: "activity",
      components: [
        minutesOf({ code: "93830-8", display: "Light sleep duration" }, "light"),
        minutesOf({ code: "93831-6", display: "Deep sleep duration" }, "deep"),
        minutesOf({ code: "93829-0", display: "REM sleep duration" }, "rem"),
      ],
    },
  },
  {
    ...measure("temperature"),
    ofRoom: true,
    ieee1752: dataPoint("ieee:ambient-temperature:1.0", "ambient_temperature", "C", told("value")),
    fhir: {
      loinc: { code: "60832-3", display: "Room temperature" },
      unit: "Cel",
      value: told("value"),
    },
  },
  {
    ...measure("illuminance"),
    ofRoom: true,
    ieee1752: {
      namespace: "ieee",
      name: "ambient-light",
      version: "1.0",
      body: ({ values }) => ({ ambient_light: [{ intensity: { value: values["value"], unit: "lx" } }] }),
    },
  },
  {
    ...measure("noise"),
    ofRoom: true,
    ieee1752: dataPoint("ieee:ambient-sound:1.0", "ambient_sound", "dBA", told("value")),
  },
  { ...measure("heart_rate"), ...heartRate("value") },
  {
    ...measure("body_temperature"),
    ieee1752: dataPoint("omh:body-temperature:4.0", "body_temperature", "C", told("value")),
    fhir: {
      ...vitalSign("bodytemp", { code: "8310-5", display: "Body temperature" }),
      unit: "Cel",
      value: told("value"),
    },
  },
];

/**
 * Everything of some series that a standard has nothing for: whole series, fields as `series.field`, and quantities as `series (quantity)`.
 *
 * @param measured the quantities that were measured
 */
export function unmapped(
  standard: "ieee1752" | "fhir",
  series: readonly SeriesName[],
  measured: readonly string[],
): string[] {
  const mapped = mappings.filter((mapping) => mapping[standard] !== undefined);
  return series.flatMap((name) => {
    const own = mapped.filter((mapping) => mapping.series === name);
    if (own.length === 0) return [name];
    if (own.some(({ quantity }) => quantity !== undefined))
      return measured
        .filter((quantity) => !own.some((mapping) => mapping.quantity === quantity))
        .map((quantity) => `${name} (${quantity})`);
    return Object.keys(seriesOf(name).fields)
      .filter((field) => !own.some(({ fields }) => fields.includes(field)))
      .map((field) => `${name}.${field}`);
  });
}

/** A data point with one number of a unit; `id` is `namespace:name:version`. */
function dataPoint(
  id: `${"ieee" | "omh"}:${string}:${string}`,
  property: string,
  unit: string,
  number: (fact: MeasuredFact) => number | undefined,
): DataPointForm {
  const [namespace, name = "", version = ""] = id.split(":") as ["ieee" | "omh", string, string];
  const body = (fact: MeasuredFact) => {
    const value = number(fact);
    return value === undefined ? undefined : { [property]: { value, unit } };
  };
  return { namespace, name, version, body };
}

function vitalSign(profile: string, loinc: Loinc) {
  return {
    loinc,
    category: "vital-signs",
    profile: `http://hl7.org/fhir/StructureDefinition/${profile}`,
  } as const;
}

function bodyMass(loinc: Loinc, field: string): ObservationForm {
  return { loinc, unit: "kg", value: kilograms(field) };
}

function minutesOf(loinc: Loinc, value: string): ObservationForm {
  return { loinc, unit: "min", value: told(value) };
}

function heartRate(field: string) {
  return {
    ieee1752: dataPoint("omh:heart-rate:2.0", "heart_rate", "beats/min", told(field)),
    fhir: {
      ...vitalSign("heartrate", { code: "8867-4", display: "Heart rate" }),
      unit: "/min",
      value: told(field),
    },
  };
}

function measure(quantity: keyof typeof quantities) {
  return { series: "wirelesssensor_measures", fields: ["quantity", "value", "unit"], quantity } as const;
}

function fatPercentage({ values }: MeasuredFact): number | undefined {
  const { fatMass, weight } = values;
  if (typeof fatMass !== "number" || typeof weight !== "number" || weight === 0) return undefined;
  return Math.round((fatMass / weight) * 10_000) / 100;
}

/** An epoch that the watch calls neither walking nor running is no activity. */
function activity({ values }: MeasuredFact): object | undefined {
  const { walkState, runState, duration, steps, distance } = values;
  if (walkState !== on && runState !== on) return undefined;
  return {
    activity_name: runState === on ? "running" : "walking",
    base_movement_quantity: { value: steps, unit: "steps" },
    distance: { value: distance, unit: "m" },
    duration: { value: duration, unit: "sec" },
  };
}

function sleepEpisode({ values }: MeasuredFact): object {
  const { asleep, light, deep, rem, awake, awakenings } = values;
  const lasting = (value: unknown) => ({ value, unit: "min" });
  const stage = (name: string, value: unknown) => (value === null ? {} : { [name]: lasting(value) });
  return {
    total_sleep_time: lasting(asleep),
    ...stage("light_sleep_duration", light),
    ...stage("deep_sleep_duration", deep),
    ...stage("rem_sleep_duration", rem),
    ...(awake === null ? {} : { wake_after_sleep_onset: lasting(awake), number_of_awakenings: awakenings }),
  };
}

function over(value: unknown, divisor: number): number | undefined {
  return typeof value === "number" ? value / divisor : undefined;
}

/** Of `walkState` and `runState`: walking, running. */
const on = 2;
