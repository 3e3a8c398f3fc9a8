import type { DeviceRecord } from "./device-facts.ts";
import type { Kind } from "./kinds.ts";
import { type SeriesName, seriesNames, seriesTable } from "./series.ts";

/** A device in the words of somebody who lives with it. */
export interface DeviceWords {
  /** One of them: `motion sensor`. Several: `Motion sensors`. */
  readonly noun: string;
  readonly name: string;
  /** Everything that it tells, and something more to know of that, in whole sentences. */
  readonly tells: string;
  readonly more?: string;
  /** How little that says. */
  readonly tellsNot: string;
  /** How it is heard although nothing happens, in whole sentences. */
  readonly heard: string;
}

/** Kinds of device that write something down. */
type RecordingKind = (typeof seriesTable)[SeriesName]["kind"];

export function isRecording(kind: string): kind is RecordingKind {
  return seriesNames.some((name) => seriesTable[name].kind === kind);
}

/** The words for a device of a kind and subtype; `null`, the interface's word for none, is a subtype like one that nobody knows. */
export function deviceWords(kind: Kind, subtype: string): DeviceWords {
  return bySubtype[`${kind} ${subtype}`] ?? byKind[kind];
}

/** Several devices that go by one name, in whole sentences. */
export function severalWords(kind: RecordingKind, subtype: string) {
  const { name, tells, more, tellsNot } = deviceWords(kind, subtype);
  const sentences = [`They write down ${tells}.`, ...(more === undefined ? [] : [more])];
  return { name, tells: sentences.join(" "), tellsNot: `They do not know ${tellsNot}.` };
}

const byKind: Readonly<Record<Kind, DeviceWords>> = {
  wirelesssensors: {
    noun: "sensor",
    name: "Sensors",
    tells: "when something happens near by, and when it is over",
    tellsNot: "who it was",
    heard: "Speaks when something happens, and about every hour besides.",
  },
  pillboxes: {
    noun: "pill box",
    name: "Pill boxes",
    tells: "when a door is opened or closed, and which one",
    tellsNot: "which pills are inside, or whether anybody took them",
    heard: "Keeps what happens until it is asked, about every hour.",
  },
  scales: {
    noun: "scale",
    name: "Scales",
    tells:
      "a weight when somebody steps on, and with bare feet what that is made of and how fast the heart beats",
    tellsNot: "who it was: a guest who steps on is written down too",
    heard: "Speaks when somebody has stepped on it, and never otherwise.",
  },
  watches: {
    noun: "watch",
    name: "Watches",
    tells: "how much the wearer moves, and whether they seem to be asleep",
    tellsNot: "where the wearer is, who it is, or anything of the time in which nobody wears it",
    heard: "Keeps what happens until it is read, about once a day.",
  },
  gateways: {
    noun: "gateway",
    name: "Gateways",
    tells: "nothing of its own: it keeps what the other devices tell",
    tellsNot: "anything of sound, of pictures, or of what is said",
    heard: "Speaks to central each night.",
  },
};

/** Devices of a kind that differ in what they tell, by kind and subtype. */
const bySubtype: Readonly<Record<string, DeviceWords>> = {
  "wirelesssensors wall": {
    noun: "motion sensor",
    name: "Motion sensors",
    tells: "when somebody moves in the room, and when nobody has for a while",
    more: "They feel the warmth of a body that moves.",
    tellsNot: "who it is, how many there are, what they do, or whether somebody sits or lies still",
    heard: "Speaks when something moves, and about every hour besides.",
  },
  "wirelesssensors door": {
    noun: "door sensor",
    name: "Door sensors",
    tells: "when a door, a window or a drawer is opened, and when it is closed",
    tellsNot: "who opened it, or whether anybody went in or out",
    heard: "Speaks when the door moves, and about every hour besides.",
  },
  "wirelesssensors curtain": {
    noun: "curtain sensor",
    name: "Curtain sensors",
    tells: "when somebody walks past below",
    more: "They see as far as a thin curtain would hang. Several in a row show how fast somebody walks.",
    tellsNot: "who it is, how many there are, or, alone, which way they walk",
    heard: "Speaks when somebody passes, and about every hour besides.",
  },
  "pillboxes broadcasting": {
    noun: "pill box",
    name: "Pill boxes",
    tells: "when a door is opened or closed, and which one",
    tellsNot: "which pills are inside, or whether anybody took them",
    heard: "Speaks when a door moves, and a few times a day besides; what is not heard then is lost.",
  },
};

