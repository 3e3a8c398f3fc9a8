import { expect, test } from "bun:test";
import { killAll, sensorFaults } from "../../scripts/trial-programs/kills/killing.ts";
import { nightly } from "../../testbed/nightly.ts";
import { numbers } from "../../testbed/numbers.ts";

const kills_max = nightly ? 10 : 5;

test("gateway, uploads and central are killed at random, and nothing is lost, there twice or out of order at either end", async () => {
  const killings = await killAll({
    kills: kills_max,
    random: numbers(Number(process.env["LINTEL_TEST_SEED"] ?? 1)),
  });
  expect(killings.faults).toEqual([]);
  expect(killings.kills.gateway).toBe(kills_max);
  // How many there are is a matter of how fast the machine is; the first one comes before the first kill.
  expect(killings.owed).toBeGreaterThan(0);
});

test("a notification that is missing, twice or out of order is found", () => {
  const of = (...events: number[]) => sensorFaults(events, new Set([1, 2, 3]));
  expect(of(1, 2, 3, 5)).toEqual([]);
  expect(of(1, 3)).toEqual(["notification 2 was served, and is missing"]);
  expect(of(1, 2, 2, 3)).toEqual(["notification 2 comes twice or out of order"]);
  expect(of(2, 1, 3)).toEqual(["notification 1 comes twice or out of order"]);
});
