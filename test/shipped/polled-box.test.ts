import { afterAll, expect, test } from "bun:test";
import { eventually, Site } from "../../testbed/front-door.ts";

const site = new Site();
afterAll(() => site.remove());

test("a pill box behind a bridge is polled, read to the end, and set to the right time", async () => {
  const bridge = await site.simulator("pillbox");
  const mac = "c0:ff:ee:00:00:01";
  await bridge.tell({ do: "add", mac, ahead_s: 3600 });
  await bridge.tell({ do: "fill", mac, count: 30, every_s: 1800 });
  site.configure({ sections: `[pillbox]\nport = "${bridge.path}"` });
  const gateway = await site.run();
  const token = await site.token();
  const events = await eventually(async () => {
    const path = `/items/pillboxes/pillbox-${mac.replaceAll(":", "")}/events`;
    const found = await gateway.records<{ stamp: number; event: number }[]>(path, token).catch(() => []);
    return found.length === 30 ? found : undefined;
  }, "its events");
  const { boxes } = await bridge.tell({ do: "boxes" });
  const happened = (boxes[0].history as { at_ms: number; doors: number }[]).toReversed();
  expect(events.map(({ event }) => event)).toEqual(happened.map(({ doors }) => doors));
  // Its clock was an hour ahead, and polls take a moment.
  for (const [index, { at_ms }] of happened.entries())
    expect(Math.abs((events[index]?.stamp ?? 0) - at_ms / 1000)).toBeLessThanOrEqual(5);
  expect(await gateway.stop()).toBe(0);
});
