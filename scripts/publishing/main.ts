/** Publishes packages as updates: signs what the ledger on this disk says, and writes it into a folder that any web server can serve. docs/updates.md says how. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { Value } from "@sinclair/typebox/value";
import { Release } from "../../src/gateway/update/releases.ts";
import { keysIn, makeKey } from "./keys.ts";
import { digestOf, Ledger, type LedgerState } from "./ledger.ts";
import { filesOf, newestFirst, ringsOf, signAll } from "./repository.ts";
import { makeWithoutBun } from "./without-bun.ts";

const usage = `./scripts/release init LEDGER --folder FOLDER [--rings 5,50,500]
    makes a ledger with the keys of a programme in LEDGER/keys, and LEDGER/root.json, which goes into packages
./scripts/release add LEDGER --ring 5 lintel_0.2.0_arm64.deb …
    adds packages, for the boxes of ring 5
./scripts/release widen LEDGER --version 0.2.0 --ring 50
    lets a release go to more boxes
./scripts/release withdraw LEDGER --version 0.2.0
    takes a release back: boxes that have it keep it
./scripts/release refresh LEDGER
    says that nothing has changed; do it at least every 14 days, for instance by cron
./scripts/release rotate LEDGER --role ring-500
    makes new keys for a role; the old ones count no more (root, targets, snapshot, timestamp, ring-N)
./scripts/release show LEDGER
    lists what is published, and until when it is valid

--keys DIR    another directory with keys, for instance on a stick that is locked away (repeatable)
--yes         signs without asking`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: "string" },
    rings: { type: "string", default: "5,50,500" },
    ring: { type: "string" },
    version: { type: "string" },
    role: { type: "string" },
    keys: { type: "string", multiple: true, default: [] },
    yes: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

async function main(): Promise<void> {
  const [verb = "", directory, ...files] = positionals;
  if (values.help) {
    console.log(usage);
    return;
  }
  const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined;
  if (action === undefined || directory === undefined) throw new Error(`see\n${usage}`);
  await action(resolve(directory), files);
}

const actions: Readonly<Record<string, (directory: string, files: string[]) => Promise<void> | void>> = {
  init,
  add: (directory, files) => {
    if (files.length === 0) throw new Error("name at least one package");
    const ledger = Ledger.open(directory);
    const ring = ringAsked(ledger);
    const added = files.map((path) => releaseOf(path, { ring, ledger }));
    const isAdded = (one: Release) => added.some((other) => sameBuild(one, other));
    for (const known of ledger.state.releases.filter(isAdded))
      if (!added.some(({ sha256 }) => sha256 === known.sha256))
        throw new Error(`${known.file} is published already with other bytes: give this one another version`);
    return change(ledger, [...ledger.state.releases.filter((one) => !isAdded(one)), ...added], { files });
  },
  widen: (directory) => {
    const ledger = Ledger.open(directory);
    const ring = ringAsked(ledger);
    const version = versionAsked(ledger);
    return change(
      ledger,
      ledger.state.releases.map((one) => (one.version === version ? { ...one, ring } : one)),
    );
  },
  withdraw: (directory) => {
    const ledger = Ledger.open(directory);
    const version = versionAsked(ledger);
    return change(
      ledger,
      ledger.state.releases.filter((one) => one.version !== version),
    );
  },
  refresh: (directory) => {
    const ledger = Ledger.open(directory);
    return change(ledger, ledger.state.releases);
  },
  rotate,
  show: (directory) => show(Ledger.open(directory)),
};

async function init(directory: string): Promise<void> {
  if (values.folder === undefined) throw new Error("--folder names the folder that is served");
  const rings = [...new Set(values.rings.split(",").map(Number))].toSorted((one, other) => one - other);
  if (!rings.every((ring) => Number.isInteger(ring) && ring >= 1))
    throw new Error("--rings are whole numbers: 5,50,500");
  if (existsSync(directory) && readdirSync(directory).length > 0)
    throw new Error(
      `${directory} has files already: name a new directory, or remove it where an init was cut off`,
    );
  const keys = join(directory, "keys");
  const roles: LedgerState["roles"] = {};
  const names = ["root", "targets", "snapshot", "timestamp", ...rings.map((ring) => `ring-${ring}`)];
  const folder = resolve(values.folder);
  const ledger = Ledger.create(directory, {
    format: "lintel releases 1",
    folder,
    roles,
    releases: [],
    published: {},
  });
  for (const role of names) roles[role] = keysOf(role, keys, rings.at(-1));
  await change(ledger, [], { undo: () => rmSync(directory, { recursive: true }) });
  copyFileSync(join(ledger.metadata, "1.root.json"), join(directory, "root.json"));
  console.log(
    `${join(directory, "root.json")} goes into packages: ./scripts/build --root ${join(directory, "root.json")}`,
  );
  console.log(
    `Move root.pem, targets.pem and the two keys of the widest ring from ${keys} to two sticks that are locked away; --keys names them when they are needed.`,
  );
}

/** New keys of a role. The widest ring wants two, so that no one key reaches every home. */
function keysOf(
  role: string,
  directory: string,
  widest: number | undefined,
  suffix = "",
): LedgerState["roles"][string] {
  const names = role === `ring-${widest}` ? [`${role}-one`, `${role}-two`] : [role];
  return { threshold: names.length, keys: names.map((name) => makeKey(directory, `${name}${suffix}`)) };
}

