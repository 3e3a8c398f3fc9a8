import { expect, test } from "bun:test";
import { faultsOf, restart } from "../../scripts/trial-programs/kills/restarting.ts";

test("what a sensor says from a gateway's first byte on is served, once, in order, through restarts by kill -9 and SIGTERM", async () => {
  const restarts = await restart(4);
  expect(restarts.runs).toHaveLength(5);
  for (const { first, last } of restarts.runs) expect(last - first).toBeGreaterThanOrEqual(20);
  expect(faultsOf(restarts)).toEqual([]);
});

test("a notification that is missing, told twice or out of order is found, and a sensor that is interviewed anew", () => {
  const runs = [
    { ended: "SIGKILL", first: 1, last: 3 },
    { ended: "SIGTERM", first: 6, last: 8 },
  ] as const;
  const of = (...served: number[]) => faultsOf({ runs, served, written: 8, others: [] });
  expect(of(1, 2, 3, 4, 6, 7, 8)).toEqual([]);
  expect(of(1, 2, 3, 6, 8)).toEqual(["7 is missing, of 6 to 8 of run 2, ended by SIGTERM"]);
  expect(of(1, 2, 3, 3, 6, 7, 8)).toEqual(["3 comes after 3"]);
  expect(of(1, 3, 2, 6, 7, 8)).toEqual(["2 comes after 3"]);
  const others = [{ model: "3011", said: [1, 2], served: [2], interviews: 1 }];
  expect(faultsOf({ runs: [], served: [], written: 0, others })).toEqual([
    "the 3011 said 1,2, and 2 is served",
    "the 3011 was interviewed 1 times after it had joined",
  ]);
});
