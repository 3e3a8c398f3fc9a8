import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { diskFault } from "../../../src/base/disk/disk-fault.ts";

test("an error of the disk is told with a remedy, and no other error is taken for one", () => {
  expect(faultOf(() => writeFileSync("/dev/full", "x"))).toContain("free some space");
  expect(faultOf(() => readFileSync("/proc/self/mem"))).toContain("check the disk");
  expect(faultOf(() => readFileSync("/nowhere"))).toBeUndefined();
  expect(faultOf(() => JSON.parse("{"))).toBeUndefined();
});

function faultOf(action: () => unknown): string | undefined {
  try {
    action();
  } catch (thrown) {
    return diskFault(thrown)?.message;
  }
  throw new Error("nothing was thrown");
}
