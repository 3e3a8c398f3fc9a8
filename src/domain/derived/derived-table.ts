import { type TSchema, Type } from "@sinclair/typebox";
import { identifying, unixTime } from "../records/record-field.ts";
import type { SeriesField, SeriesName } from "../series.ts";
import { outings, outOfHome } from "./absences.ts";
import { stepsDaily, weight_context_days, weightDaily } from "./body.ts";
import { doses } from "./box-doses.ts";
import { doseStatuses } from "./doses.ts";
import type { DerivedRow, HomeData } from "./home-data.ts";
import { nights, sleep } from "./nights.ts";
import { roomWords } from "./places.ts";
import { activity, roomDays, roomVisits, transitions } from "./rooms.ts";
import { walkDays, walks } from "./walks.ts";

export interface DerivedDefinition {
  readonly title: string;
  /** Grows when the same readings give another number. */
  readonly version: number;
  readonly madeOf: readonly SeriesName[];
  readonly needs: string;
  readonly meaning: string;
  /** When a value is known. */
  readonly rule: string;
  /** Where the rule is from; empty where it is Lintel's own. */
  readonly paper: string;
  /** Days before and after a day whose readings its rule looks at. */
  readonly reach_days: number;
  readonly fields: Readonly<Record<string, SeriesField>>;
  /** Rows of the days of the home's data, in any order. The same for a day whatever other days are asked for. */
  readonly derive: (home: HomeData) => DerivedRow[];
}

const inRooms = "sensors of movement whose rooms are known";
/** The same for all measures of movement and watches, so that a store reads once what several are made of: the nights need two days. */
const sensed_days = 2;
const allObserved = "unknown (null) where less than 90% of its time was observed in any room that it needs";

/**
 * The derived measures: the one table that the interface, the pages, the report, packages and clients have their numbers from. One more measure is one more
 * entry. A rule that changes gets another version.
 */
