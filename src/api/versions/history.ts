import type { Endpoint } from "../endpoint.ts";
import { type ApiVersion, introducedBy, versions } from "../versions.ts";
import { afterAdded } from "./after-added.ts";
import { broadcastAdded } from "./broadcast-added.ts";
import type { VersionChange } from "./change.ts";
import { devicesRenamed } from "./devices-renamed.ts";
import { firmwareRenamed } from "./firmware-renamed.ts";
import { orderDescending } from "./order-descending.ts";
import { precisionAdded } from "./precision-added.ts";
import { sinceAdded } from "./since-added.ts";
import { timesAsNumbers } from "./times-as-numbers.ts";
import { unknownRefused } from "./unknown-refused.ts";

/**
 * Every change of form, newest first: an older version is the newest one taken back through the changes that came
 * after it. What a version only added as a whole has no entry: endpoints say themselves since when they exist.
 */
export const changes: readonly VersionChange[] = [
  unknownRefused,
  precisionAdded,
  sinceAdded,
  afterAdded,
  devicesRenamed,
  timesAsNumbers,
  orderDescending,
  broadcastAdded,
  firmwareRenamed,
];

/** The endpoints of every version in its own form, from those of the newest. */
export function versionsOf(endpoints: readonly Endpoint[]): ReadonlyMap<ApiVersion, readonly Endpoint[]> {
  return new Map(
    versions.map((version) => {
      const later = changes.filter((change) => !introducedBy(change.version, version));
      const known = endpoints.filter(({ since }) => introducedBy(since, version));
      const older = (endpoint: Endpoint) => later.reduce((form, change) => change.older(form), endpoint);
      return [version, known.map(older)];
    }),
  );
}
