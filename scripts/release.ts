/**
 * Publishes packages as updates: puts them into a folder that any web server can serve, and signs the list of what is there. docs/updates.md
 * says how a programme uses it.
 */
import { createHash, createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Value } from "@sinclair/typebox/value";
import { compareVersions, Release, Releases } from "../src/update/manifest.ts";

const listName = "releases.json";
const usage = `./scripts/release --make-key programme.pem
    makes the two keys of a programme: programme.pem signs and stays secret, programme.pub.pem goes into packages
./scripts/release FOLDER --key programme.pem --ring 5 lintel_0.2.0_arm64.deb …
    adds packages, for the boxes of ring 5 and below
./scripts/release FOLDER --key programme.pem --ring 50 --version 0.2.0
    lets a release that is there go to more boxes
./scripts/release FOLDER --key programme.pem --withdraw 0.2.0
    takes a release off the list: boxes that have it keep it`;

try {
  main();
} catch (thrown) {
  console.error(`release: ${thrown instanceof Error ? thrown.message : thrown}`);
  process.exit(2);
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      "make-key": { type: "string" },
      key: { type: "string" },
      ring: { type: "string" },
      version: { type: "string" },
      withdraw: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  if (values["make-key"] !== undefined) {
    makeKey(values["make-key"]);
    return;
  }
  const [folder, ...packages] = positionals;
  if (folder === undefined || values.key === undefined) throw new Error(`see\n${usage}`);
  const ring = Number(values.ring);
  if (values.withdraw === undefined && !(Number.isInteger(ring) && ring >= 1))
    throw new Error("--ring is a whole number: 5, 50 or 500");
  mkdirSync(folder, { recursive: true });
  const before = readList(folder);
  const stays = before.filter(({ version }) => version !== values.withdraw);
  const added = packages.map((path) => add(folder, path, ring));
  const isAdded = (one: Release) =>
    added.some(({ version, architecture }) => version === one.version && architecture === one.architecture);
  const kept = stays
    .filter((one) => !isAdded(one))
    .map((one) => (one.version === values.version ? { ...one, ring } : one));
  write(folder, [...added, ...kept], values.key);
}

function makeKey(path: string): void {
  const publicPath = path.replace(/(\.pem)?$/, ".pub.pem");
  for (const one of [path, publicPath]) if (existsSync(one)) throw new Error(`${one} is there already`);
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  writeFileSync(path, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  writeFileSync(publicPath, publicKey.export({ type: "spki", format: "pem" }), { mode: 0o644 });
  console.log(
    `${path} signs releases: keep it off the servers. ./scripts/build --key ${publicPath} puts the other into packages.`,
  );
}

function readList(folder: string): Release[] {
  const path = join(folder, listName);
  if (!existsSync(path)) return [];
  const found: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (!Value.Check(Releases, found)) throw new Error(`${path} is no list of releases`);
  return found;
}

/** Puts a package into the folder; what the list says of it. */
function add(folder: string, path: string, ring: number): Release {
  const { version, commit, architecture } = releaseFileIn(path);
  const file = basename(path);
  const content = readFileSync(path);
  const sha256 = createHash("sha256").update(content).digest("hex");
  const release = { version, commit, ring, architecture, file, bytes: content.length, sha256 };
  const fault = Value.Errors(Release, release).First();
  if (fault !== undefined) throw new Error(`${path}: ${fault.path} ${fault.message} (${fault.value})`);
  const to = join(folder, file);
  if (resolve(to) !== resolve(path)) {
    copyFileSync(path, `${to}.new`);
    renameSync(`${to}.new`, to);
  }
  return release;
}

/** `release.json` in a package. */
function releaseFileIn(path: string): Pick<Release, "version" | "commit" | "architecture"> {
  const script = 'dpkg-deb --fsys-tarfile "$1" | tar -xO ./usr/lib/lintel/release.json';
  const { stdout, exitCode, stderr } = Bun.spawnSync(["sh", "-c", script, "sh", path]);
  if (exitCode !== 0) throw new Error(`${path} is no package of Lintel (${stderr.toString().trim()})`);
  return JSON.parse(stdout.toString());
}

/** Writes the list, newest first, and its signature. */
function write(folder: string, releases: readonly Release[], key: string): void {
  const newestFirst = releases.toSorted(
    (one, other) =>
      compareVersions(other.version, one.version) || one.architecture.localeCompare(other.architecture, "en"),
  );
  const list = Buffer.from(`${JSON.stringify(newestFirst, null, 2)}\n`);
  const signature = sign(null, list, createPrivateKey(readFileSync(key)));
  const path = join(folder, listName);
  writeFileSync(`${path}.new`, list);
  writeFileSync(`${path}.sig.new`, signature);
  renameSync(`${path}.sig.new`, `${path}.sig`);
  renameSync(`${path}.new`, path);
  for (const { version, architecture, ring } of newestFirst)
    console.log(`${version} ${architecture}: ring ${ring}`);
}
