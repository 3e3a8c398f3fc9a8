import { expect, test } from "bun:test";
import { join } from "node:path";
import { hardwarePage, hardwareText } from "../../scripts/hardware-page.ts";
import { sticksPage, sticksText } from "../../scripts/stick-page.ts";
import { sensorsPage, sensorsText } from "../../scripts/supported-sensors.ts";

test("docs/sticks.md says of sticks what the tables say: bun scripts/stick-page.ts writes it", async () => {
  const written = await Bun.file(join(import.meta.dir, "../..", sticksPage)).text();
  expect(written === sticksText()).toBe(true);
});

test("docs/hardware.md says of hardware what table, figures and unit say: bun scripts/hardware-page.ts writes it", async () => {
  const written = await Bun.file(join(import.meta.dir, "../..", hardwarePage)).text();
  expect(written).toBe(hardwareText());
});

test("docs/sensors.md says of sensors what the tables say: bun scripts/supported-sensors.ts writes it", async () => {
  const written = await Bun.file(join(import.meta.dir, "../..", sensorsPage)).text();
  expect(written === sensorsText()).toBe(true);
});
