import { describe, expect, test } from "bun:test";
import { Attempts, networkOf } from "../../../src/web/server/authorization.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

describe("wrong tokens", () => {
  test("are let through up to the bound in a minute, and afresh after it", () => {
    const clock = new SettableClock(0);
    const attempts = new Attempts({ clock, attempts_max: 3, addresses_max: 10 });
    expect([1, 2, 3].map(() => attempts.note("10.0.0.1"))).toEqual([undefined, undefined, undefined]);
    clock.advance(20_500);
    expect(attempts.note("10.0.0.1")).toBe(40);
    expect(attempts.note("10.0.0.2")).toBeUndefined();
    clock.advance(39_499);
    expect(attempts.note("10.0.0.1")).toBe(1);
    clock.advance(1);
    expect(attempts.note("10.0.0.1")).toBeUndefined();
  });

  test("are remembered of a bounded number of addresses, the most recent ones", () => {
    const attempts = new Attempts({ clock: new SettableClock(0), attempts_max: 1, addresses_max: 2 });
    attempts.note("10.0.0.1");
    attempts.note("10.0.0.2");
    attempts.note("10.0.0.1");
    attempts.note("10.0.0.3");
    expect(attempts.note("10.0.0.1")).toBe(60);
    expect(attempts.note("10.0.0.2")).toBeUndefined();
  });
});

test.each([
  ["192.168.1.7", "192.168.1.7"],
  ["::ffff:192.168.1.7", "192.168.1.7"],
  ["::1", "0:0:0:0::/64"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:DB8:1:2::6", "2001:db8:1:2::/64"],
  ["2001:db8::6", "2001:db8:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["an unknown address", "an unknown address"],
])("the address %s counts as %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});
