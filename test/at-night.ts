import { test } from "bun:test";
import { nightly } from "../testbed/nightly.ts";

/** A test of the long half alone (`./scripts/test --nightly`): what it asks is asked by day of fewer cases, of the other database, or by its parts. */
export function testAtNight(name: string, work: () => void | Promise<void>): void {
  if (nightly) test(name, work);
}
