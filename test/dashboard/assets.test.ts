import { expect, test } from "bun:test";
import { assets } from "../../src/dashboard/assets.ts";

test("script and style of the pages come to 60 kB at most, as browsers get them", async () => {
  const { script, style } = await assets();
  expect(script.gzip.length + style.gzip.length).toBeLessThanOrEqual(60_000);
});
