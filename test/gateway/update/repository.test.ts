import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHash, createPrivateKey, createPublicKey } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { Metadata } from "@tufjs/models";
import { keysIn, signatureBy } from "../../../scripts/publishing/keys.ts";
import { Ledger } from "../../../scripts/publishing/ledger.ts";
import { filesOf, signAll } from "../../../scripts/publishing/repository.ts";
import { SystemClock } from "../../../src/base/clock.ts";
import { packageFor, readRepository } from "../../../src/gateway/update/release-repository.ts";
import {
  Refused,
  type Release,
  type ReleasePackage,
  targetPathOf,
} from "../../../src/gateway/update/releases.ts";
import { architecture, makePackage } from "../../../testbed/updates/release-files.ts";
import { ReleaseServer } from "../../../testbed/updates/updating-box.ts";

const command = normalize(join(import.meta.dir, "../../../scripts/release"));
const day_ms = 86_400_000;

let place: string;
let folder: string;
let ledger: string;
let server: ReleaseServer;
let root: string;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "lintel-releases-"));
  folder = join(place, "served");
  ledger = join(place, "ledger");
  publish("init", "--folder", folder);
  root = readFileSync(join(ledger, "root.json"), "utf8");
  server = new ReleaseServer(folder);
});
afterEach(async () => {
  await server.stop();
  rmSync(place, { recursive: true, force: true });
});