export const derivedTable = {
  room_visits: {
    title: "Stays in rooms",
    version: 1,
    madeOf: ["wirelesssensor_events"],
    needs: inRooms,
    meaning:
      "a stay in a room: from the first movement there to the first sign elsewhere, which is movement in another room or the front door",
    rule: `of one person who lives alone; with guests, stays alternate. dwell_min is ${allObserved}, or where it has not ended`,
    paper:
      "Hayes and others, Alzheimer's & Dementia 4 (2008) 395–405; Kaye and others, J. Gerontol. B 66B (2011) i180–i190",
    reach_days: sensed_days,
    fields: {
      room: room("the room"),
      stop: nullableTime("the first sign elsewhere"),
      dwell_min: nullableNumber("min", "its length"),
      signs: integer("", "movements that were seen"),
    },
    derive: roomVisits,
  },
  room_days: {
    title: "Rooms by day",
    version: 1,
    madeOf: ["wirelesssensor_events"],
    needs: inRooms,
    meaning:
      "stays in a room that began on a day, and minutes spent there: room_visits by day, with the days that have none",
    rule: `visits and minutes are ${allObserved}; a day that is not over is unknown`,
    paper: "as room_visits",
    reach_days: sensed_days,
    fields: {
      room: room("the room"),
      visits: nullableInteger("", "stays that began on the day"),
      minutes: nullableNumber("min", "time spent there"),
    },
    derive: roomDays,
  },
  transitions: {
    title: "Ways from room to room",
    version: 1,
    madeOf: ["wirelesssensor_events"],
    needs: inRooms,
    meaning: "how often somebody went from one room straight to another on a day, for each pair of rooms",
    rule: allObserved,
    paper: "as room_visits",
    reach_days: sensed_days,
    fields: {
      fromroom: room("the room that was left"),
      toroom: room("the room that was entered"),
      transitions: nullableInteger("", "how often"),
    },
    derive: transitions,
  },
  walks: {
    title: "Walks",
    version: 1,
    madeOf: ["wirelesssensor_events"],
    needs: "a line of three curtain sensors or more with their places in metres",
    meaning: "a walk along a line of curtain sensors, and its speed",
    rule: "all sensors of the line saw it, or all but one and three at least, at an even pace; other detections are no walk. The sensors do not know who walks",
    paper: "Hagler, Austin, Hayes, Kaye and Pavel, IEEE Trans. Biomed. Eng. 57 (2010) 813–820",
    reach_days: sensed_days,
    fields: {
      line: room("the line"),
      speed: number("m/s", "speed, by least squares through all sensors"),
      direction: word("whether the metres of the line rise or fall along it: rising, falling"),
      sensors: integer("", "sensors that saw it"),
    },
    derive: walks,
  },
  walk_days: {
    title: "Walks by day",
    version: 1,
    madeOf: ["wirelesssensor_events"],
    needs: "as walks",
    meaning: "walks along a line that began on a day, with the days that have none",
    rule: "walks is unknown (null) where less than 90% of the day was observed by any sensor of the line, and before the day is over. speed is that of the walks that were seen, and null where none was",
    paper: "as walks",
    reach_days: sensed_days,
    fields: {
      line: room("the line"),
      walks: nullableInteger("", "walks that began on the day"),
      speed: nullableNumber("m/s", "the median of their speeds"),
    },
    derive: walkDays,
  },
  doses: {
    title: "Doses",
    version: 2,
    madeOf: ["pillbox_events"],
    needs: "a pill box",
    meaning: "the dose of a pill box on a day",
    rule: "taken: the door of the weekday moved that day, at any hour. late: not that day, but within six hours after it. missed: all of the day was observed, and the door did not move. unknown: nothing was seen, and not all of the day was observed; or the door moved only while the box was filled, when a pill may have been taken too. due: there is still time. More than six doors opened or closed within ten minutes are a filling, and no dose. An opened door does not prove a swallowed pill. prescribed and off_min are unknown where nobody has named the hour (lintel items name --due); the present hour counts for all days",
    paper: "MedTracker, PMC2911441",
    reach_days: 28,
    fields: {
      itemname: item("the pill box"),
      status: {
        ...text("one of taken, late, missed, unknown, due"),
        schema: Type.Union(doseStatuses.map((status) => Type.Literal(status))),
      },
      at: nullableTime("when the door first moved outside a filling, where it was taken or late"),
      prescribed: {
        ...nullableText("the hour for which it is prescribed, by the clock of the home: 08:00"),
        schema: identifying("nobody", nullable(Type.String())),
      },
      off_min: nullableNumber("min", "from that hour until it was taken; below zero it was early"),
      reason: {
        ...nullableText("why it is unknown"),
        schema: identifying("nobody", nullable(Type.String())),
      },
    },
    derive: doses,
  },
  sleep: {
    title: "Episodes of sleep",
    version: 2,
    madeOf: ["watch_epochs"],
    needs: "a watch that tells sleep",
    meaning:
      "sleep by a watch: stretches of light, deep or REM sleep with at most an hour between them. The day is that on which it ended",
    rule: "the stages are the watch's own. A stage that it told at no time within two days of the end is unknown (null): many watches never tell REM sleep. Within an episode, awake and unknown are apart",
    paper: "van Hees and others, Scientific Reports 8 (2018) 12975, which joins blocks over an hour",
    reach_days: sensed_days,
    fields: {
      itemname: item("the watch"),
      stop: time("its end"),
      asleep_min: number("min", "asleep: light, deep and REM"),
      light_min: nullableNumber("min", "light sleep"),
      deep_min: nullableNumber("min", "deep sleep"),
      rem_min: nullableNumber("min", "REM sleep"),
      awake_min: number("min", "awake within it"),
      unknown_min: number("min", "unknown within it: not worn, or not heard"),
      awakenings: integer("", "breaks in which the watch told that somebody was awake"),
    },
    derive: sleep,
  },
  nights: {
    title: "Nights",
    version: 2,
    madeOf: ["watch_epochs", "wirelesssensor_events"],
    needs: "a watch, a sensor at the bed, or a sensor of movement in the bedroom",
    meaning:
      "the night before a day, from noon to noon: the longest sleep or stay in bed, with others that at most two hours part from it. source says what told it",
    rule: "unknown where less than 90% of 22:00 to 07:00 was observed by any source; asleep_min is known by a watch alone, in_bed_min by the others. A watch that told no sleep within two days of the day tells nothing of its night",
    paper: "Ancoli-Israel and others, Sleep 26 (2003) 342–392; van Hees and others 2018",
    reach_days: sensed_days,
    fields: {
      source: word("watch, bed or bedroom"),
      start: nullableTime("its beginning: falling asleep by a watch, else going to bed or into the bedroom"),
      stop: nullableTime("its end: waking up by a watch, else getting up or leaving the bedroom"),
      in_bed_min: nullableNumber("min", "in bed, or in the bedroom"),
      asleep_min: nullableNumber("min", "asleep"),
      breaks: nullableInteger(
        "",
        "how often it was broken: by a watch times awake too, by the others times out of bed or bedroom",
      ),
    },
    derive: nights,
  },
  outings: {
    title: "Absences",
    version: 1,
    madeOf: ["wirelesssensor_events"],
    needs: "a sensor at the front door, and sensors of movement",
    meaning: "nobody was at home: from one opening of the front door to another, with no sign inside between",
    rule: `ten minutes or more. away_min is ${allObserved}. Who was away is not known`,
    paper: "Petersen and others, IEEE J. Biomed. Health Inform. 18 (2014) 1590–1596",
    reach_days: sensed_days,
    fields: {
      stop: time("when the door opened at the end"),
      away_min: nullableNumber("min", "its length"),
    },
    derive: outings,
  },
  out_of_home: {
    title: "Time out of home",
    version: 2,
    madeOf: ["wirelesssensor_events"],
    needs: "a sensor at the front door, and sensors of movement",
    meaning:
      "absences that began on a day, and minutes of the day away: outings by day, with the days that have none. Times that are noted as away or in hospital are away",
    rule: `${allObserved}, of the front door and all sensors of movement`,
    paper: "as outings",
    reach_days: sensed_days,
    fields: {
      outings: nullableInteger("", "absences that began on the day"),
      away_min: nullableNumber("min", "away"),
    },
    derive: outOfHome,
  },
  activity: {
    title: "Active minutes by hour",
    version: 1,
    madeOf: ["wirelesssensor_events"],
    needs: "sensors of movement",
    meaning: "minutes of an hour in which a sensor saw movement, or something was opened",
    rule: `${allObserved}, of all sensors of movement`,
    paper: "Hayes and others, Alzheimer's & Dementia 4 (2008) 395–405",
    reach_days: sensed_days,
    fields: {
      hour: integer("h", "hours since midnight: 0 to 23, to 22 or 24 where the clocks change"),
      active_min: nullableInteger("min", "active minutes"),
    },
    derive: activity,
  },
  weight_daily: {
    title: "Weight by day",
    version: 1,
    madeOf: ["scale_weights"],
    needs: "a scale",
    meaning: "one weight a day: the median of the day's weighings of the person whom the scale belongs to",
    rule: "a scale does not know who stands on it. Weighings far from the median of two weeks before and after (three scaled median absolute deviations, 4% at least and 8% at most) are of strangers. With fewer than five weighings in that time, or more than a quarter far, nobody can say, and the weight is unknown",
    paper: "Davies and Gather, J. Am. Stat. Assoc. 88 (1993) 782–792",
    reach_days: weight_context_days + 1,
    fields: {
      itemname: item("the scale"),
      weight_kg: nullableNumber("kg", "the weight"),
      weighings: nullableInteger("", "weighings on the day"),
      strangers: nullableInteger("", "weighings that were left out"),
    },
    derive: weightDaily,
  },
  steps_daily: {
    title: "Steps by day",
    version: 1,
    madeOf: ["watch_epochs"],
    needs: "a watch",
    meaning: "steps and distance of a day by a watch",
    rule: "unknown where it was worn for less than ten hours, and for a day that is not over; of a day that was worn in part they are a lower bound",
    paper: "Migueles and others, Sports Medicine 47 (2017) 1821–1845",
    reach_days: sensed_days,
    fields: {
      itemname: item("the watch"),
      steps: nullableInteger("steps", "steps"),
      distance_m: nullableNumber("m", "distance"),
      worn_min: integer("min", "worn and heard"),
    },
    derive: stepsDaily,
  },
} as const satisfies Record<string, DerivedDefinition>;

