import { expect, test } from "bun:test";
import { isIn } from "../../../src/base/time.ts";
import type { DeviceRow } from "../../../src/web/pages/home/home-devices.ts";
import { spans, windowAt } from "../../../src/web/pages/home/strip-window.ts";
import { doorName, fillDoor, zone } from "./device-history.ts";
import { serveHome } from "./device-home.ts";

/** Ten minutes before noon in UTC, when strips of a day, a week and four weeks end at the same moment. */
const now_ms = Date.UTC(2026, 10, 20, 11, 50);

test("a strip has the openings of its own time, in whatever order a person looks at others that end with it", async () => {
  await using home = await serveHome({ now_ms, home: 12, zone });
  await fillDoor(home.store);
  const events = await home.records(`/v0.9/items/wirelesssensors/${doorName}/events?precision=ms`);
  const opened = events.flatMap(({ stamp = 0, event = 0 }) => ((event & 1) !== 0 ? [stamp] : []));
  const ends = (["day", "week", "month"] as const).map((span) => windowAt(now_ms, span, zone).to_ms);
  expect(new Set(ends).size).toBe(1);
  for (const span of [...Object.keys(spans), ...Object.keys(spans).reverse()] as (keyof typeof spans)[]) {
    const page = await (await home.ask(`/?span=${span}`)).text();
    const { data } = JSON.parse(/id="shown">(.*)<\/script>/.exec(page)?.[1] ?? "{}");
    const devices: readonly DeviceRow[] = data.devices;
    const window = windowAt(now_ms, span, zone);
    const column_ms = (window.to_ms - window.from_ms) / window.columns;
    const columns = opened
      .filter((at_ms) => isIn(window, at_ms))
      .map((at_ms) => Math.floor((at_ms - window.from_ms) / column_ms));
    const marks = devices.find(({ name }) => name === doorName)?.marks;
    expect([span, marks]).toEqual([span, [...new Set(columns)].sort((one, other) => one - other)]);
  }
});
