import { OperatorError } from "../base/errors.ts";
import { plainJson, shortLine } from "../base/text.ts";
import { isTimezone } from "../base/timezone.ts";
import type { Item } from "../domain/records/item.ts";
import { Home } from "../domain/records/programme-records.ts";
import { type InterfaceReader, pagesOf } from "./answers.ts";

/** Whether a download has the time of each home beside the stamps. */
export const timezones = ["utc", "home"] as const;
export type Timezone = (typeof timezones)[number];

/** The time zones of homes, as their records name them; UTC where none is known. */
export class HomeZones {
  readonly #zones = new Map<number, string>();
  /** Words of the records of homes that stand where a time zone should, and are none. */
  readonly #faulty = new Map<number, string>();
  readonly #timezone: Timezone;
  readonly #times = new Map<string, (unix_ms: number) => string>();

  private constructor(timezone: Timezone) {
    this.#timezone = timezone;
  }

  /**
   * @param asked.timezone whether local times are asked for: then a home whose time zone does not exist is an error as soon as it is named
   * @param asked.items what the download is of
   * @throws OperatorError
   */
  static async of(
    answers: InterfaceReader,
    { timezone = "utc", items }: { timezone?: Timezone | undefined; items: readonly Item[] },
  ): Promise<HomeZones> {
    const found = new HomeZones(timezone);
    for await (const homes of pagesOf(answers, "/homes/", Home))
      for (const { homeid, timezone } of homes)
        if (typeof timezone === "string")
          (isTimezone(timezone) ? found.#zones : found.#faulty).set(Number(homeid), timezone);
    for (const item of items) found.zoneOf(item);
    return found;
  }

  /** A line for each home whose record has a word for a time zone that is none, as a warning. */
  get warnings(): string[] {
    return [...this.#faulty].map(
      ([homeid, zone]) =>
        `home ${homeid} has the time zone ${shortLine(plainJson(zone), word_max)}, and there is none of that name: its days are given in UTC; correct the record with lintel import`,
    );
  }

  /** The zone of the home that an item lives in now. */
  zoneOf({ currenthomeid }: Pick<Item, "currenthomeid">): string {
    return this.#of(currenthomeid ?? -1);
  }

  #of(homeid: number): string {
    const faulty = this.#faulty.get(homeid);
    if (faulty !== undefined && this.#timezone === "home")
      throw new OperatorError(
        `home ${homeid} has the time zone ${shortLine(plainJson(faulty), word_max)}, and there is none of that name: no local time can be made of it`,
        "correct the record of the home with lintel import, name items of other homes, or leave out --timezone home",
      );
    return this.#zones.get(homeid) ?? "UTC";
  }

  /**
   * Local time of unix milliseconds, `2026-11-20T04:00:00.250-08:00`, in the home in which a reading was made, or where that has no number in that
   * of the item.
   */
  localTime(item: Pick<Item, "currenthomeid">, homeid: number | null, unix_ms: number): string {
    const zone = homeid === null ? this.zoneOf(item) : this.#of(homeid);
    const known = this.#times.get(zone) ?? localTimes(zone);
    this.#times.set(zone, known);
    return known(unix_ms);
  }

  /** The same text for the same zones. */
  get text(): string {
    return JSON.stringify([...this.#zones]);
  }
}

/** Makes local time of unix milliseconds. Clocks change at whole quarters of an hour, so that the offset is looked up once for each. */
function localTimes(zone: string): (unix_ms: number) => string {
  let quarter = Number.NaN;
  let offset_ms = 0;
  let offset = "";
  return (unix_ms) => {
    if (Math.floor(unix_ms / quarter_ms) !== quarter) {
      quarter = Math.floor(unix_ms / quarter_ms);
      const there = Temporal.Instant.fromEpochMilliseconds(Math.floor(unix_ms)).toZonedDateTimeISO(zone);
      offset = there.offset;
      offset_ms = there.offsetNanoseconds / 1_000_000;
    }
    return `${new Date(unix_ms + offset_ms).toISOString().slice(0, -1)}${offset}`;
  };
}

const quarter_ms = 15 * 60_000;
const word_max = 60;
