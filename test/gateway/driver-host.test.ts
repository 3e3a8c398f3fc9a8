import { expect, test } from "bun:test";
import { localAddress } from "../../src/gateway/driver-host.ts";

test("a device that cannot tell its address has one of its home, or of its store where the home has no number", () => {
  expect(localAddress(12, "00")).toBe("02:00:00:00:00:0c");
  expect(localAddress(2 ** 40 - 1, "00")).toBe("02:ff:ff:ff:ff:ff");
  expect(localAddress(undefined, "a2e9834a297dcc007e62f3e3be5b32a7")).toBe("06:a2:e9:83:4a:29");
});
