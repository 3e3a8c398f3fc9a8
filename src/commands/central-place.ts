import type { Clock } from "../clock.ts";
import type { OperatorError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { CentralStore } from "../store/central-store.ts";
import type { MoveEnd, MoveTarget } from "../store/move/move-end.ts";

/** The place of central's data: a directory of its own, or a PostgreSQL database. */
export type CentralPlace = { readonly directory: string } | { readonly database: string };

/**
 * Opens the store of a central server, as the only server on its directory; a missing one is made. `onFailure` is called when the
 * store can write no more, once that has been logged: stop, and start afresh. With `create` false an empty database of PostgreSQL is
 * refused. Each store is loaded only where it is used.
 */
export async function openCentral(
  place: CentralPlace,
  options: { clock: Clock; log: Log; onFailure?: (fault: OperatorError) => void; create?: boolean },
): Promise<CentralStore> {
  if ("database" in place) {
    const { openPostgresCentral } = await import("../store/postgres/open.ts");
    return openPostgresCentral({ url: place.database, ...options });
  }
  const { openCentralStore } = await import("../store/sqlite/central-open.ts");
  return openCentralStore({ directory: place.directory, ...options });
}

/** Opens the same for a command that reads, while the server may be running or not. */
export async function openCentralBesideServer(
  place: CentralPlace,
  options: { clock: Clock; log: Log },
): Promise<CentralStore> {
  if ("database" in place) return openCentral(place, { ...options, create: false });
  const { openCentralBeside } = await import("../store/sqlite/central-open.ts");
  return openCentralBeside({ directory: place.directory, ...options });
}

/** Opens a central's store to move it away from a place: see `MoveEnd`. */
export async function openMoveSource(place: CentralPlace, clock: Clock): Promise<MoveEnd> {
  if ("database" in place)
    return (await import("../store/postgres/move-end.ts")).openMoveSource(place.database, clock);
  return (await import("../store/sqlite/move-end.ts")).openMoveSource(place.directory);
}

/** Opens a place to move the store of an epoch into it; `moving` is the state of the move, kept in a new one. */
export async function openMoveTarget(
  place: CentralPlace,
  clock: Clock,
  begun: { readonly epoch: string; readonly moving: string },
): Promise<MoveTarget> {
  if ("database" in place)
    return (await import("../store/postgres/move-end.ts")).openMoveTarget(place.database, clock, begun);
  return (await import("../store/sqlite/move-end.ts")).openMoveTarget(place.directory, begun);
}