async function rotate(directory: string): Promise<void> {
  const ledger = Ledger.open(directory);
  const { roles } = ledger.state;
  const role = values.role ?? "";
  if (!Object.hasOwn(roles, role)) throw new Error(`--role is one of ${Object.keys(roles).join(", ")}`);
  const keys = join(directory, "keys");
  const namesOf = () => (existsSync(keys) ? readdirSync(keys).filter((name) => name.startsWith(role)) : []);
  const earlier = namesOf();
  const made = keysOf(role, keys, ringsOf(roles).at(-1), `-${earlier.length + 1}`);
  const before = ledger.state;
  ledger.state = { ...before, roles: { ...roles, [role]: made } };
  await change(ledger, before.releases, {
    undo: () => {
      for (const name of namesOf()) if (!earlier.includes(name)) rmSync(join(keys, name));
    },
  });
}

/**
 * Checks, says what is about to be signed, signs and publishes.
 *
 * @param options.files packages that the ledger takes in
 * @param options.undo removes what was made for this, where it ends before somebody has agreed to sign; a key that has signed stays
 */
async function change(
  ledger: Ledger,
  releases: readonly Release[],
  { files = [], undo = () => {} }: { files?: readonly string[]; undo?: () => void } = {},
): Promise<void> {
  let mayWrite = false;
  try {
    ledger.checkPackages();
    ledger.checkFolder();
    const before = ledger.state.releases;
    for (const path of files) keep(ledger, path);
    ledger.state = { ...ledger.state, releases: [...releases].sort(newestFirst) };
    ledger.checkPackages();
    const signed = await signAll(ledger, {
      keys: keysIn([join(ledger.directory, "keys"), ...values.keys]),
      now_ms: Date.now(),
      renew: true,
      about: async (signings) => {
        for (const line of differences(before, ledger.state.releases)) console.log(line);
        for (const { role, version, expires } of signings)
          console.log(`sign ${role} ${version}, valid until ${expires}`);
        mayWrite = values.yes || (await agreed());
        return mayWrite;
      },
    });
    if (!signed) throw new Error("nothing was signed");
  } catch (thrown) {
    if (!mayWrite) undo();
    throw thrown;
  }
  ledger.save();
  ledger.publish(filesOf(ledger));
  console.log(`${ledger.state.folder} has it`);
}

