import { titleOf } from "../domain/quantities.ts";
import type { Reading } from "../domain/reading.ts";
import { personal, sensors } from "./devices.ts";

/** A reading as the demo prints it. */
export interface ReadingText {
  /** The name of its item. */
  readonly name: string;
  readonly text: string;
  /** The data that tell it. */
  readonly detail: string;
  /** Whether it says that something is over or as usual. */
  readonly quiet: boolean;
}

/** Describes readings in plain English; of pill boxes it remembers which doors were open. */
export class ReadingTexts {
  readonly #doors = new Map<string, number>();

  of({ device, series, values }: Reading): ReadingText {
    const known = [...sensors, ...personal].find(({ address }) => address === device.address);
    const name = known?.name ?? device.address;
    const event = Number(values["event"]);
    const say = (text: string, detail: string, quiet: boolean): ReadingText => ({
      name,
      text,
      detail,
      quiet,
    });
    switch (series) {
      case "wirelesssensor_events": {
        const subtype = known?.subtype ?? device.subtype;
        return say(sensedBy(subtype, event), `event ${event}`, (event & 3) === 0);
      }
      case "wirelesssensor_measures":
        return say(
          `${titleOf(String(values["quantity"]))} ${values["value"]} ${values["unit"]}`.trimEnd(),
          "",
          true,
        );
      case "pillbox_events": {
        const before = this.#doors.get(device.address) ?? 0;
        this.#doors.set(device.address, event);
        return say(doorsMoved(before, event), `event ${event}`, (event & ~before) === 0);
      }
      case "pillbox_status":
        return say("told its state", `${values["eventcount"]} events, ${values["voltage"]} mV`, true);
      case "scale_weights":
        return say(`${kilograms(values["weight"])} kg`, compositionOf(values), false);
      case "scale_heart":
        return say(`${values["heartRate"]} beats a minute`, "", false);
      case "watch_epochs":
        return say(
          sleepOf(values),
          `${values["steps"]} steps in ten minutes`,
          Number(values["sleepState"]) > 1,
        );
      default:
        return say(JSON.stringify(values), "", true);
    }
  }
}

function sensedBy(subtype: string | undefined, event: number): string {
  if (subtype === "door") return (event & 1) === 1 ? "opened" : "closed";
  if (subtype === "curtain") return (event & 2) === 2 ? "somebody passes" : "passed";
  return (event & 2) === 2 ? "somebody moves" : "all quiet";
}

function doorsMoved(before: number, after: number): string {
  const moved = (before ^ after) & 0x7f;
  // The first event of a box whose doors were not known may repeat their state.
  if (moved === 0) return after === 0 ? "all doors closed" : "doors as before";
  const names = weekdays.filter((_, door) => ((moved >> door) & 1) === 1).map((day) => `${day}'s`);
  const opened = (moved & after) !== 0;
  return `${names.join(" and ")} door ${opened ? "opened" : "closed"}`;
}

function kilograms(grams: unknown): string {
  return (Number(grams) / 1000).toFixed(1);
}

function compositionOf({ fatMass, muscleMass }: Reading["values"]): string {
  if (fatMass === null || fatMass === undefined) return "";
  return `${kilograms(fatMass)} kg of fat, ${kilograms(muscleMass)} kg of muscle`;
}

function sleepOf({ sleepState, steps }: Reading["values"]): string {
  if (sleepState === 3) return "sleeps deeply";
  if (sleepState === 2) return "sleeps lightly";
  return Number(steps) > 0 ? "up and about" : "sits still";
}

const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;
