import { hour_ms } from "../../base/time.ts";
import { backup_age_max_h } from "../../domain/fleet-home.ts";

/** Needs of a central whose last backup is so old; it has no backup age where its data are on PostgreSQL, which has backups of its own. */
export function needsOfCentral(backup_age_ms: number | undefined) {
  if ((backup_age_ms ?? 0) <= backup_age_max_h * hour_ms) return [];
  const message = `Central has no backup of the last ${backup_age_max_h / 24} days: lintel backup DIR --data makes one, or name the directory in a nightly timer`;
  return [{ type: "backup_old", message } as const];
}
