import { type TSchema, Type } from "@sinclair/typebox";
import type { Kind } from "./kinds.ts";
import { usualQuantities, usualUnits } from "./quantities.ts";
import { identifying, unixTime } from "./records/record-field.ts";

/**
 * The time series: the one table that schema, SQL, JSON, CSV, upload columns, OpenAPI and plots derive
 * from. One more series is one more entry here, and once a release has made databases a
 * migration that makes its table; types ask for its words in src/domain/device-words.ts.
 *
 * Every reading has, besides the fields below, `stamp`: kept in milliseconds, served in unix seconds.
 * `fields` stand in the order in which they are served, after `stamp`.
 */
export const seriesTable = {
  pillbox_status: {
    kind: "pillboxes",
    path: "status",
    title: "Pill-box status",
    record: "Pill-box status",
    since: "0.1",
    /** A broadcasting box reports no status: only these subtypes of the kind have the series. */
    subtypes: ["polled"],
    deviceClock: true,
    stampMeaning: "when the status was polled",
    fields: {
      devicestamp: time("time reported by the device"),
      voltage: integer("mV", "device voltage"),
      powersource: text(
        "",
        "what powers the device",
        Type.Union([Type.Literal("external_power"), Type.Literal("battery")]),
      ),
      eventcount: integer("door states", "total door states recorded by the device"),
      batteryseconds: text("s", "seconds spent on battery power", known(/^[0-9.]{1,20}$/)),
      firmwarerevsion: text("", "firmware version", known(/^[0-9.]{1,20}$/)),
      macaddress: text("", "MAC address reported by the device"),
      nextpanicstart: time("start of the next radio broadcast"),
      nextpanicstop: time("end of the next radio broadcast"),
    },
  },
  pillbox_events: {
    kind: "pillboxes",
    path: "events",
    title: "Pill-box events",
    record: "Pill-box event",
    since: "0.8",
    deviceClock: true,
    stampMeaning: "when the event occurred",
    fields: {
      event: {
        ...integer("bitmask", "open doors: bit p is door p, 0 Sunday to 6 Saturday"),
        bits: [
          "the door of Sunday is open",
          "the door of Monday is open",
          "the door of Tuesday is open",
          "the door of Wednesday is open",
          "the door of Thursday is open",
          "the door of Friday is open",
          "the door of Saturday is open",
        ],
      },
    },
  },
  wirelesssensor_events: {
    kind: "wirelesssensors",
    path: "events",
    title: "Wireless sensor events",
    record: "Wireless sensor event",
    since: "0.2",
    stampMeaning: "when the event occurred",
    fields: {
      event: {
        ...integer(
          "bitmask",
          "IAS zone status as received: bit 0 alarm 1 (proximity), bit 1 alarm 2 (presence)",
        ),
        // ZCL 8.2.2.2.1.3; the rest are reserved.
        bits: [
          "alarm 1: proximity (a door or window is open), vibration, water, smoke",
          "alarm 2: presence or movement",
          "the sensor was opened or taken off",
          "its battery is low",
          "it sends supervision reports",
          "it reports the end of an alarm",
          "it has a fault",
          "its mains supply has a fault",
          "it is in test mode",
          "its battery has a defect",
        ],
      },
    },
  },
  wirelesssensor_measures: {
    kind: "wirelesssensors",
    path: "measures",
    title: "Wireless sensor measures",
    record: "Wireless sensor measure",
    since: "0.9",
    ofSome: true,
    stampMeaning: "when the sensor told it",
    fields: {
      quantity: text(
        "",
        "what was measured: the list of quantities has the names that are known",
        known(usualQuantities),
      ),
      value: { schema: Type.Number(), sql: "REAL", unit: "", meaning: "the number, in the unit beside it" },
      unit: text(
        "",
        "unit of the value, such as °C, %, lx, hPa or W; empty where it has none",
        known(usualUnits),
      ),
    },
  },
  scale_weights: {
    kind: "scales",
    path: "weights",
    title: "Scale weights",
    record: "Scale weight",
    since: "0.8",
    deviceClock: true,
    stampMeaning: "start of the measurement period",
    fields: {
      weight: integer("g", "total weight"),
      fatMass: integer("g", "fat weight", nullable(Type.Integer())),
      waterMass: integer("g", "water weight", nullable(Type.Integer())),
      boneMass: integer("g", "bone weight", nullable(Type.Integer())),
      muscleMass: integer("g", "muscle weight", nullable(Type.Integer())),
      batteryLevel: integer("%", "battery level", nullable(Type.Integer())),
    },
  },
  scale_heart: {
    kind: "scales",
    path: "heart",
    title: "Scale heart rates",
    record: "Scale heart rate",
    since: "0.8",
    deviceClock: true,
    stampMeaning: "start of the measurement period",
    fields: {
      heartRate: integer("1/min", "heart rate measured through the foot"),
    },
  },
  watch_epochs: {
    kind: "watches",
    path: "epochs",
    title: "Watch epochs",
    record: "Watch epoch",
    since: "0.8",
    deviceClock: true,
    stampMeaning: "start of the epoch",
    fields: {
      duration: integer("s", "epoch length"),
      distance: { schema: Type.Number(), sql: "REAL", unit: "m", meaning: "distance travelled" },
      steps: integer("steps", "steps in the epoch"),
      walkState: state(2, "1 not walking, 2 walking"),
      runState: state(2, "1 not running, 2 running"),
      sleepState: state(4, "1 wake, 2 light, 3 deep, 4 REM"),
    },
  },
} as const satisfies Record<string, SeriesDefinition>;

