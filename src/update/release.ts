import { type Static, Type } from "@sinclair/typebox";
import { Refused } from "./refused.ts";

const closed = { additionalProperties: false } as const;

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
    bytes: Type.Integer({ minimum: 1, maximum: 500_000_000 }),
    sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  },
  closed,
);
export type Release = Static<typeof Release>;

/** Where a release lies below `targets/` of its repository. */
export function targetPathOf({ ring, sha256, file }: Release): string {
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
