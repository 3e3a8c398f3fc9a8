import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { signedSchema } from "../base/signed-json.ts";
import { alarmBits, isMovement } from "./event-words.ts";
import type { Kind } from "./kinds.ts";
import { orNull, record, textOrNull, unixTime, unixTimeOrNull } from "./records/record-field.ts";
import type { SeriesName } from "./series.ts";

/** A task of a technician: the words that ask for it, the series that shows it, and what a device that is heard without it lacks. */
interface AcceptanceTaskRow {
  readonly asks: string;
  readonly series: SeriesName;
  readonly lacks: string;
}

/** Tasks by which devices prove themselves. The page, the command and the record follow this table. */
export const acceptanceTasks = {
  motion: { asks: "Walk past it.", series: "wirelesssensor_events", lacks: "motion" },
  walk: {
    asks: "Walk along its line, there and back.",
    series: "wirelesssensor_events",
    lacks: "a walk along its line",
  },
  door: {
    asks: "Open the door, and close it again.",
    series: "wirelesssensor_events",
    lacks: "a door that opens and closes",
  },
  use: { asks: "Use it once.", series: "wirelesssensor_events", lacks: "any use" },
  measure: {
    asks: "Press its button, or wait until it tells a number.",
    series: "wirelesssensor_measures",
    lacks: "a number",
  },
  weight: {
    asks: "Stand on it until it shows your weight.",
    series: "scale_weights",
    lacks: "a weight",
  },
  box: {
    asks: "Open one of its doors, and close it again.",
    series: "pillbox_events",
    lacks: "a door that opens and closes",
  },
  wear: { asks: "Put it on, and walk some steps.", series: "watch_epochs", lacks: "any movement" },
} as const satisfies Readonly<Record<string, AcceptanceTaskRow>>;

export type AcceptanceTask = keyof typeof acceptanceTasks;

/** The task of a device. `measuresOnly`: it tells numbers and no events. */
export function taskOf(kind: Kind, subtype: string, measuresOnly: boolean): AcceptanceTask {
  if (kind === "pillboxes") return "box";
  if (kind === "scales") return "weight";
  if (kind === "watches") return "wear";
  if (isMovement(subtype)) return "motion";
  if (subtype === "door") return "door";
  return measuresOnly ? "measure" : "use";
}

/** A reading that a task is judged by: unix milliseconds, and its first value. */
export type TaskReading = readonly [stamp_ms: number, value: unknown];

const openBit = 0b1;
/** Seven doors. */
const boxDoors = 0x7f;

/** When a task was done by readings from old to new, unix milliseconds; undefined where it was not. A sign of life does none of them. */
export function taskDone_ms(task: AcceptanceTask, readings: readonly TaskReading[]): number | undefined {
  const bits = (mask: number) => readings.find(([, event]) => (Number(event) & mask) !== 0)?.[0];
  switch (task) {
    case "motion":
    case "walk":
    case "use":
      return bits(alarmBits);
    case "door":
      return closed_ms(readings, openBit);
    case "box":
      return closed_ms(readings, boxDoors);
    case "weight":
      return readings.find(([, weight]) => Number(weight) > 0)?.[0];
    case "measure":
    case "wear":
      return readings[0]?.[0];
  }
}

/** When something that was told as open was told as closed. */
function closed_ms(readings: readonly TaskReading[], mask: number): number | undefined {
  let open = 0;
  for (const [stamp_ms, event] of readings) {
    const now = Number(event) & mask;
    if ((open & ~now) !== 0) return stamp_ms;
    open |= now;
  }
  return undefined;
}

const text = (description: string) => Type.String({ description, maxLength: 500 });
const texts = (description: string) => Type.Array(Type.String({ maxLength: 200 }), { description });
const flag = (description: string) => Type.Boolean({ description });
const number = (description: string) => orNull(Type.Number(), description);
const time = (description: string) => unixTime({ description });

/** A fault of an installation. */
export const AcceptanceFault = record("Acceptance fault", {
  what: text("the fault in a sentence"),
  remedy: text("what to do about it"),
});
export type AcceptanceFault = Static<typeof AcceptanceFault>;