export type SeriesName = keyof typeof seriesTable;

export const seriesNames = Object.keys(seriesTable) as SeriesName[];

/** Characters of a text in a reading. */
export const text_length_max = 200;

/** One value of a reading, as SQLite, PostgreSQL and JSON all hold it. */
export type Value = number | string | null;

export interface SeriesDefinition {
  readonly kind: Kind;
  /** Last segment of the route: `/items/{kind}/{itemname}/{path}`. */
  readonly path: string;
  readonly title: string;
  /** Name of one record of the series. */
  readonly record: string;
  /** The API version that introduced the series. */
  readonly since: string;
  readonly subtypes?: readonly string[];
  /** Some devices of the kind have it and others never will: whoever lists what a device has looks whether there are readings. */
  readonly ofSome?: true;
  /** The devices have a clock of their own: its time is kept with each reading, and the offset added to it. */
  readonly deviceClock?: true;
  readonly stampMeaning: string;
  readonly fields: Readonly<Record<string, SeriesField>>;
}

export interface SeriesField {
  readonly schema: TSchema;
  readonly sql: "INTEGER" | "REAL" | "TEXT";
  readonly unit: string;
  readonly meaning: string;
  /** Of a number whose bits each say yes or no: what each says where it is set, from bit 0 on. */
  readonly bits?: readonly string[];
}

/** The definition of a series, in the one type that generic code reads the table by. */
export function seriesOf(name: SeriesName): SeriesDefinition {
  return seriesTable[name];
}

function integer(unit: string, meaning: string, schema: TSchema = Type.Integer()): SeriesField {
  return { schema, sql: "INTEGER", unit, meaning };
}

function text(unit: string, meaning: string, schema: TSchema = Type.String()): SeriesField {
  return { schema, sql: "TEXT", unit, meaning };
}

/** A text of a device, which tells of nobody where it has this form. */
function known(form: RegExp): TSchema {
  return identifying({ isKnown: (text) => form.test(text) }, Type.String());
}

function time(meaning: string): SeriesField {
  return integer("unix s", meaning, unixTime());
}

/** One of the states from 1 to `last`. */
function state(last: number, meaning: string): SeriesField {
  return integer("", meaning, Type.Integer({ minimum: 1, maximum: last }));
}

function nullable(schema: TSchema): TSchema {
  return Type.Union([schema, Type.Null()]);
}
