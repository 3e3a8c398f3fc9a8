import { hour_ms } from "../../base/time.ts";
import { backup_age_max_h, certificate_left_min_h } from "../../domain/fleet-home.ts";

/** Measured of central itself, milliseconds. */
export interface CentralAges {
  /** The time since the last backup; absent where its data are on PostgreSQL, which has backups of its own. */
  readonly backup_age_ms?: number | undefined;
  /** The time until its TLS certificate ends; absent where it serves plain HTTP. */
  readonly certificate_left_ms?: number | undefined;
}

/** Needs of central itself. */
export function needsOfCentral({ backup_age_ms = 0, certificate_left_ms }: CentralAges) {
  const backup = `Central has no backup of the last ${backup_age_max_h / 24} days: lintel backup DIR --data makes one, or name the directory in a nightly timer`;
  const certificate = `Central's TLS certificate ends within ${certificate_left_min_h / 24} days, and then no home can upload: lintel central certificate --change uses the next one; one that was given has to be renewed by whoever made it, before central is restarted`;
  return [
    ...(backup_age_ms > backup_age_max_h * hour_ms ? [{ type: "backup_old", message: backup } as const] : []),
    ...((certificate_left_ms ?? Number.POSITIVE_INFINITY) < certificate_left_min_h * hour_ms
      ? [{ type: "certificate_ends", message: certificate } as const]
      : []),
  ];
}
