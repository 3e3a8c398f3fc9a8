import { expect, test } from "bun:test";
import { localDays } from "../../src/base/time.ts";
import { coverageRows, missingnessColumns } from "../../src/export/coverage-tables.ts";
import { HomeZones } from "../../src/export/home-zones.ts";
import { item } from "../../testbed/sample.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";

const zone = "Europe/Berlin";
/** The second has 25 hours. */
const days = localDays(zone, {
  from_ms: Date.parse("2026-10-24T00:00+02:00"),
  to_ms: Date.parse("2026-10-27T00:00+01:00"),
});

/** An interface in which the first home has this zone, and an item of it was never covered. */
const answers = {
  get: async <Body>(path: string) => ({
    body: (path === "/homes/" ? [{ homeid: 12, timezone: zone }] : []) as Body,
    next: undefined,
  }),
};

test("a reading counts on the day on which it was by the clocks of its home, to the millisecond at midnight", async () => {
  const items = [item(1, { currenthomeid: 12 })];
  const stamps_ms = days.flatMap(({ from_ms, to_ms }) => [
    from_ms,
    from_ms,
    (from_ms + to_ms) / 2,
    to_ms - 1,
  ]);
  const clock = new SettableClock(days.at(-1)?.to_ms ?? 0);
  const rows = coverageRows({
    ...{ answers, items, clock, span: {}, series: ["wirelesssensor_events"] },
    zones: await HomeZones.of(answers, { items }),
    readings: { oldestFirst: () => stamps_ms.map((stamp_ms) => [[stamp_ms, 2]] as never) },
  });
  const place = (name: string) => missingnessColumns.findIndex((column) => column.name === name);
  const counts = [];
  for await (const { missingness } of rows)
    for (const row of missingness) counts.push([row[place("day")], row[place("readings")]]);
  expect(counts.slice(0, days.length)).toEqual(days.map(({ date }) => [date, 4]));
});
