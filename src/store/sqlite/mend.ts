import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { StoreDamaged } from "../../base/errors.ts";
import { type Connection, databasePath, openForWriting, restoringPath } from "./connection.ts";
import { forgetDamaged } from "./damage-watch.ts";
import { beginPlacing, finishPlacing, heldIn, prepareDatabase, takeLock } from "./data-directory.ts";
import { damaged, isDamage, storeFault } from "./faults.ts";
import { beginEpoch, claimRole, newEpoch, roleOf } from "./role-and-epoch.ts";
import { type Salvaged, salvage } from "./salvage.ts";
import { damageIn } from "./salvage-sources.ts";

/** The account of a damaged database that was set aside. */
interface Mended extends Salvaged {
  /** The directory that it is in now. */
  readonly aside: string | undefined;
}

/**
 * Sets a gateway's damaged database aside and puts one in its place that has all of it that can be read, under the same numbers. Later readings get
 * numbers of a new epoch, because the last ones that were given may be lost; the next upload compares every day, and takes back what central has. Everything
 * else in the directory stays. A disk that failed to read for a moment looks the same: where all pages can be read now, nothing changes.
 *
 * @returns undefined where all pages can be read
 * @throws OperatorError where a gateway runs there, or where the tables cannot be read whole on which readings hang; then nothing has changed
 */
export function mend(directory: string): Mended | undefined {
  using _lock = takeLock(directory);
  try {
    finishPlacing(directory);
    settleLog(databasePath(directory));
    if (damageIn(databasePath(directory)) === undefined) {
      forgetDamaged(directory);
      return undefined;
    }
    const building = restoringPath(directory);
    rmSync(building, { recursive: true, force: true });
    mkdirSync(building, { mode: 0o700 });
    const salvaged = build(directory, building);
    const database = basename(databasePath(directory));
    for (const name of heldIn(directory))
      if (!name.startsWith(database))
        cpSync(join(directory, name), join(building, name), { recursive: true, preserveTimestamps: true });
    beginPlacing(directory);
    return { ...salvaged, aside: finishPlacing(directory) };
  } catch (thrown) {
    throw storeFault(thrown, databasePath(directory));
  }
}

/** Has what stands in the log of a killed gateway written into the file, where SQLite does so: when the last connection is closed, also to one that it cannot read. */
function settleLog(path: string): void {
  if (!existsSync(`${path}-wal`)) return;
  try {
    openForWriting(path).close();
  } catch (thrown) {
    if (!isDamage(thrown)) throw thrown;
  }
}

function build(directory: string, building: string): Salvaged {
  const unknown = newEpoch();
  const made = prepareDatabase(building, unknown).database;
  claimRole(made, building, "gateway");
  made.close();
  const salvaged = salvage({ from: databasePath(directory), into: databasePath(building) });
  const { incomplete } = salvaged;
  const known = incomplete !== "all" && !basis.some((table) => incomplete.includes(table));
  using database = prepareDatabase(building, unknown).database;
  const path = databasePath(directory);
  if (!known || roleOf(database) !== "gateway" || !goOn(database, unknown))
    throw new StoreDamaged(`${path} is damaged, in parts on which its readings hang`, damaged.remedy);
  return salvaged;
}

/** Without these nobody knows whose readings are which, and which times are not kept. */
const basis = ["items", "streams", "epochs", "erasures", "pauses"];

/** Begins a new epoch after the salvaged ones; false where these are not known: central would be sent everything again, as other readings. */
function goOn(database: Connection, unknown: string): boolean {
  const known = database.query("SELECT count(*) FROM epochs WHERE epoch <> ?").values(unknown)[0]?.[0];
  if (Number(known) === 0) return false;
  // Central holds readings up to there, also where they are lost here.
  database.run(`UPDATE meta SET value = max(value,
    coalesce((SELECT value FROM upload_state WHERE name = 'confirmed_seq'), 0)) WHERE name = 'last_seq'`);
  database.run("DELETE FROM epochs WHERE epoch = ?", [unknown]);
  beginEpoch(database, newEpoch());
  database.run("INSERT OR REPLACE INTO upload_state VALUES ('verified_all_ms', 0)");
  return true;
}
