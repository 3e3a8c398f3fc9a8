/** Versions of the interface that are served, oldest first. The last is the one that endpoints.ts describes. */
export const versions = ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"] as const;

export type ApiVersion = (typeof versions)[number];

export const newestVersion: ApiVersion = "0.9";

/** Whether something introduced in `since` is part of `version`; both as `major.minor`. */
export function introducedBy(since: string, version: ApiVersion): boolean {
  const [major = 0, minor = 0] = since.split(".").map(Number);
  const [ofMajor = 0, ofMinor = 0] = version.split(".").map(Number);
  return major < ofMajor || (major === ofMajor && minor <= ofMinor);
}
