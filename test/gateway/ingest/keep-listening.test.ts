import { expect, test } from "bun:test";
import { keepListening } from "../../../src/gateway/ingest/note-book.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

test("who listens is told at once, every 15 s, and once more at the end; the gateway always does", () => {
  const clock = new SettableClock(0);
  const told: [number, string][] = [];
  let drivers = ["zigbee"];
  const end = keepListening({
    clock,
    listeners: () => drivers,
    note: (listener) => told.push([clock.now().unix_ms, listener]),
  });
  clock.advance(14_999);
  drivers = [];
  clock.advance(1);
  drivers = ["ble"];
  clock.advance(15_000);
  clock.advance(7_000);
  end();
  clock.advance(60_000);
  expect(clock.waiting).toBe(0);
  expect(told).toEqual([
    [0, "gateway"],
    [0, "zigbee"],
    [15_000, "gateway"],
    [30_000, "gateway"],
    [30_000, "ble"],
    [37_000, "gateway"],
    [37_000, "ble"],
  ]);
});
