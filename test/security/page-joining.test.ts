import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import type { Driver, Host } from "../../drivers/driver.ts";
import { lineLog } from "../../src/base/log.ts";
import { AttachedDriver } from "../../src/gateway/attached-drivers.ts";
import { button_seconds, Joining } from "../../src/gateway/joining/joining.ts";
import { page_joining_seconds, SetupVisit } from "../../src/gateway/joining/setup-visit.ts";
import type { NameStore } from "../../src/store/inventory/given-names.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";

/** Joining with a driver that lets devices in, and a clock that the test moves. */
function joiningHere() {
  const clock = new SettableClock(Date.UTC(2026, 10, 20, 12));
  const log = lineLog({ write: () => {}, clock });
  const keeper = { isOpen: false };
  const driver: Driver = {
    start: () => {},
    stop: async () => {},
    status: () => ({ state: "listening", since_ms: 0, detail: "" }),
    openJoining: async () => {
      keeper.isOpen = true;
    },
    closeJoining: async () => {
      keeper.isOpen = false;
    },
  };
  const definition = { name: "doors", section: Type.Object({}), create: () => driver };
  const attached = new AttachedDriver({ definition, config: {}, host: {} as Host, clock, log });
  const joining = new Joining({ drivers: () => [attached], clock, log, changed: () => {} });
  const identities = { changes: 0, conflicts: () => [], settle: () => Promise.reject() };
  const walk = new SetupVisit({ joining, identities, store: {} as NameStore, clock, lines: [] });
  return { clock, keeper, joining, walk };
}

const settled = () => Bun.sleep(0);

test("a page lets devices in for its time and no longer, however often somebody taps meanwhile", async () => {
  const { clock, keeper, joining, walk } = joiningHere();
  walk.open();
  await settled();
  expect(keeper.isOpen).toBe(true);
  for (let second = 1; second < page_joining_seconds; second++) {
    clock.advance(1_000);
    walk.open();
    await settled();
    expect(joining.state).toBe("open");
  }
  clock.advance(1_000);
  await settled();
  expect([keeper.isOpen, joining.state]).toEqual([false, "closed"]);
});

test("the button of the box lets devices in for its time and no longer", async () => {
  const { clock, keeper, joining } = joiningHere();
  joining.press();
  await settled();
  clock.advance(button_seconds * 1_000 - 1);
  await settled();
  expect(keeper.isOpen).toBe(true);
  clock.advance(1);
  await settled();
  expect([keeper.isOpen, joining.state]).toEqual([false, "closed"]);
});
