import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";

const command = normalize(join(import.meta.dir, "../../scripts/apt-folder"));
const missing = ["apt-ftparchive", "gpg", "dpkg-deb"].filter((name) => Bun.which(name) === null);
if (missing.length > 0) console.log(`skipped: scripts/apt-folder needs ${missing.join(", ")}`);
const statement = test.skipIf(missing.length > 0);

let place: string;
let pool: string;
let folder: string;
const signer = "programme@example.org";

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "lintel-apt-"));
  pool = join(place, "pool");
  folder = join(place, "served");
  if (missing.length > 0) return;
  mkdirSync(join(place, "keys"), { mode: 0o700 });
  run(
    "gpg",
    "--batch",
    "--quiet",
    "--passphrase",
    "",
    "--quick-generate-key",
    signer,
    "ed25519",
    "sign",
    "never",
  );
});
afterEach(() => {
  if (missing.length === 0) run("gpgconf", "--kill", "all");
  rmSync(place, { recursive: true, force: true });
});

function run(...words: string[]): { code: number; out: string; said: string } {
  const env = { PATH: process.env["PATH"] ?? "", GNUPGHOME: join(place, "keys") };
  const { exitCode, stdout, stderr } = Bun.spawnSync(words, { env, cwd: place });
  return { code: exitCode, out: stdout.toString(), said: stderr.toString() };
}

const publish = (...packages: string[]) => run(command, pool, folder, "--sign-with", signer, ...packages);

/** A package with a file in it. */
function packageOf(version: string, content = ""): string {
  const tree = join(place, `tree-${version}`);
  mkdirSync(join(tree, "DEBIAN"), { recursive: true });
  writeFileSync(join(tree, "content"), content);
  const control = `Package: lintel\nVersion: ${version}\nArchitecture: all\nMaintainer: test <test@example.org>\nDescription: a test\n`;
  writeFileSync(join(tree, "DEBIAN/control"), control);
  const file = join(place, `lintel_${version}_all.deb`);
  expect(run("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, file).code).toBe(0);
  return file;
}

statement("a repository is signed, ends after some time, and has every package that was published", () => {
  expect(publish(packageOf("0.1.0"))).toMatchObject({ code: 0 });
  const { code, out } = publish(packageOf("0.2.0"));
  expect([code, out]).toEqual([0, expect.stringMatching(/signed by [0-9A-F]{40}, valid until /)]);
  expect(readdirSync(folder).toSorted()).toEqual([
    "InRelease",
    "Packages",
    "Packages.gz",
    "key.asc",
    "lintel_0.1.0_all.deb",
    "lintel_0.2.0_all.deb",
  ]);
  const release = run("gpg", "--batch", "--output", "-", "--decrypt", join(folder, "InRelease")).out;
  const until_ms = Date.parse(/^Valid-Until: (.*)$/m.exec(release)?.[1] ?? "");
  expect(until_ms - Date.now()).toBeGreaterThan(80 * 86_400_000);
  expect(until_ms - Date.now()).toBeLessThan(100 * 86_400_000);
});

const attempts: Readonly<Record<string, [change: () => void, named: string]>> = {
  "a package that somebody has put into the served folder": [
    () => writeFileSync(join(folder, "evil_9_all.deb"), "evil"),
    "served/evil_9_all.deb was added by another hand",
  ],
  "a package that somebody has changed in the served folder": [
    () => writeFileSync(join(folder, "lintel_0.1.0_all.deb"), "evil"),
    "served/./lintel_0.1.0_all.deb was changed or removed by another hand",
  ],
  "a list that somebody has changed": [
    () => writeFileSync(join(folder, "Packages"), "evil"),
    "served/./Packages was changed or removed by another hand",
  ],
  "a package that somebody has changed in the publisher's own folder": [
    () => writeFileSync(join(pool, "lintel_0.1.0_all.deb"), "evil"),
    "pool/./lintel_0.1.0_all.deb was changed or removed by another hand",
  ],
  "a package that somebody has put into the publisher's own folder": [
    () => writeFileSync(join(pool, "evil_9_all.deb"), "evil"),
    "pool/evil_9_all.deb was added by another hand",
  ],
};

for (const [name, [change, named]] of Object.entries(attempts))
  statement(`${name} is named, and nothing is signed`, () => {
    expect(publish(packageOf("0.1.0")).code).toBe(0);
    change();
    const before = readFileSync(join(folder, "InRelease"));
    for (const packages of [[], [packageOf("0.2.0")]]) {
      const { code, said } = publish(...packages);
      expect([code, said]).toEqual([2, expect.stringContaining(named)]);
    }
    expect(readFileSync(join(folder, "InRelease"))).toEqual(before);
    expect(readdirSync(folder)).not.toContain("lintel_0.2.0_all.deb");
  });

statement("a folder that was emptied is written anew, and a version is published once", () => {
  expect(publish(packageOf("0.1.0")).code).toBe(0);
  rmSync(folder, { recursive: true });
  expect(publish().code).toBe(0);
  expect(readdirSync(folder)).toContain("lintel_0.1.0_all.deb");
  expect(publish(packageOf("0.1.0", "other"))).toMatchObject({
    code: 2,
    said: expect.stringContaining("was published with other bytes"),
  });
});
