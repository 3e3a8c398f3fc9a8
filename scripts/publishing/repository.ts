/** The metadata of a repository (The Update Framework 1.0), made of a ledger: https://theupdateframework.github.io/specification */
import { createHash, type KeyObject } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Metadata, MetaFile, Root, Snapshot, TargetFile, Targets, Timestamp } from "@tufjs/models";
import { Delegations } from "@tufjs/models/dist/delegations.js";
import { DelegatedRole, Role } from "@tufjs/models/dist/role.js";
import { compareVersions, type Release, targetPathOf } from "../../src/gateway/update/releases.ts";
import { keyOf, signatureBy } from "./keys.ts";
import { type Ledger, type RoleKeys, writeWhole } from "./ledger.ts";

const day_ms = 86_400_000;
/** For how long what a role signs is valid. Boxes refuse what is older, so that nobody can keep them from news for longer. */
export const valid_days: Readonly<Record<string, number>> = {
  root: 365,
  targets: 365,
  snapshot: 14,
  timestamp: 14,
};
const ring_valid_days = 365;
/** A role that ends within this time is signed anew where its key is there. */
const renewed_days = 60;
const specVersion = "1.0.31";

/** One signed file that is about to be made. */
export interface Signing {
  readonly role: string;
  readonly version: number;
  readonly expires: string;
  readonly file: string;
}

/**
 * Signs whatever is otherwise than in the ledger, and what ends soon.
 *
 * @param options.renew signs snapshot and timestamp anew in any case
 * @param options.about called with all that will be signed, before anything is written; false: nothing is
 * @throws where a key is missing
 */
export async function signAll(
  ledger: Ledger,
  options: {
    keys: ReadonlyMap<string, KeyObject>;
    now_ms: number;
    renew?: boolean;
    about: (signings: readonly Signing[]) => Promise<boolean> | boolean;
  },
): Promise<boolean> {
  const { keys, now_ms, renew = false } = options;
  const { roles, releases } = ledger.state;
  const made = new Map<string, { bytes: Buffer; version: number; signing: Signing }>();
  const before = (role: string) => readSigned(ledger, role);

  const sign = (
    role: string,
    make: (version: number, expires: string) => Root | Snapshot | Targets | Timestamp,
    always = false,
  ) => {
    const known = before(role);
    const version = (known?.version ?? 0) + 1;
    const expires = new Date(now_ms + (valid_days[role] ?? ring_valid_days) * day_ms)
      .toISOString()
      .replace(/\.\d+/, "");
    const signed = make(version, expires);
    const same = known !== undefined && contentOf(signed.toJSON()) === contentOf(known.signed);
    const endsSoon = known !== undefined && Date.parse(known.expires) - now_ms < renewed_days * day_ms;
    const own = roles[role] as RoleKeys;
    const signers = own.keys.slice(0, own.threshold);
    const isSigned = same && signers.every(({ id }) => known.signers.includes(id));
    const isLong = (valid_days[role] ?? ring_valid_days) > renewed_days;
    const canRenew = isLong && endsSoon && signers.every(({ id }) => keys.has(id));
    if (isSigned && !always && !canRenew) return;
    const metadata = new Metadata(signed);
    // A new root is also signed by those who signed the one before: so boxes follow from one to the next.
    const previous = role === "root" ? (known?.signed.roles?.["root"]?.keyids ?? []) : [];
    for (const id of new Set([...signers.map(({ id }) => id), ...previous])) {
      const key = keys.get(id);
      if (key === undefined)
        throw new Error(
          `the key of ${role} (${id.slice(0, 12)}…) is needed: name its directory by --keys. Nothing was signed`,
        );
      metadata.sign((bytes) => signatureBy(id, key, bytes), true);
    }
    const bytes = Buffer.from(`${JSON.stringify(metadata.toJSON())}\n`);
    const file = role === "timestamp" ? "timestamp.json" : `${version}.${role}.json`;
    made.set(role, { bytes, version, signing: { role, version, expires, file } });
  };
  const metaOf = (role: string) => {
    const bytes = made.get(role)?.bytes ?? before(role)?.bytes ?? Buffer.alloc(0);
    const version = made.get(role)?.version ?? before(role)?.version ?? 1;
    return new MetaFile({
      version,
      length: bytes.length,
      hashes: { sha256: createHash("sha256").update(bytes).digest("hex") },
    });
  };

  const rings = ringsOf(roles);
  const topLevel = ["root", "targets", "snapshot", "timestamp"];
  sign("root", (version, expires) => {
    const all = topLevel.flatMap((role) => roles[role]?.keys ?? []);
    return new Root({
      ...{ version, expires, specVersion, consistentSnapshot: true },
      keys: Object.fromEntries(all.map((key) => [key.id, keyOf(key)])),
      roles: Object.fromEntries(topLevel.map((role) => [role, new Role(roleOf(roles[role] as RoleKeys))])),
    });
  });
  for (const ring of rings)
    sign(`ring-${ring}`, (version, expires) => {
      const targets = releases.filter((one) => one.ring === ring).map((one) => targetOf(one));
      return new Targets({
        version,
        expires,
        specVersion,
        targets: Object.fromEntries(targets.map((one) => [one.path, one])),
      });
    });
  sign("targets", (version, expires) => {
    const delegated = rings.map((ring) => {
      const name = `ring-${ring}`;
      return new DelegatedRole({
        name,
        terminating: true,
        paths: [`${name}/*`],
        ...roleOf(roles[name] as RoleKeys),
      });
    });
    const all = rings.flatMap((ring) => roles[`ring-${ring}`]?.keys ?? []);
    const delegations = new Delegations({
      keys: Object.fromEntries(all.map((key) => [key.id, keyOf(key)])),
      roles: Object.fromEntries(delegated.map((role) => [role.name, role])),
    });
    return new Targets({ version, expires, specVersion, targets: {}, delegations });
  });
  const listed = ["targets", ...rings.map((ring) => `ring-${ring}`)];
  const meta = Object.fromEntries(listed.map((role) => [`${role}.json`, metaOf(role)]));
  sign("snapshot", (version, expires) => new Snapshot({ version, expires, specVersion, meta }), renew);
  sign(
    "timestamp",
    (version, expires) => new Timestamp({ version, expires, specVersion, snapshotMeta: metaOf("snapshot") }),
    renew,
  );

  if (!(await options.about([...made.values()].map(({ signing }) => signing)))) return false;
  for (const [role, { bytes, signing }] of made) {
    writeWhole(join(ledger.metadata, signing.file), bytes);
    writeWhole(join(ledger.metadata, `${role}.json`), bytes);
  }
  return true;
}