/** When a reading of a series is made, and everything in it besides its time, in the same words. */
export const seriesWords: {
  readonly [Name in SeriesName]: {
    readonly when: string;
    readonly fields: { readonly [Field in keyof (typeof seriesTable)[Name]["fields"]]: string };
  };
} = {
  pillbox_status: {
    when: "Now and then a box also tells how it is itself",
    fields: {
      devicestamp: "the time on its own clock",
      voltage: "how strong its battery is",
      powersource: "whether it runs on its battery",
      eventcount: "how often its doors have been used",
      batteryseconds: "how long it has run on its battery",
      firmwarerevsion: "the version of its program",
      macaddress: "the address of its radio",
      nextpanicstart: "when it will next use its radio",
      nextpanicstop: "for how long it will use it",
    },
  },
  pillbox_events: { when: "Each time a door is used", fields: { event: "which doors are open" } },
  wirelesssensor_events: { when: "Each time", fields: { event: "whether it was the beginning or the end" } },
  wirelesssensor_measures: {
    when: "Some of them also measure something, every few minutes or when it changes",
    fields: {
      quantity:
        "what was measured, such as how warm, how damp or how bright it is, or that a button was pressed",
      value: "how much it was",
      unit: "in which unit",
    },
  },
  scale_weights: {
    when: "Each time somebody steps on one",
    fields: {
      weight: "the weight",
      fatMass: "how much of it is fat",
      waterMass: "how much of it is water",
      boneMass: "how much of it is bone",
      muscleMass: "how much of it is muscle",
      batteryLevel: "how full the battery is",
    },
  },
  scale_heart: {
    when: "From a scale that can feel it through the foot",
    fields: { heartRate: "how fast the heart beats" },
  },
  watch_epochs: {
    when: "Every few minutes",
    fields: {
      duration: "for how long it measured",
      distance: "how far its wearer went",
      steps: "how many steps they took",
      walkState: "whether they walked",
      runState: "whether they ran",
      sleepState: "whether they were awake, or how deeply they slept",
    },
  },
};

/** The facts of a device in words for a methods section, a line each; what is not known has none. */
export function methodsLines(device: DeviceRecord): { readonly title: string; readonly value: string }[] {
  const { description, driver, events, eventsfrom, measures, nevertells, blind, cadence } = device;
  const lines: Readonly<Record<string, string | undefined>> = {
    Device: description ?? undefined,
    "Heard by": driver === null ? undefined : (radios[driver] ?? driver),
    Recorded:
      events === null ? undefined : `${events === "received" ? "as received" : "translated"}: ${eventsfrom}`,
    Measures: some(measures.map(({ quantity, unit }) => (unit === "" ? quantity : `${quantity} (${unit})`))),
    "Never tells": some(nevertells),
    "Sees nothing": blind === null ? undefined : `for ${lengthText(blind)} after an event`,
    "Is heard": cadence === null ? "when it is used" : `at least every ${lengthText(cadence)}`,
    Battery: batteryText(device),
    Firmware: firmwareText(device),
  };
  const now = Object.entries(lines).flatMap(([title, value]) =>
    value === undefined ? [] : [{ title, value }],
  );
  return [...now, ...device.history.flatMap((after, place) => pastLine(device.history[place + 1], after))];
}

type PastDevice = DeviceRecord["history"][number];

/** A line about a time before: the facts that differed from those after it. */
function pastLine(past: PastDevice | undefined, after: PastDevice): { title: string; value: string }[] {
  if (past === undefined) return [];
  const { start, stop, ...before } = past;
  const names = Object.keys(before) as (keyof typeof before)[];
  const texts = names.flatMap((name) => {
    if (Bun.deepEquals(before[name], after[name])) return [];
    const value = before[name];
    const text = Array.isArray(value)
      ? value.map((one) => (typeof one === "string" ? one : one.quantity)).join(", ")
      : value;
    return [`${pastTitles[name] ?? name} ${text === null || text === "" ? "unknown" : text}`];
  });
  const day = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);
  return [{ title: `${day(start)} to ${day(stop ?? start)}`, value: texts.join("; ") }];
}

const pastTitles: Readonly<Partial<Record<keyof PastDevice, string>>> = {
  datecode: "date code",
  eventsfrom: "made of",
  measures: "measured",
  nevertells: "never told",
  batteryunit: "battery in",
};

function firmwareText({ firmware, datecode }: DeviceRecord): string | undefined {
  return some([
    ...(firmware === null ? [] : [firmware]),
    ...(datecode === null ? [] : [`date code ${datecode}`]),
  ]);
}

/** The radio or wire of a driver, in the words of who set it up. */
const radios: Readonly<Record<string, string>> = {
  zigbee: "Zigbee",
  ble: "Bluetooth",
  pillbox: "the radio of polled pill boxes",
  watch: "a wire",
  mqtt: "another hub, by MQTT",
};

function batteryText({ battery, batteryvoltage, batteryunit }: DeviceRecord): string | undefined {
  return some([
    ...(battery === null ? [] : [`${Math.round(battery)} %`]),
    ...(batteryvoltage === null ? [] : [`${Math.round(batteryvoltage)} mV`]),
    ...(batteryunit === null ? [] : [`told in ${batteryunit}`]),
  ]);
}

function some(texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : texts.join(", ");
}

function lengthText(seconds: number): string {
  if (seconds >= 7_200 && seconds % 3_600 === 0) return `${seconds / 3_600} h`;
  return seconds >= 120 && seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}
