import { expect, test } from "bun:test";
import { join } from "node:path";
import { sensorsPage, sensorsText } from "../../scripts/supported-sensors.ts";

test("docs/sensors.md says of sensors what the tables say: bun scripts/supported-sensors.ts writes it", async () => {
  const written = await Bun.file(join(import.meta.dir, "../..", sensorsPage)).text();
  expect(written === sensorsText()).toBe(true);
});
