import { Database } from "bun:sqlite";
import { databaseOf } from "./opening.ts";
import { storedEvents } from "./stored-readings.ts";

/** A reading as it is on disk. */
export interface Row {
  readonly item: number;
  readonly stamp: number;
  readonly seq: number;
  readonly event: number;
  readonly clock: number;
}

/** Every reading of sensors and pill boxes, in the order in which they are served, oldest first. */
export function rowsOf(directory: string): Row[] {
  using database = new Database(databaseOf(directory), { readonly: true });
  return (["wirelesssensor_events", "pillbox_events"] as const).flatMap((series) =>
    storedEvents(database, series).map(({ stream, stamp, seq, event, clock }) => {
      return { item: stream, stamp, seq, event, clock };
    }),
  );
}

/** How far the time of each boot may be off, milliseconds. */
export function boundsOf(directory: string): Map<string, number> {
  using database = new Database(databaseOf(directory), { readonly: true });
  const rows = database.query("SELECT boot, coalesce(bound_ms, 0) FROM boots").values();
  return new Map(rows as [string, number][]);
}

/** How much still waits for its time. */
export function waitingIn(directory: string): number {
  using database = new Database(databaseOf(directory), { readonly: true });
  return Number(database.query("SELECT count(*) FROM waiting").values()[0]?.[0]);
}