export type DerivedName = keyof typeof derivedTable;

export const derivedNames = Object.keys(derivedTable) as DerivedName[];

/** The definition of a measure, in the one type that generic code reads the table by. */
export function derivedOf(name: DerivedName): DerivedDefinition {
  return derivedTable[name];
}

/** Days before and after a month whose readings some measure of its days looks at. */
export const reach_max_days = Math.max(...derivedNames.map((name) => derivedOf(name).reach_days));

/** A definition and its version, as each record names it: `doses/1`. */
export function definitionText(name: DerivedName): string {
  return `${name}/${derivedOf(name).version}`;
}

function text(meaning: string, schema: TSchema = Type.String()): SeriesField {
  return { schema, sql: "TEXT", unit: "", meaning };
}

function nullableText(meaning: string): SeriesField {
  return text(meaning, nullable(Type.String()));
}

function integer(unit: string, meaning: string, schema: TSchema = Type.Integer()): SeriesField {
  return { schema, sql: "INTEGER", unit, meaning };
}

function nullableInteger(unit: string, meaning: string): SeriesField {
  return integer(unit, meaning, nullable(Type.Integer()));
}

function number(unit: string, meaning: string, schema: TSchema = Type.Number()): SeriesField {
  return { schema, sql: "REAL", unit, meaning };
}

function nullableNumber(unit: string, meaning: string): SeriesField {
  return number(unit, meaning, nullable(Type.Number()));
}

function time(meaning: string): SeriesField {
  return integer("unix s", meaning, unixTime());
}

function nullableTime(meaning: string): SeriesField {
  return integer("unix s", meaning, nullable(unixTime()));
}

function nullable(schema: TSchema): TSchema {
  return Type.Union([schema, Type.Null()]);
}

/** An item by its name, as a field of a row. */
function item(meaning: string): SeriesField {
  return text(meaning, identifying("itemname", Type.String()));
}

/** A word of a closed list, which tells of nobody. */
function word(meaning: string): SeriesField {
  return text(meaning, identifying("nobody", Type.String()));
}

/** A room in the home's own words. */
function room(meaning: string): SeriesField {
  return text(meaning, identifying(roomWords, Type.String()));
}
