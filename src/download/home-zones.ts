import type { Item } from "../records/items.ts";
import { Home } from "../records/programme.ts";
import { isTimezone } from "../timezone.ts";
import { type Answers, pagesOf } from "./answers.ts";

/** Whether a download has the time of each home beside the stamps. */
export const timezones = ["utc", "home"] as const;
export type Timezone = (typeof timezones)[number];

/** The time zones of homes, as their records name them; UTC where none is known. */
export class HomeZones {
  readonly #zones: ReadonlyMap<number, string>;
  readonly #times = new Map<string, (unix_ms: number) => string>();

  private constructor(zones: ReadonlyMap<number, string>) {
    this.#zones = zones;
  }

  static async of(answers: Answers): Promise<HomeZones> {
    const zones = new Map<number, string>();
    for await (const homes of pagesOf(answers, "/homes/", Home))
      for (const { homeid, timezone } of homes)
        if (typeof timezone === "string" && isTimezone(timezone)) zones.set(Number(homeid), timezone);
    return new HomeZones(zones);
  }

  /** The zone of the home that an item lives in now. */
  zoneOf({ currenthomeid }: Pick<Item, "currenthomeid">): string {
    return this.#zones.get(currenthomeid ?? -1) ?? "UTC";
  }

  /**
   * Local time of unix milliseconds, `2026-11-20T04:00:00.250-08:00`, in the home in which a reading was made, or where that has no number in that
   * of the item.
   */
  localTime(item: Pick<Item, "currenthomeid">, homeid: number | null, unix_ms: number): string {
    const zone = homeid === null ? this.zoneOf(item) : (this.#zones.get(homeid) ?? "UTC");
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
