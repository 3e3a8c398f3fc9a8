import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import type { Clock } from "../../clock.ts";
import { OperatorError } from "../../errors.ts";
import { openForReading } from "../../store/sqlite/connection.ts";
import { storeFault } from "../../store/sqlite/faults.ts";
import { refuseNewer, versionOf } from "../../store/sqlite/migrations.ts";

/** Facts of a database, read before it is copied. */
export interface DatabaseFacts {
  readonly epoch: string;
  readonly last_seq: number;
  readonly home?: number;
  /** More than a copy takes. */
  readonly bytes: number;
}

/** @throws OperatorError for a database that is another program's, newer or damaged */
export function factsOf(path: string): DatabaseFacts {
  try {
    const database = openForReading(path);
    try {
      refuseNewer(versionOf(database, path), path);
      const facts = new Map(database.query("SELECT name, value FROM meta").values() as [string, unknown][]);
      const pages = database.query("PRAGMA page_count").values()[0]?.[0];
      const page_bytes = database.query("PRAGMA page_size").values()[0]?.[0];
      return {
        epoch: String(facts.get("epoch")),
        last_seq: Number(facts.get("last_seq")),
        home: facts.has("home") ? Number(facts.get("home")) : undefined,
        bytes: Number(pages) * Number(page_bytes),
      };
    } finally {
      database.close();
    }
  } catch (thrown) {
    throw storeFault(thrown, path);
  }
}

/**
 * Copies a database that others go on using, as it is at one moment. The copy is whole, checked and on disk when it resolves.
 *
 * @param options.onBytes called now and then with the size of the copy so far
 * @throws OperatorError
 */
export async function copyDatabase(options: {
  readonly from: string;
  readonly to: string;
  readonly clock: Clock;
  readonly onBytes: (bytes: number) => void;
}): Promise<void> {
  const { from, to, clock, onBytes } = options;
  let cancel = () => {};
  const look = () => {
    onBytes(statSync(to, { throwIfNoEntry: false })?.size ?? 0);
    cancel = clock.after(look_interval_ms, look);
  };
  // SQLite copies into an empty file as well, and leaves its mode as it is.
  await (await open(to, "wx", 0o600)).close();
  look();
  try {
    await vacuumInto(from, to);
  } catch (thrown) {
    throw storeFault(thrown, from);
  } finally {
    cancel();
  }
  await using file = await open(to, "r+");
  await file.sync();
  checkIntegrity(to);
}

/** @throws OperatorError where any page or index of a database is damaged */
function checkIntegrity(path: string): void {
  const database = openForReading(path);
  try {
    const [found] = database.query("PRAGMA integrity_check(1)").values()[0] ?? [];
    if (found !== "ok")
      throw new OperatorError(
        `${path} is damaged (${String(found)})`,
        "check the disk or SD card it is on, and that of the database it was copied from",
      );
  } finally {
    database.close();
  }
}

function vacuumInto(from: string, to: string): Promise<void> {
  // Without its ending, as the writer's thread: .ts here, .js beside the bundle.
  const worker = new Worker(new URL("./vacuum", import.meta.url));
  const done = new Promise<void>((resolve, reject) => {
    worker.addEventListener("message", ({ data }: MessageEvent<{ message?: string; code?: string }>) => {
      if (data.message === undefined) resolve();
      else reject(Object.assign(new Error(data.message), { code: data.code }));
    });
    worker.addEventListener("error", ({ message }) => reject(new Error(message)));
  });
  worker.postMessage({ from, to });
  return done.finally(() => worker.terminate());
}

const look_interval_ms = 200;