/** Brings a package into the ledger, wholly or not at all. */
function keep(ledger: Ledger, path: string): void {
  const to = ledger.packagePath(basename(path));
  mkdirSync(join(ledger.directory, "packages"), { recursive: true });
  if (resolve(path) === to) return;
  copyFileSync(path, `${to}.new`);
  renameSync(`${to}.new`, to);
}

async function agreed(): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new Error("nobody can be asked here: --yes signs without asking. Nothing was signed");
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test(await lines.question("Sign this? [y/N] "));
  } finally {
    lines.close();
  }
}

function* differences(before: readonly Release[], after: readonly Release[]): Generator<string> {
  const text = ({ version, architecture, sha256, without_bun }: Release) =>
    `${version} ${architecture}, SHA-256 ${sha256}${without_bun ? `, without Bun ${without_bun.sha256}` : ""}`;
  for (const one of after) {
    const known = before.find((other) => sameBuild(one, other));
    if (known === undefined) yield `add ${text(one)}, ring ${one.ring}`;
    else if (known.ring !== one.ring) yield `widen ${text(one)}, from ring ${known.ring} to ring ${one.ring}`;
  }
  for (const one of before) if (!after.some((other) => sameBuild(one, other))) yield `withdraw ${text(one)}`;
}

function show(ledger: Ledger): void {
  for (const { version, architecture, ring, sha256 } of ledger.state.releases)
    console.log(`${version} ${architecture}: ring ${ring}, SHA-256 ${sha256}`);
  const rings = ringsOf(ledger.state.roles).map((ring) => `ring-${ring}`);
  for (const role of ["root", "targets", ...rings, "snapshot", "timestamp"]) {
    const { signed } = JSON.parse(readFileSync(join(ledger.metadata, `${role}.json`), "utf8")) as {
      signed: { version: number; expires: string };
    };
    console.log(`${role} ${signed.version} is valid until ${signed.expires}`);
  }
}

function ringAsked(ledger: Ledger): number {
  const rings = ringsOf(ledger.state.roles);
  const ring = Number(values.ring);
  if (!rings.includes(ring)) throw new Error(`--ring is one of ${rings.join(", ")}`);
  return ring;
}

function versionAsked(ledger: Ledger): string {
  const versions = [...new Set(ledger.state.releases.map(({ version }) => version))];
  if (!versions.includes(values.version ?? ""))
    throw new Error(`--version is one of ${versions.join(", ") || "none: nothing is published"}`);
  return values.version ?? "";
}

/** The release that a package says it is. */
function releaseOf(path: string, { ring, ledger }: { ring: number; ledger: Ledger }): Release {
  if (!existsSync(path)) throw new Error(`there is no package ${path}`);
  const script = 'dpkg-deb --fsys-tarfile "$1" | tar -xO ./usr/lib/lintel/release.json';
  const { stdout, exitCode, stderr } = Bun.spawnSync(["sh", "-c", script, "sh", path]);
  if (exitCode !== 0) throw new Error(`${path} is no package of Lintel (${stderr.toString().trim()})`);
  const { version, commit, architecture } = JSON.parse(stdout.toString()) as Release;
  const file = basename(path);
  console.error(`making the package without Bun of ${file}`);
  const without_bun = makeWithoutBun(path, ledger);
  const release = {
    ...{ version, commit, ring, architecture, file },
    ...{ bytes: statSync(path).size, sha256: digestOf(path) },
    ...(without_bun && { without_bun }),
  };
  const fault = Value.Errors(Release, release).First();
  if (fault !== undefined) throw new Error(`${path}: ${fault.path} ${fault.message} (${fault.value})`);
  return release;
}

function sameBuild(one: Release, other: Release): boolean {
  return one.version === other.version && one.architecture === other.architecture;
}

try {
  await main();
} catch (thrown) {
  console.error(`release: ${thrown instanceof Error ? thrown.message : thrown}`);
  process.exit(2);
}