function publish(verb: string, ...words: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([command, verb, ledger, "--yes", ...words]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return stdout.toString();
}

const packageOf = (version: string) => makePackage(place, { version, root, short: true });

/** The versions that a box reads there, with their rings; or why it refuses. */
async function read(box: string): Promise<string[] | string> {
  const source = { manifest: server.url, clock: new SystemClock(), stop: new AbortController().signal };
  try {
    const releases = await readRepository(source, { directory: join(place, box), root });
    return releases.map(({ version, ring }) => `${version} for ${ring}`).toSorted();
  } catch (thrown) {
    if (thrown instanceof Refused) return thrown.reason;
    throw thrown;
  }
}

/** Changes a signed file of the folder, and signs it as version 9 by keys in these files. */
// biome-ignore lint/suspicious/noExplicitAny: any role
function resign(name: string, keys: readonly string[], change: (signed: any) => void): Buffer {
  const { signed } = JSON.parse(readFileSync(join(folder, "metadata", name), "utf8"));
  change(signed);
  signed.version = 9;
  const metadata = Metadata.fromJSON(signed._type, { signed, signatures: [] });
  for (const path of keys) {
    const key = createPrivateKey(readFileSync(path));
    const raw = createPublicKey(key).export({ type: "spki", format: "der" }).subarray(-32);
    metadata.sign((bytes) => signatureBy(digest(raw), key, bytes), true);
  }
  const bytes = Buffer.from(JSON.stringify(metadata.toJSON()));
  writeFileSync(join(folder, "metadata", name.replace(/^\d+/, "9")), bytes);
  return bytes;
}

/** The file of the key that a role has now. */
function newestKey(name: string): string {
  const [newest = ""] = readdirSync(join(ledger, "keys"))
    .filter((file) => file.startsWith(name))
    .toSorted()
    .toReversed()
    .toSorted((one, other) => other.length - one.length);
  return join(ledger, "keys", newest);
}

const digest = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** The folder as an attacker keeps it, to be put back later. */
function copyFolder(name: string): { restore(part?: string): void } {
  const copy = join(place, name);
  cpSync(folder, copy, { recursive: true });
  return {
    restore: (part = ".") => {
      rmSync(join(folder, part), { recursive: true, force: true });
      cpSync(join(copy, part), join(folder, part), { recursive: true });
    },
  };
}

/** Publishes as at another time. */
async function publishAt(now_ms: number): Promise<void> {
  const opened = Ledger.open(ledger);
  await signAll(opened, { keys: keysIn([join(ledger, "keys")]), now_ms, renew: true, about: () => true });
  opened.publish(filesOf(opened));
}

test("a ledger that nobody agreed to sign for leaves nothing behind, and is begun again", () => {
  const fresh = join(place, "fresh");
  const init = [command, "init", fresh, "--folder", join(place, "elsewhere")];
  const refused = Bun.spawnSync(init);
  expect([refused.exitCode, refused.stderr.toString()]).toEqual([
    2,
    "release: nobody can be asked here: --yes signs without asking. Nothing was signed\n",
  ]);
  expect(existsSync(fresh)).toBe(false);
  expect(Bun.spawnSync([...init, "--yes"]).exitCode).toBe(0);
  expect(existsSync(join(fresh, "root.json"))).toBe(true);
});

test("a package gives the same one without Bun each time, and a box takes that where its own Bun is the one", async () => {
  const file = makePackage(place, { version: "0.2.0", root, short: true, bun: "one" });
  const listed = () => Ledger.open(ledger).state.releases[0] as Release;
  publish("add", "--ring", "5", file);
  const release = listed();
  publish("add", "--ring", "5", file);
  expect(listed()).toEqual(release);
  const { without_bun } = release;
  expect(existsSync(join(folder, "targets", targetPathOf(release, without_bun as ReleasePackage)))).toBe(
    true,
  );
  const bun = join(place, `lintel_0.2.0_${architecture}/usr/lib/lintel/bun`);
  const directory = join(place, "download");
  const chosen = () => packageFor(release, { bun, directory });
  expect(await chosen()).toEqual(without_bun as ReleasePackage);
  mkdirSync(directory);
  writeFileSync(join(directory, `${release.sha256}.deb`), "begun");
  expect(await chosen()).toBe(release);
  rmSync(directory, { recursive: true });
  appendFileSync(bun, "# worn\n");
  expect(await chosen()).toBe(release);
  rmSync(bun);
  expect(await chosen()).toBe(release);
  const made = readdirSync(join(ledger, "packages")).filter((name) => name.startsWith("without-bun"));
  expect(made).toHaveLength(1);
  appendFileSync(join(ledger, "packages", made[0] ?? ""), "more");
  expect(() => publish("refresh")).toThrow("is not the package that was added");
});

test("a key that nobody agreed to take into use is not left behind", () => {
  const keys = readdirSync(join(ledger, "keys"));
  const refused = Bun.spawnSync([command, "rotate", ledger, "--role", "timestamp"]);
  expect(refused.exitCode).toBe(2);
  expect(readdirSync(join(ledger, "keys"))).toEqual(keys);
  publish("rotate", "--role", "timestamp");
  expect(readdirSync(join(ledger, "keys"))).toHaveLength(keys.length + 1);
});

test("a ledger is made in a new directory alone", () => {
  const used = join(place, "used");
  mkdirSync(used);
  writeFileSync(join(used, "letter.txt"), "dear all");
  const refused = Bun.spawnSync([command, "init", used, "--folder", folder, "--yes"]);
  expect([refused.exitCode, refused.stderr.toString()]).toEqual([
    2,
    `release: ${used} has files already: name a new directory, or remove it where an init was cut off\n`,
  ]);
  expect(readdirSync(used)).toEqual(["letter.txt"]);
});

describe("a box reads", () => {
  test("what the programme has published, ring by ring, and what has changed since", async () => {
    expect(await read("box")).toEqual([]);
    publish("add", "--ring", "5", packageOf("0.2.0"));
    publish("add", "--ring", "500", packageOf("0.1.5"));
    expect(await read("box")).toEqual(["0.1.5 for 500", "0.2.0 for 5"]);
    publish("widen", "--ring", "50", "--version", "0.2.0");
    expect(await read("box")).toEqual(["0.1.5 for 500", "0.2.0 for 50"]);
    publish("withdraw", "--version", "0.2.0");
    expect(await read("box")).toEqual(["0.1.5 for 500"]);
  });

  test("no old list again: a release that was withdrawn does not come back", async () => {
    publish("add", "--ring", "500", packageOf("0.2.0"));
    const old = copyFolder("old");
    publish("withdraw", "--version", "0.2.0");
    expect(await read("box")).toEqual([]);
    old.restore();
    expect(await read("box")).toBe("rollback");
    // Of a box that was never there the old one is believed until it ends.
    expect(await read("new")).toEqual(["0.2.0 for 500"]);
  });

  test("no list that has ended: nobody can keep a box from news for longer than two weeks", async () => {
    await publishAt(Date.now() - 20 * day_ms);
    expect(await read("box")).toBe("expired");
    publish("refresh");
    expect(await read("box")).toEqual([]);
  });

  test("no files that do not belong together", async () => {
    publish("add", "--ring", "500", packageOf("0.2.0"));
    const old = copyFolder("old");
    publish("add", "--ring", "500", packageOf("0.3.0"));
    const names = readdirSync(join(folder, "metadata"));
    const [ring] = names.filter((name) => name.endsWith(".ring-500.json"));
    const [oldRing] = readdirSync(join(place, "old/metadata")).filter((name) =>
      name.endsWith(".ring-500.json"),
    );
    writeFileSync(
      join(folder, "metadata", ring ?? ""),
      readFileSync(join(place, "old/metadata", oldRing ?? "")),
    );
    expect(await read("box")).toBe("mixed");
    old.restore("targets");
  });

  test("a list that says more of a release than it knows, and no list of today has what the first updaters refuse", async () => {
    publish("add", "--ring", "500", makePackage(place, { version: "0.2.0", root, short: true, bun: "one" }));
    const nameOf = (of: string) =>
      readdirSync(join(folder, "metadata")).find((name) => name.endsWith(`.${of}.json`)) ?? "";
    const keys = (role: string) => readdirSync(join(ledger, "keys")).filter((name) => name.startsWith(role));
    const held = (role: string) => keys(role).map((name) => join(ledger, "keys", name));
    const meta = (bytes: Buffer) => ({ version: 9, length: bytes.length, hashes: { sha256: digest(bytes) } });
    const ring = resign(nameOf("ring-500"), held("ring-500"), (signed) => {
      for (const target of Object.values<Record<string, object>>(signed.targets)) {
        expect(Object.keys(target["custom"] ?? {}).toSorted()).toEqual(["architecture", "commit", "version"]);
        expect(Object.keys(target["without_bun"] ?? {}).toSorted()).toEqual(["bun", "bytes", "sha256"]);
        target["custom"] = { ...target["custom"], notes: "new" };
        target["without_bun"] = { parts: [] };
        target["later"] = { sha256: "" };
      }
    });
    const snapshot = resign(nameOf("snapshot"), held("snapshot"), (signed) => {
      signed.meta["ring-500.json"] = meta(ring);
    });
    resign("timestamp.json", held("timestamp"), (signed) => {
      signed.meta["snapshot.json"] = meta(snapshot);
    });
    expect(await read("box")).toEqual(["0.2.0 for 500"]);
  });

  test("nothing that another hand has written", async () => {
    publish("add", "--ring", "5", packageOf("0.2.0"));
    const [ring = ""] = readdirSync(join(folder, "metadata")).filter((name) => name.endsWith(".ring-5.json"));
    const path = join(folder, "metadata", ring);
    writeFileSync(path, readFileSync(path, "utf8").replace("0.2.0", "0.9.0"));
    expect(await read("box")).toBe("mixed");
    const timestamp = join(folder, "metadata/timestamp.json");
    writeFileSync(timestamp, readFileSync(timestamp, "utf8").replace(/"version":\d+/, '"version":99'));
    expect(await read("new")).toBe("signature");
  });

  test.each([
    ["timestamp", ["timestamp"]],
    ["snapshot", ["snapshot"]],
    ["targets", ["targets"]],
    ["ring-500", ["ring-500-one", "ring-500-two"]],
  ])(
    "nothing signed by a stolen key of %s that was replaced, also with the keys of the server",
    async (role, stolen) => {
      publish("add", "--ring", "500", packageOf("0.2.0"));
      const thief = join(place, "thief");
      cpSync(join(ledger, "keys"), thief, { recursive: true });
      publish("rotate", "--role", role);
      expect(await read("box")).toEqual(["0.2.0 for 500"]);
      const held = (name: string) => (stolen.includes(name) ? join(thief, `${name}.pem`) : newestKey(name));
      const meta = (bytes: Buffer) => ({
        version: 9,
        length: bytes.length,
        hashes: { sha256: digest(bytes) },
      });
      const names = readdirSync(join(folder, "metadata"));
      const nameOf = (of: string) => names.find((name) => name.endsWith(`.${of}.json`)) ?? "";
      const inner = ["targets", "ring-500"].includes(role)
        ? resign(nameOf(role), stolen.map(held), () => {})
        : undefined;
      const snapshot = resign(nameOf("snapshot"), [held("snapshot")], (signed) => {
        if (inner !== undefined) signed.meta[`${role}.json`] = meta(inner);
      });
      resign("timestamp.json", [held("timestamp")], (signed) => {
        signed.meta["snapshot.json"] = meta(snapshot);
      });
      expect(await read("box")).toBe("signature");
    },
  );

  test("again what the programme publishes, after a thief of the server's keys has counted far ahead", async () => {
    publish("add", "--ring", "500", packageOf("0.2.0"));
    resign("timestamp.json", [newestKey("timestamp")], () => {});
    expect(await read("box")).toEqual(["0.2.0 for 500"]);
    rmSync(folder, { recursive: true });
    publish("refresh");
    expect(await read("box")).toBe("rollback");
    publish("rotate", "--role", "timestamp");
    expect(await read("box")).toEqual(["0.2.0 for 500"]);
  });

  test("what was published after two changes of the root, where it was off meanwhile", async () => {
    expect(await read("box")).toEqual([]);
    publish("rotate", "--role", "root");
    publish("rotate", "--role", "root");
    publish("add", "--ring", "500", packageOf("0.2.0"));
    expect(await read("box")).toEqual(["0.2.0 for 500"]);
    expect(JSON.parse(readFileSync(join(place, "box/metadata/root.json"), "utf8")).signed.version).toBe(3);
  });

  test("a release of the widest ring only where two keys have signed it", async () => {
    publish("add", "--ring", "500", packageOf("0.2.0"));
    // Who has one of the two, and the keys that lie on the server that refreshes.
    const names = readdirSync(join(folder, "metadata"));
    const nameOf = (role: string) => names.find((name) => name.endsWith(`.${role}.json`)) ?? "";
    const ring = resign(nameOf("ring-500"), [newestKey("ring-500-one")], ({ targets }) => {
      const [path = ""] = Object.keys(targets);
      targets[path.replace("0.2.0", "0.3.0")] = targets[path];
    });
    const meta = (bytes: Buffer) => ({ version: 9, length: bytes.length, hashes: { sha256: digest(bytes) } });
    const snapshot = resign(nameOf("snapshot"), [newestKey("snapshot")], (signed) => {
      signed.meta["ring-500.json"] = meta(ring);
    });
    resign("timestamp.json", [newestKey("timestamp")], (signed) => {
      signed.meta["snapshot.json"] = meta(snapshot);
    });
    expect(await read("box")).toBe("signature");
  });

  test("what it could verify before, after its disk lost the files in the middle of a write", async () => {
    publish("add", "--ring", "500", packageOf("0.2.0"));
    expect(await read("box")).toEqual(["0.2.0 for 500"]);
    for (const name of ["root.json", "timestamp.json", "snapshot.json"])
      writeFileSync(join(place, "box/metadata", name), '{"signed":{"ver');
    expect(await read("box")).toEqual(["0.2.0 for 500"]);
  });
});

describe("./scripts/release signs nothing, and names the file,", () => {
  const attempts: Readonly<Record<string, [change: () => void, named: RegExp]>> = {
    "where a package in the folder was changed by another hand": [
      () =>
        changeByte(join(folder, "targets/ring-500", readdirSync(join(folder, "targets/ring-500"))[0] ?? "")),
      /targets\/ring-500\/[0-9a-f]{64}\.lintel_0\.2\.0_\w+\.deb was changed by another hand/,
    ],
    "where a list in the folder was changed by another hand": [
      () => changeByte(join(folder, "metadata/timestamp.json")),
      /metadata\/timestamp\.json was changed by another hand/,
    ],
    "where a package was added to the folder": [
      () => writeFileSync(join(folder, "targets/lintel_9.9.9_arm64.deb"), "evil"),
      /targets\/lintel_9\.9\.9_arm64\.deb was added by another hand/,
    ],
    "where a list was removed from the folder": [
      () => rmSync(join(folder, "metadata/1.root.json")),
      /metadata\/1\.root\.json was removed by another hand/,
    ],
    "where a package of the ledger itself was changed": [
      () => changeByte(join(ledger, "packages", readdirSync(join(ledger, "packages"))[0] ?? "")),
      /packages\/lintel_0\.2\.0_\w+\.deb is not the package that was added/,
    ],
  };
  test.each(Object.entries(attempts))("%s", (_, [change, named]) => {
    publish("add", "--ring", "500", packageOf("0.2.0"));
    change();
    const before = readdirSync(join(ledger, "metadata")).toSorted();
    for (const words of [
      ["refresh"],
      ["add", "--ring", "5", packageOf("0.3.0")],
      ["withdraw", "--version", "0.2.0"],
    ] as const) {
      const [verb, ...rest] = words;
      expect(() => publish(verb, ...rest)).toThrow(named);
    }
    expect(readdirSync(join(ledger, "metadata")).toSorted()).toEqual(before);
    expect(existsSync(join(ledger, "metadata/2.ring-5.json"))).toBe(false);
  });

  test("where the same version comes with other bytes", () => {
    publish("add", "--ring", "500", packageOf("0.2.0"));
    const other = makePackage(place, { version: "0.2.0", root, short: true, fault: "1" });
    expect(() => publish("add", "--ring", "500", other)).toThrow("is published already with other bytes");
  });

  test("where a key is not there", () => {
    rmSync(join(ledger, "keys/ring-500-two.pem"));
    expect(() => publish("add", "--ring", "500", packageOf("0.2.0"))).toThrow("the key of ring-500");
    publish("add", "--ring", "50", packageOf("0.2.0"));
  });

  test("unless somebody has agreed to what it is about to sign", () => {
    const file = packageOf("0.2.0");
    const { exitCode, stdout, stderr } = Bun.spawnSync([command, "add", ledger, "--ring", "5", file], {
      stdin: "ignore",
    });
    expect([exitCode, stdout.toString(), stderr.toString()]).toEqual([
      2,
      expect.stringMatching(/^add 0\.2\.0 \w+, SHA-256 [0-9a-f]{64}, ring 5\nsign ring-5 2, valid until /),
      expect.stringContaining("--yes signs without asking"),
    ]);
  });
});

function changeByte(path: string): void {
  const bytes = readFileSync(path);
  const at = Math.floor(bytes.length / 2);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}