export const AcceptedDevice = record("Accepted device", {
  itemname: text("name of the item"),
  typename: text("type name of the item"),
  subtypename: text("subtype of the item"),
  room: textOrNull("the room that it is in"),
  macaddress: text("its address"),
  replaces: textOrNull("address of the broken device whose place it took"),
  model: textOrNull("vendor and model"),
  firmware: textOrNull("the version of its firmware, as it tells"),
  task: text(
    "what the technician was asked to do: `motion`, `walk`, `door`, `use`, `measure`, `weight`, `box` or `wear`",
  ),
  asked: unixTimeOrNull("when the technician was asked last"),
  done: unixTimeOrNull("when the device told of it, after that and before the next task"),
  later: flag("it keeps what happens until it is asked: no technician waits for it"),
  instead: texts("other devices that told of such a thing meanwhile, while this one did not"),
  heard: unixTimeOrNull("when it was last heard, by any sign of life"),
  overdue: flag("it was not heard within its time"),
  signal: number("link quality, 0 to 255"),
  battery: number("charge in percent"),
  batteryvoltage: number("voltage in mV"),
  batterylow: flag("its battery should be changed"),
  through: textOrNull("the device that passes on its messages, or `the stick`, by the last scan of the mesh"),
  poor: flag("its way to the stick is weak, by that scan"),
  metres: number("of a curtain sensor, its distance from the end of its line in metres"),
  elsewhere: flag("by the inventory it is in another home"),
});
export type AcceptedDevice = Static<typeof AcceptedDevice>;

export const AcceptedWalk = record("Accepted walk", {
  direction: text("`there`, from the sensor at the lowest distance, or `back`"),
  asked: time("when the technician was asked"),
  fired: texts("the sensors of the line in the order in which they saw the technician"),
  took: number("seconds from the first to the last of them"),
});
export type AcceptedWalk = Static<typeof AcceptedWalk>;
export type WalkDirection = "there" | "back";

export const AcceptedLine = record("Accepted line", {
  line: text("name of the line"),
  order: texts("its sensors in order of their distances"),
  fault: textOrNull("why it measures no walking speed"),
  walks: Type.Array(AcceptedWalk, { description: "walks of the technician along it" }),
});
export type AcceptedLine = Static<typeof AcceptedLine>;

/** The upload and comparison that the box made for a record. */
export const AcceptanceUpload = record("Acceptance upload", {
  url: textOrNull("where the box uploads to; null where everything stays in it"),
  sent: number("readings that were sent"),
  differingdays: number("days that differed, and were sent again"),
  failure: textOrNull("why it failed"),
});
export type AcceptanceUpload = Static<typeof AcceptanceUpload>;

const findings = {
  homeid: number("identifier of the home, where the box knows it"),
  timezone: text("time zone of the home"),
  started: time("when the visit began"),
  finished: time("when it was finished"),
  release: text("version of Lintel"),
  devices: Type.Array(AcceptedDevice, { description: "devices of the home", maxItems: 500 }),
  lines: Type.Array(AcceptedLine, { description: "lines of curtain sensors", maxItems: 50 }),
  clockknown: flag("the clock of the box was known to be right"),
  clockdoubt: textOrNull("why it was not believed"),
  paused: flag("nothing was recorded, because the home had asked for that"),
  upload: AcceptanceUpload,
};
const AcceptanceFindings = Type.Object(findings);
/** Findings of a box about an installation, before anything is judged. */
export type AcceptanceFindings = Static<typeof AcceptanceFindings>;

/** A visit that is under way, as far as it has come. */
export interface VisitFindings extends Pick<AcceptanceFindings, "devices" | "lines"> {
  /** For each room whose line was walked along to learn its order: its curtain sensors as they saw the technician. */
  readonly orders: Readonly<Record<string, readonly string[]>>;
  /** Faults that would keep the home from being accepted now, but for those of the box and central. */
  readonly faults: readonly AcceptanceFault[];
  /** The last task: the address of a device, or a walk (`walkAsk`). */
  readonly now: string | null;
}

/** The name of a walk along a line in a visit: to learn the order of its sensors, or to prove it. */
export function walkAsk(line: string, walk: "order" | WalkDirection): string {
  return `${walk} ${line}`;
}

/** The record of an installation, frozen when the technician finished. */
export const Acceptance = record("Acceptance", {
  format: Type.Literal("lintel acceptance 1", { description: "form of this record" }),
  number: Type.Integer({ description: "number of the record at this box", minimum: 1 }),
  tester: text("name of the technician"),
  ...findings,
  passed: flag("no fault was found"),
  faults: Type.Array(AcceptanceFault, { description: "faults that were found", maxItems: 1_000 }),
});
export type Acceptance = Static<typeof Acceptance>;

