import { describe, expect, test } from "bun:test";
import {
  chooseRelease,
  compareVersions,
  Refused,
  type Release,
} from "../../../src/gateway/update/releases.ts";

function release(version: string, of: Partial<Release> = {}): Release {
  return {
    version,
    commit: "1a2b3c4d5e",
    ring: 500,
    architecture: "arm64",
    file: `lintel_${version}_arm64.deb`,
    bytes: 1_000,
    sha256: "0".repeat(64),
    ...of,
  };
}

const box = { architecture: "arm64", ring: 50, version: "0.2.0", refused: () => false };
const chosen = (releases: readonly Release[], of: Partial<typeof box> = {}) =>
  chooseRelease(releases, { ...box, ...of })?.version;

function reasonOf(action: () => unknown): string | undefined {
  try {
    action();
  } catch (thrown) {
    if (thrown instanceof Refused) return thrown.reason;
    throw thrown;
  }
  return undefined;
}

describe("a box chooses", () => {
  test("the newest release that is for its ring or a larger one, and newer than its own", () => {
    const releases = [
      release("0.5.0", { ring: 5 }),
      release("0.4.0", { ring: 50 }),
      release("0.10.0", { ring: 5 }),
    ];
    expect(chosen(releases)).toBe("0.4.0");
    expect(chosen(releases, { ring: 5 })).toBe("0.10.0");
    expect(chosen(releases, { ring: 500 })).toBeUndefined();
    expect(chosen([release("0.2.0")])).toBeUndefined();
    expect(chosen([])).toBeUndefined();
  });

  test("no release that it has refused, and the one before that instead", () => {
    const refused = ({ version }: Release) => version === "0.4.0";
    expect(chooseRelease([release("0.4.0"), release("0.3.0")], { ...box, refused })?.version).toBe("0.3.0");
  });

  test("nothing of a list that is for other machines, or older than what runs, which it refuses", () => {
    expect(reasonOf(() => chosen([release("0.3.0", { architecture: "amd64" })]))).toBe("architecture");
    expect(reasonOf(() => chosen([release("0.1.9")]))).toBe("older");
  });
});

test("versions are in the order of their numbers, and one that leads to a release is before it", () => {
  const inOrder = ["0.1.9", "0.1.10~20261122120000", "0.1.10~20261123120000", "0.1.10", "0.2.0", "1.0.0"];
  expect(inOrder.toReversed().toSorted(compareVersions)).toEqual(inOrder);
  expect(compareVersions("0.1.0", "0.1.0+1a2b3c4d5e")).toBe(0);
});
