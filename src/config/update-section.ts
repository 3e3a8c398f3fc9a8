import { resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";

/** Keys of `[update]`. */
export const updateSection = Type.Object({
  manifest: Type.String({
    description: 'the address of a folder of releases, such as "https://central.example/releases"',
  }),
  ring: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  trial_seconds: Type.Optional(Type.Integer({ minimum: 10, maximum: 86_400 })),
  directory: Type.Optional(Type.String({ minLength: 1, description: "the path of a directory" })),
});

/** Where a gateway's releases come from, and how they are tried. docs/updates.md says what each is for. */
export interface UpdateTarget {
  /** The address of the folder that ./scripts/release has written. */
  readonly manifest: string;
  /** How many boxes have a release before this one may: it takes releases that are for this ring or a larger one. */
  readonly ring: number;
  /** The time within which a new release has to show that it serves, hears and uploads. */
  readonly trial_ms: number;
  /** Absolute path of the directory of releases. */
  readonly directory: string;
}

export const default_ring = 500;
/** A sensor that is silent by night may speak in the morning only. */
export const default_trial_s = 4 * 60 * 60;
export const defaultReleases = "/var/lib/lintel-releases";

/** A section as the file has it, with its defaults; a relative path is meant from `directory`. */
export function updateTargetOf(section: Static<typeof updateSection>, directory: string): UpdateTarget {
  const { manifest, ring = default_ring, trial_seconds = default_trial_s } = section;
  return {
    manifest,
    ring,
    trial_ms: trial_seconds * 1000,
    directory: resolve(directory, section.directory ?? defaultReleases),
  };
}

/** Whether a text is the address of a folder of releases, over HTTP. */
export function isManifestAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && `${url.search}${url.hash}${url.username}` === "";
}
