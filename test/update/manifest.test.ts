import { describe, expect, test } from "bun:test";
import { generateKeyPairSync, sign } from "node:crypto";
import { SystemClock } from "../../src/clock.ts";
import { fetchReleases } from "../../src/update/fetching.ts";
import { chooseRelease, compareVersions, type Release, readReleases } from "../../src/update/manifest.ts";
import { Refused } from "../../src/update/refused.ts";

const { publicKey, privateKey } = generateKeyPairSync("ed25519");

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

describe("a list of releases", () => {
  const list = Buffer.from(JSON.stringify([release("0.3.0")]));
  const signature = sign(null, list, privateKey);

  test("is read where the key of the programme has signed these bytes", () => {
    expect(readReleases(list, signature, publicKey)).toEqual([release("0.3.0")]);
  });

  test("is refused with another byte, with a signature that is cut short, by another key, and with an entry of another form", () => {
    const changed = Buffer.from(list.toString().replace("0.3.0", "0.4.0"));
    expect(reasonOf(() => readReleases(changed, signature, publicKey))).toBe("signature");
    expect(reasonOf(() => readReleases(list, signature.subarray(1), publicKey))).toBe("signature");
    const other = generateKeyPairSync("ed25519").publicKey;
    expect(reasonOf(() => readReleases(list, signature, other))).toBe("signature");
    const outside = Buffer.from(JSON.stringify([release("0.3.0", { file: "../lintel.deb" })]));
    expect(reasonOf(() => readReleases(outside, sign(null, outside, privateKey), publicKey))).toBe(
      "signature",
    );
  });
});

test("a list that is published anew between the fetch of it and of its signature is fetched again, and once only", async () => {
  const lists = ["0.3.0", "0.4.0"].map((version) => Buffer.from(JSON.stringify([release(version)])));
  const asked: string[] = [];
  let published = false;
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }) {
      const { pathname } = new URL(url);
      asked.push(pathname);
      const list = lists[Number(published)] ?? Buffer.alloc(0);
      if (!pathname.endsWith(".sig")) {
        published = true;
        return new Response(list);
      }
      return new Response(pathname.includes("broken") ? Buffer.alloc(64) : sign(null, list, privateKey));
    },
  });
  const key = publicKey.export({ type: "spki", format: "pem" }).toString();
  const fetched = (name: string) =>
    fetchReleases(
      {
        manifest: `${server.url}${name}`,
        clock: new SystemClock(),
        stop: new AbortController().signal,
      },
      key,
    );
  expect(await fetched("releases.json")).toEqual([release("0.4.0")]);
  expect(asked).toHaveLength(4);
  expect(await fetched("broken.json").catch((thrown) => thrown.reason)).toBe("signature");
  expect(asked).toHaveLength(8);
});

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