/** The files of the served folder, by their paths there; those that name others come last. */
export function filesOf(ledger: Ledger): Map<string, { from: string }> {
  const files = new Map<string, { from: string }>();
  for (const { release, of, path } of ledger.packages())
    files.set(`targets/${targetPathOf(release, of)}`, { from: path });
  const root = readSigned(ledger, "root");
  for (let version = 1; version <= (root?.version ?? 0); version += 1)
    files.set(`metadata/${version}.root.json`, { from: join(ledger.metadata, `${version}.root.json`) });
  for (const role of [...ringsOf(ledger.state.roles).map((ring) => `ring-${ring}`), "targets", "snapshot"])
    files.set(`metadata/${readSigned(ledger, role)?.version}.${role}.json`, {
      from: join(ledger.metadata, `${role}.json`),
    });
  files.set("metadata/timestamp.json", { from: join(ledger.metadata, "timestamp.json") });
  return files;
}

export function ringsOf(roles: Readonly<Record<string, unknown>>): number[] {
  return Object.keys(roles)
    .flatMap((role) => /^ring-(\d+)$/.exec(role)?.[1] ?? [])
    .map(Number)
    .toSorted((one, other) => one - other);
}

export const newestFirst = (one: Release, other: Release) =>
  compareVersions(other.version, one.version) || one.architecture.localeCompare(other.architecture, "en");

/** Updaters of before refuse a list that has more in `custom` than they know. */
function targetOf({ ring, file, bytes, sha256, without_bun, ...custom }: Release): TargetFile {
  return new TargetFile({
    path: `ring-${ring}/${file}`,
    length: bytes,
    hashes: { sha256 },
    unrecognizedFields: { custom, ...(without_bun && { without_bun }) },
  });
}

function roleOf({ threshold, keys }: RoleKeys): { threshold: number; keyIDs: string[] } {
  return { threshold, keyIDs: keys.map(({ id }) => id) };
}

/** The file that a role has signed last; undefined before the first. */
function readSigned(ledger: Ledger, role: string) {
  const path = join(ledger.metadata, `${role}.json`);
  if (!existsSync(path)) return undefined;
  const bytes = readFileSync(path);
  const { signed, signatures } = JSON.parse(bytes.toString()) as {
    signed: { version: number; expires: string; roles?: Record<string, { keyids: string[] }> };
    signatures: { keyid: string }[];
  };
  return {
    bytes,
    signed,
    version: signed.version,
    expires: signed.expires,
    signers: signatures.map(({ keyid }) => keyid),
  };
}

/** The content of a role, without its version and its end. */
function contentOf(signed: object): string {
  const { version: _version, expires: _expires, ...content } = signed as Record<string, unknown>;
  return JSON.stringify(content, (_, value: unknown) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
}
