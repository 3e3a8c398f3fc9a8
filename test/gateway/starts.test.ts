import { afterAll, expect, test } from "bun:test";
import { day_ms } from "../../src/base/time.ts";
import { restartsIn } from "../../src/gateway/starts.ts";
import { Site } from "../../testbed/front-door.ts";

const site = new Site();
afterAll(() => site.remove());

test("a gateway that ends by itself is counted, one that somebody stops is not, and a day later neither", async () => {
  site.configure({});
  const restarts = () => restartsIn(site.data, Date.now());
  expect(await (await site.run()).stop()).toBe(0);
  const crashing = await site.run();
  expect(restarts()).toBe(0);
  await crashing.stop("SIGKILL");
  const again = await site.run();
  expect(restarts()).toBe(1);
  expect(restartsIn(site.data, Date.now() + day_ms)).toBe(0);
  expect(await again.stop()).toBe(0);
});
