import { expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { requireRoomFor } from "../../../src/gateway/update/release-repository.ts";

/** More than any disk has, so that it is always said. */
const petabyte = 1e15;
const release = {
  ...{ version: "2.0.0", commit: "c", ring: 1, architecture: "arm64", file: "lintel.deb" },
  ...{ bytes: petabyte, sha256: "" },
};

/** The room that a release is said to need, in megabytes. */
async function neededFor(data_bytes: number | undefined): Promise<number> {
  const refused = requireRoomFor(tmpdir(), release, data_bytes).then(
    () => "",
    (thrown: Error) => thrown.message,
  );
  return Number(/2\.0\.0 needs (\d+) MB/.exec(await refused)?.[1]);
}

test("a release needs room for itself packed and unpacked, and with its data for all of it twice and something over", async () => {
  expect(await neededFor(undefined)).toBe(5 * 1e9);
  expect(await neededFor(0)).toBe(2 * 5e9 + 17);
  expect(await neededFor(7e9)).toBe(2 * (5e9 + 7e3) + 17);
});

test("there is room where that much is free", async () => {
  expect(await requireRoomFor(tmpdir(), { ...release, bytes: 1 }, undefined)).toBeUndefined();
});
