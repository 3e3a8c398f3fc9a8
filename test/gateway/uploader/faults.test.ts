import { expect, test } from "bun:test";
import { runTrial } from "../../../scripts/trial-programs/with-source/uploads/upload-trial.ts";

test("every reading reaches central exactly once, however the line fails and whoever is killed", async () => {
  const { here, there, rows, faults, ended } = await runTrial({
    readings: 6_000,
    faults: 30,
    seed: 20_261_120,
  });
  expect([...faults.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(30);
  // Each kind of fault was there, or this shows little.
  expect(faults.size).toBeGreaterThanOrEqual(6);
  expect(ended.get("exit 0")).toBeGreaterThan(0);
  expect(there).toEqual(here);
  expect([here.readings, rows]).toEqual([6_000, 6_000]);
});
