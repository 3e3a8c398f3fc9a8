import { expect, test } from "bun:test";
import { beset } from "../../scripts/trial-programs/hostile/greed.ts";
import { nightly } from "../../testbed/nightly.ts";

const memory_mb_max = 160;

test("a gateway that one token asks for everything at once keeps within its memory, hears its sensors and serves others", async () => {
  const year = { sensors: 4, busiest: 50_000, each: 10_000 };
  const { sent, served, pages, refused, peak_mb, answered } = await beset({
    at_once: 300,
    seconds: nightly ? 10 : 4,
    year,
    machine: "small",
    kinds: ["plots", "downloads", "live"],
  });
  expect(served).toBe(sent);
  expect(pages).toBeGreaterThan(0);
  expect(refused).toBe(0);
  expect(peak_mb).toBeLessThan(memory_mb_max);
  const { plots, downloads, live } = answered;
  for (const statuses of [plots, downloads, live]) expect(statuses?.["429"]).toBeGreaterThan(0);
});
