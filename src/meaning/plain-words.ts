import { type SeriesName, seriesNames, seriesTable } from "../series.ts";

/** A device in the words of somebody who lives with it. */
export interface DeviceWords {
  /** Several of them: `Motion sensors`. */
  readonly name: string;
  /** When it writes something down, in whole sentences. */
  readonly tells: string;
  /** How little that says, in whole sentences. */
  readonly tellsNot: string;
}

/** Kinds of device that write something down. */
export type RecordingKind = (typeof seriesTable)[SeriesName]["kind"];

export function isRecording(kind: string): kind is RecordingKind {
  return seriesNames.some((name) => seriesTable[name].kind === kind);
}

/** The words for a device of a kind and subtype; `null`, the interface's word for none, is a subtype like one that nobody knows. */
export function deviceWords(kind: RecordingKind, subtype: string): DeviceWords {
  return bySubtype[`${kind} ${subtype}`] ?? byKind[kind];
}

const byKind: Readonly<Record<RecordingKind, DeviceWords>> = {
  wirelesssensors: {
    name: "Sensors",
    tells: "They write down when something happens in front of them, and when it is over.",
    tellsNot: "They do not know who it was.",
  },
  pillboxes: {
    name: "Pill boxes",
    tells: "They write down when one of their doors is opened or closed.",
    tellsNot: "They do not know which pills are inside, or whether anybody took them.",
  },
  scales: {
    name: "Scales",
    tells: "They write down a weight when somebody steps on them.",
    tellsNot: "They do not know who it was: a guest who steps on one is written down too.",
  },
  watches: {
    name: "Watches",
    tells: "They write down how much their wearer moves, and whether they seem to be asleep.",
    tellsNot: "They do not know where their wearer is, or who wears them.",
  },
};

/** Devices of a kind that differ in what they tell, by kind and subtype. */
const bySubtype: Readonly<Record<string, DeviceWords>> = {
  "wirelesssensors wall": {
    name: "Motion sensors",
    tells: "They write down when somebody moves in the room.",
    tellsNot:
      "They feel the warmth of a body that moves. They do not know who it is, how many there are, or what they do.",
  },
  "wirelesssensors door": {
    name: "Door sensors",
    tells: "They write down when a door, a window or a drawer is opened, and when it is closed.",
    tellsNot: "They do not know who opened it, or whether anybody went in or out.",
  },
  "wirelesssensors curtain": {
    name: "Passage sensors",
    tells:
      "They write down when somebody walks past below them. Several in a row show how fast somebody walks.",
    tellsNot: "They do not know who it is, or how many there are.",
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
