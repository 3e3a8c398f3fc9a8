import { createHash } from "node:crypto";
import {
  chmodSync,
  constants,
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { copyFile, lstat, open, readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parseIfWhole, readIfThere } from "../../base/disk/safe-files.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import type { ReleaseRefusalReason } from "../../domain/fleet-home.ts";

const closed = { additionalProperties: false } as const;
const sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const whole = { bytes: Type.Integer({ minimum: 1, maximum: 500_000_000 }), sha256 };

/** The same package without Bun, for a box that has this Bun already, by its digest. */
export const WithoutBun = Type.Object({ ...whole, bun: sha256 }, closed);

/** A release as the repository of a programme lists it. */
export const Release = Type.Object(
  {
    version: Type.String({ pattern: "^\\d{1,6}(\\.\\d{1,6}){2}(~\\d{1,14})?$" }),
    commit: Type.String({ maxLength: 64 }),
    /** How many boxes may have it by now: 5 first, then 50, then 500. */
    ring: Type.Integer({ minimum: 1 }),
    /** As Debian names it: arm64, amd64. */
    architecture: Type.String({ pattern: "^[a-z0-9]{1,20}$" }),
    /** The name of the package. */
    file: Type.String({ pattern: "^[\\w.+~-]{1,150}\\.deb$" }),
    ...whole,
    without_bun: Type.Optional(WithoutBun),
  },
  closed,
);
export type Release = Static<typeof Release>;

/** One of the two packages of a release. */
export interface ReleasePackage {
  readonly bytes: number;
  readonly sha256: string;
  /** The digest of the Bun that is not in it; absent: it is whole. */
  readonly bun?: string;
}

/** Where a package of a release lies below `targets/` of its repository. */
export function targetPathOf({ ring, file }: Release, { sha256 }: ReleasePackage): string {
  return `ring-${ring}/${sha256}.${file}`;
}

/** The address of something in the folder of a repository. */
export function repositoryAddress(manifest: string, path: string): string {
  return new URL(path, manifest.endsWith("/") ? manifest : `${manifest}/`).href;
}

/**
 * The newest release for a box; undefined where it has the newest.
 *
 * @param box.refused whether a release is not to be tried (again)
 * @throws Refused where the list has nothing for this architecture, or only older releases than the one that runs
 */
export function chooseRelease(
  releases: readonly Release[],
  box: {
    readonly architecture: string;
    readonly ring: number;
    readonly version: string;
    readonly refused: (release: Release) => boolean;
  },
): Release | undefined {
  const mine = releases.filter(({ architecture }) => architecture === box.architecture);
  if (releases.length > 0 && mine.length === 0)
    throw new Refused("architecture", `the list has no release for ${box.architecture}`);
  const newestFirst = mine.toSorted((one, other) => compareVersions(other.version, one.version));
  const [newest] = newestFirst;
  if (newest !== undefined && compareVersions(newest.version, box.version) < 0)
    throw new Refused(
      "older",
      `the list ends with ${newest.version}, which is older than ${box.version}`,
      newest,
    );
  return newestFirst.find(
    (one) => one.ring >= box.ring && compareVersions(one.version, box.version) > 0 && !box.refused(one),
  );
}

/** Negative where `one` is older, positive where it is newer. `0.2.0~20261122` leads to 0.2.0 and is older, as Debian has it. */
export function compareVersions(one: string, other: string): number {
  const [ours, theirs] = [one, other].map((text) => {
    const [release = "", before] = text.split("+")[0]?.split("~") ?? [];
    return [...release.split("."), before ?? Number.POSITIVE_INFINITY].map(Number);
  });
  const place = [0, 1, 2, 3].find((at) => ours?.[at] !== theirs?.[at]);
  return place === undefined ? 0 : (ours?.[place] ?? 0) < (theirs?.[place] ?? 0) ? -1 : 1;
}

/** This machine, as Debian names its architecture. */
export const ownArchitecture = process.arch === "x64" ? "amd64" : process.arch;

/** A release, or a list of them, that this box does not take. The message is one line for people. */
export class Refused extends Error {
  constructor(
    readonly reason: ReleaseRefusalReason,
    message: string,
    readonly release?: { readonly version: string; readonly sha256?: string },
  ) {
    super(message);
  }
}

/** A folder that runs by itself: `lintel`, `bun`, `program/`, `release.json` and who signs newer ones. */
export interface ReleaseFolder {
  readonly path: string;
  readonly version: string;
  readonly architecture: string;
  /** The file that starts it. */
  readonly launcher: string;
  /** The root of the programme's repository, as JSON; absent: it takes no updates. */
  readonly root?: string;
}

/** `release.json`; what a later release may add is left alone. */
const ReleaseFile = Type.Object({
  version: Type.String(),
  commit: Type.String(),
  architecture: Type.String(),
});

/** The release in a folder; undefined where there is none. */
export function releaseIn(path: string): ReleaseFolder | undefined {
  const found = parseIfWhole(readIfThere(join(path, "release.json")));
  if (!Value.Check(ReleaseFile, found)) return undefined;
  const { version, architecture } = found as Static<typeof ReleaseFile>;
  const root = readIfThere(join(path, "release-root.json"));
  return { path, version, architecture, launcher: join(path, "lintel"), ...(root && { root }) };
}

/** The release that this process is: its program lies in `program/`. Undefined in a checkout. */
export function ownRelease(): ReleaseFolder | undefined {
  return releaseIn(dirname(dirname(Bun.main)));
}

/** Which of the folders of a directory of releases the service runs, which was confirmed last, and which before that one. */
const links = ["current", "confirmed", "previous"] as const;
export type Link = (typeof links)[number];

/** The folder that a link leads to; undefined where there is no link. */
export function linkedFolder(directory: string, link: Link): string | undefined {
  try {
    return resolve(directory, readlinkSync(join(directory, link)));
  } catch {
    // No link: the package's own release runs.
    return undefined;
  }
}

/** Has a link lead to a folder: before a power cut to the old one or after it to the new one, and never nowhere. */
export async function setLink(directory: string, link: Link, folder: string): Promise<void> {
  const temporary = join(directory, `${link}.new`);
  rmSync(temporary, { force: true });
  symlinkSync(folder, temporary);
  renameSync(temporary, join(directory, link));
  await syncDirectory(directory);
}

/**
 * Unpacks a package into the folder of its version. The folder has its name once all of it is on disk.
 *
 * @param from.path the package, as the list has it in `from.of`
 * @param from.bun the file that takes the place of the Bun that is not in it
 * @throws Refused where the package is not what the list says of it
 */
export async function unpack(
  directory: string,
  release: Release,
  from: { readonly path: string; readonly of: ReleasePackage; readonly bun: string },
): Promise<ReleaseFolder> {
  const path = join(directory, release.version);
  const building = join(directory, unpacking);
  rmSync(building, { recursive: true, force: true });
  mkdirSync(building, { mode: 0o755 });
  const dpkg = Bun.spawn(["dpkg-deb", "--extract", from.path, building], { stderr: "pipe", stdin: "ignore" });
  const [code, said] = [await dpkg.exited, await new Response(dpkg.stderr).text()];
  if (code !== 0) {
    if (/No space left/.test(said)) throw new Refused("disk", `${directory} is full`, release);
    throw new Refused("damaged", `${release.file} cannot be unpacked (${messageOf(said, 200)})`, release);
  }
  const folder = join(building, "usr/lib/lintel");
  if (from.of.bun !== undefined) {
    const bun = join(folder, "bun");
    await copyFile(from.bun, bun, constants.COPYFILE_EXCL);
    if ((await digestOf(bun)) !== from.of.bun)
      throw new Refused("damaged", `${from.bun} cannot be copied: the disk gives other bytes`, release);
  }
  const found = releaseIn(folder);
  if (found === undefined) throw new Refused("damaged", `there is no release in ${release.file}`, release);
  const { version, architecture } = found;
  if (version !== release.version || architecture !== release.architecture)
    throw new Refused(
      "architecture",
      `${release.file} holds ${version} for ${architecture}, and not ${release.version} for ${release.architecture}`,
      release,
    );
  await closeAndSync(folder);
  rmSync(path, { recursive: true, force: true });
  renameSync(folder, path);
  await syncDirectory(directory);
  return { ...found, path, launcher: join(path, "lintel") };
}

/** Takes the right to write the files of a folder from all but their owner, and brings them to disk. @throws OperatorError where another user owns one */
async function closeAndSync(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const entry = await lstat(path);
    if (entry.uid !== process.getuid?.())
      throw new OperatorError(
        `${path} belongs to user ${entry.uid}`,
        "build the package with files that are root's",
      );
    if (entry.isSymbolicLink()) continue;
    if ((entry.mode & 0o022) !== 0) chmodSync(path, entry.mode & 0o755);
    if (entry.isDirectory()) await closeAndSync(path);
    else await syncDirectory(path);
  }
  await syncDirectory(folder);
}

/** Brings a directory or a file to disk. */
export async function syncDirectory(path: string): Promise<void> {
  await using handle = await open(path, "r");
  await handle.sync();
}

/** SHA-256 of a file, in hex. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(path) as AsyncIterable<Buffer>) hash.update(part);
  return hash.digest("hex");
}

/** Removes the folders of all releases but those that a link leads to, and `keep`; and half an unpacking. */
export function removeOthers(directory: string, keep?: string): void {
  const kept = [...links.map((link) => linkedFolder(directory, link)), keep];
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const old = existsSync(join(path, "release.json")) && !links.some((link) => link === name);
    if (name === unpacking || (old && !kept.includes(path))) rmSync(path, { recursive: true, force: true });
  }
}

const unpacking = "unpacking";
