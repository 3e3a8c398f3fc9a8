import { expect, test } from "bun:test";
import { ScaleClock } from "../../drivers/scale/scale-clock.ts";
import { encodeCurrentTime } from "../../drivers/scale/standard.ts";
import { Visit } from "../../drivers/vitals/driver.ts";
import { encodeTemperature, uuids } from "../../drivers/vitals/measurements.ts";
import { clockQuality, type Moment } from "../../src/base/clock.ts";
import { day_ms, hour_ms } from "../../src/base/time.ts";
import type { Reading } from "../../src/domain/reading.ts";
import { RecordingHost, temporaryDirectory } from "../../testbed/recording-host.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";

/** A measurement that a device has kept: what its clock showed then, and what it shows when it hands it over. */
interface Kept {
  readonly shown_ms: number;
  readonly shows_ms: number;
  readonly moment: Moment;
}

type Dated = Pick<Reading, "stamp_ms" | "clock" | "monotonic_ms">;

/** Devices that keep what they measure, with the times that their own clock shows. A new one is one more row. */
const devices: Readonly<Record<string, (kept: Kept) => Promise<Dated>>> = {
  scale: async ({ shown_ms, shows_ms, moment }) => {
    const clock = new ScaleClock("UTC");
    clock.found(shows_ms, moment);
    return clock.date(shown_ms, moment);
  },
  thermometer: async ({ shown_ms, shows_ms, moment }) => {
    const directory = temporaryDirectory();
    const clock = new SettableClock(moment.unix_ms - moment.monotonic_ms);
    clock.advance(moment.monotonic_ms);
    const host = new RecordingHost({ directory: directory.path, clock });
    const characteristics = new Map<string, object>([
      [uuids.currentTime, { properties: new Set(["read"]), read: async () => encodeCurrentTime(shows_ms) }],
      [uuids.temperature, { properties: new Set(["indicate"]), subscribe: async () => {} }],
    ]);
    const connection = {
      ...{ address: "ed:67:00:00:00:09", name: undefined },
      characteristic: async (_: string, uuid: string) => characteristics.get(uuid),
    };
    const visit = new Visit({ host, connection: connection as never });
    await visit.begin();
    await visit.temperature(encodeTemperature({ value: 37, unit: "°C", shown_ms }), moment);
    directory.remove();
    return host.readings[0] as Dated;
  },
};

/** A clock that nobody has set, and when it hands over what it kept. */
const shows_ms = Date.UTC(2001, 1, 3, 4, 5, 6);
const arrived = { unix_ms: Date.UTC(2026, 10, 20, 12), monotonic_ms: 40 * hour_ms };

const ages: readonly [age: string, told_ms: number, counts: boolean][] = [
  ["in a year to come", -365 * day_ms, false],
  ["in an hour", -hour_ms, false],
  ["just now", 0, false],
  ["a minute ago", 60_000, true],
  ["longer ago than the gateway has run", 90 * hour_ms, true],
  ["a year ago", 365 * day_ms, true],
  ["longer ago than any device keeps", 401 * day_ms, false],
  ["before it was set anew", 20 * 365 * day_ms, false],
];

test.each(Object.keys(devices))(
  "a reading of a %s has the age that its clock tells, where that can be, and else the time of its arrival",
  async (name) => {
    for (const quality of [clockQuality.synchronised, clockQuality.unsynchronised])
      for (const [age, told_ms, counts] of ages) {
        const moment = { ...arrived, quality };
        const dated = await devices[name]?.({ shown_ms: shows_ms - told_ms, shows_ms, moment });
        const age_ms = counts ? told_ms : 0;
        const isTimed = counts && quality === clockQuality.synchronised;
        expect({ age, quality, ...dated }).toMatchObject({
          ...{ age, quality, stamp_ms: arrived.unix_ms - age_ms },
          clock: isTimed ? clockQuality.device : quality,
          monotonic_ms: arrived.monotonic_ms - age_ms,
        });
      }
  },
);