export const NightCoverage = record("Night coverage", {
  itemname: text("name of the item"),
  covered: Type.Number({
    description: "share of the time in which the box listened and the device was alive",
  }),
});

/** The night after an acceptance, which the box adds the next morning. */
export const FirstNight = record("First night", {
  format: Type.Literal("lintel first night 1", { description: "form of this record" }),
  number: Type.Integer({ description: "number of the acceptance", minimum: 1 }),
  acceptance: text("signature of the acceptance"),
  since: time("when the acceptance was finished"),
  until: time("when this was found"),
  coverage: Type.Array(NightCoverage, { description: "coverage of each device", maxItems: 500 }),
  lateframes: Type.Integer({
    description: "messages of devices that were on disk later than two seconds after they came",
  }),
  clockoffset: number("milliseconds by which the clock was off at most, as the kernel reckons it"),
  commit: number("milliseconds in which the card took 99 of 100 writes"),
  good: flag("nothing was wrong"),
  faults: Type.Array(AcceptanceFault, { description: "faults that were found", maxItems: 1_000 }),
});
export type FirstNight = Static<typeof FirstNight>;

function signedRecord<Schema extends TSchema>(title: string, schema: Schema) {
  const { signed, key, signature } = signedSchema(schema).properties;
  return {
    title,
    fields: {
      signed,
      key: { ...key, description: "public key of the box: Ed25519 in base64" },
      signature: {
        ...signature,
        description:
          "its signature of `signed` as JSON without spaces, keys in the order in which they are here",
      },
    },
  };
}

const { title: nightTitle, fields: nightFields } = signedRecord("Signed first night", FirstNight);
export const SignedFirstNight = record(nightTitle, nightFields);
const { title, fields } = signedRecord("Signed acceptance", Acceptance);
/** A record as it is kept and served. */
export const KeptAcceptance = record(title, {
  ...fields,
  nights: Type.Array(SignedFirstNight, { description: "the first night: none, or one", maxItems: 1 }),
});
export type KeptAcceptance = Static<typeof KeptAcceptance>;

/** Records that a box keeps. */
export const acceptances_max = 100;

/** The newest acceptance of a box as it tells central of it. */
export const AcceptanceReport = Type.Object(
  {
    number: Type.Integer({ minimum: 1 }),
    finished_ms: Type.Integer({ minimum: 0, maximum: 253_402_300_799_999 }),
    /** Its first faults, in words: none where it passed. */
    faults: Type.Array(Type.String({ maxLength: 500 }), { maxItems: 3 }),
    /** Those of the first night; absent before it. */
    night: Type.Optional(Type.Array(Type.String({ maxLength: 500 }), { maxItems: 3 })),
  },
  { additionalProperties: false },
);
export type AcceptanceReport = Static<typeof AcceptanceReport>;

export function acceptanceReportOf({ signed, nights }: KeptAcceptance): AcceptanceReport {
  const words = (faults: readonly AcceptanceFault[]) => faults.slice(0, 3).map(({ what }) => what);
  return {
    number: signed.number,
    finished_ms: signed.finished * 1000,
    faults: words(signed.faults),
    ...(nights[0] && { night: words(nights[0].signed.faults) }),
  };
}

/** `Accepted, first night good`, or what was not. */
export function acceptanceAnswer({ faults, night }: AcceptanceReport): string {
  if (faults.length > 0) return `Not accepted${reasonsText(faults)}`;
  if (night === undefined) return "Accepted, first night to come.";
  return night.length === 0
    ? "Accepted, first night good."
    : `Accepted, but the first night was not good${reasonsText(night)}`;
}

/** How a visit ended: with a record, whose answer this is, or without one. */
export type FinishedVisit = { readonly number: number; readonly answer: string } | { readonly why: string };

/** A report has the first reasons alone, and so no count of them. */
function reasonsText([first, ...others]: readonly string[]): string {
  return others.length === 0 ? `: ${first}` : `, for several reasons. The first: ${first}`;
}

/** Answers the acceptances of a home, newest first; a gateway has one home, and does not look which. */
export type AcceptancesOf = (home: number | undefined) => Promise<readonly KeptAcceptance[]>;
