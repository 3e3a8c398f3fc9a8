import { type StoreParts, storeOn } from "../core/store.ts";
import type { GatewayStore } from "../store.ts";
import type { SqliteDatabase } from "./database.ts";
import { TimeReads } from "./time-keeper.ts";
import type { WriterThread } from "./writer-thread.ts";

/** The store of a running gateway. */
export function gatewayStoreOn(
  parts: StoreParts & { readonly database: SqliteDatabase; readonly writer: WriterThread },
): GatewayStore {
  const { database, writer, epoch } = parts;
  const { connection } = database;
  const times = new TimeReads(connection);
  return {
    ...storeOn(parts),
    epoch,
    append: (readings, notes = {}) => writer.ask("commit", { readings, ...notes }),
    timeKnown: () => database.direct(() => ({ boots: times.boots(), waiting: times.waitingCount() })),
    waiting: (limit) => database.direct(() => times.waiting(limit)),
    deviceOffset: (series, device) => database.direct(() => times.deviceOffset(series, device)),
    cursor: (name) =>
      database.direct(() => {
        const value = connection.query("SELECT value FROM cursors WHERE name = ?").values(name)[0]?.[0];
        return value === undefined ? undefined : String(value);
      }),
  };
}
