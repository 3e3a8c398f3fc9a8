import type { Reading } from "../reading.ts";
import { belongings } from "./belongings.ts";
import { flat, meaningOf } from "./flat.ts";

/** A reading in plain words. */
export interface Said {
  readonly name: string;
  readonly words: string;
  /** The data that the words were made from. */
  readonly detail: string;
  /** Whether it says that something is over or as usual. */
  readonly quiet: boolean;
}

/** Puts readings into words; of pill boxes it remembers which doors were open. */
export class Words {
  readonly #doors = new Map<string, number>();

  of(reading: Reading): Said {
    const { device, values } = reading;
    const sensor = flat.find(({ address }) => address === device.address);
    const belonging = belongings.find(({ address }) => address === device.address);
    const name = sensor?.name ?? belonging?.name ?? device.address;
    const event = Number(values["event"]);
    const say = (words: string, detail: string, quiet: boolean): Said => ({ name, words, detail, quiet });
    switch (reading.series) {
      case "wirelesssensor_events": {
        const subtype = sensor?.subtype ?? device.subtype ?? "";
        return say(meaningOf(subtype, event), `event ${event}`, (event & 3) === 0);
      }
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
    }
  }
}

function doorsMoved(before: number, after: number): string {
  const moved = (before ^ after) & 0x7f;
  // A box whose doors were not known may say again what is open, or nothing.
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
