import type { Kind } from "../../../kinds.ts";
import { type SeriesName, seriesNames, seriesOf } from "../../../series.ts";
import type { SpanName } from "./span-titles.ts";

/** A kind of device in the words of whoever lives with it: what it tells, and what it cannot. */
export interface Facts {
  /** Its name among people: `motion sensor`. */
  readonly noun: string;
  readonly tells: string;
  readonly silent: string;
  /** How it is heard although nothing happens. */
  readonly heard: string;
}

interface FactsOf extends Facts {
  readonly kind: Kind;
  /** Of these subtypes alone; the last row of a kind is of all others. */
  readonly subtype?: string;
}

const table: readonly FactsOf[] = [
  {
    kind: "wirelesssensors",
    subtype: "wall",
    noun: "motion sensor",
    tells: "When somebody begins to move in its sight, and when it has seen no movement for a while.",
    silent: "Who it was, how many they were, and whether somebody sits or lies still.",
    heard: "Speaks when something moves, and about every hour besides.",
  },
  {
    kind: "wirelesssensors",
    subtype: "door",
    noun: "door sensor",
    tells: "When the door opens, and when it closes.",
    silent: "Who opened it, and whether anybody went through, in or out.",
    heard: "Speaks when the door moves, and about every hour besides.",
  },
  {
    kind: "wirelesssensors",
    subtype: "curtain",
    noun: "passage sensor",
    tells:
      "When somebody passes its narrow curtain, to the millisecond: several in a row measure walking speed.",
    silent: "Who it was, and which way they went unless others stand beside it.",
    heard: "Speaks when somebody passes, and about every hour besides.",
  },
  {
    kind: "wirelesssensors",
    noun: "sensor",
    tells: "When its state changes, as it reports it.",
    silent: "Who caused it.",
    heard: "Speaks when something happens, and about every hour besides.",
  },
  {
    kind: "pillboxes",
    subtype: "broadcasting",
    noun: "pill box",
    tells: "When a door opens or closes, and which of the seven.",
    silent: "Whether a pill was taken out, and whether it was swallowed.",
    heard: "Speaks when a door moves, and a few times a day besides; what is not heard then is lost.",
  },
  {
    kind: "pillboxes",
    noun: "pill box",
    tells: "When a door opened or closed, and which of the seven.",
    silent: "Whether a pill was taken out, and whether it was swallowed.",
    heard: "Keeps its events until it is asked, about every hour.",
  },
  {
    kind: "scales",
    noun: "scale",
    tells:
      "Weight, and where somebody stands barefoot on it: fat, water, bone and muscle, and the heart's rate.",
    silent: "Who stood on it.",
    heard: "Speaks when somebody has stepped on it, and never otherwise.",
  },
  {
    kind: "watches",
    noun: "watch",
    tells: "Steps, distance, walking, running and stages of sleep, of each minute or so that it is worn.",
    silent: "Where its wearer is, and anything of the time when it is not worn.",
    heard: "Keeps its log until it is read, about once a day.",
  },
  {
    kind: "gateways",
    noun: "gateway",
    tells: "Nothing by itself: it keeps what the other devices tell.",
    silent: "Sound, pictures, and what is said.",
    heard: "Speaks to central each night.",
  },
];

export function factsOf(kind: Kind, subtype: string): Facts {
  const rows = table.filter((row) => row.kind === kind);
  const row = rows.find((one) => one.subtype === undefined || one.subtype === subtype) ?? rows.at(-1);
  if (row === undefined) throw new Error(`no facts of ${kind}`);
  const { noun, tells, silent, heard } = row;
  return { noun, tells, silent, heard };
}

/** The series that a device has, the one that people look at first in front; `held`: those that it has readings of. */
export function seriesOfDevice(kind: Kind, subtype: string, held: ReadonlySet<SeriesName>): SeriesName[] {
  const has = ({ subtypes }: { subtypes?: readonly string[] }) =>
    subtypes === undefined || subtype === "null" || subtypes.includes(subtype);
  const own = seriesNames.filter((name) => seriesOf(name).kind === kind && has(seriesOf(name)));
  const shown = own.filter((name) => seriesOf(name).ofSome !== true || held.has(name));
  const others = own.some((name) => seriesOf(name).ofSome !== true && held.has(name));
  // A sensor that only measures has no events to be looked at first.
  const rank = (name: SeriesName) =>
    seriesOf(name).ofSome === true ? Number(!others) * 2 : Number(name.endsWith("_events"));
  return shown.toSorted((one, other) => rank(other) - rank(one));
}

/** A series among those of its device, where the interface says `Wireless sensor events`. */
export const seriesTitles: Readonly<Record<SeriesName, string>> = {
  pillbox_events: "Doors",
  pillbox_status: "State",
  wirelesssensor_events: "Events",
  wirelesssensor_measures: "Measures",
  scale_weights: "Weights",
  scale_heart: "Heart rates",
  watch_epochs: "Steps and sleep",
};

/** The span that is shown of a kind where the address names none. */
export const usualSpans: Readonly<Record<Kind, SpanName>> = {
  pillboxes: "8w",
  wirelesssensors: "8w",
  scales: "1y",
  watches: "4w",
  gateways: "8w",
};
