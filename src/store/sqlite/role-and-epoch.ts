import type { Database } from "bun:sqlite";
import { OperatorError } from "../../base/errors.ts";
import { arrays, firstOf, objects, rowsOf, type Work } from "../database.ts";
import type { EpochSpan } from "../gateway/upload-store.ts";
import { type Homes, homesOnSqlite, oneHome } from "../inventory/homes.ts";
import { always } from "../inventory/placements.ts";
import { databasePath, openForReading } from "./connection.ts";
import { holdsDatabase, prepareDatabase, takeLock } from "./data-directory.ts";
import { isBusy } from "./faults.ts";

/** The two roles of a database: a gateway numbers its own readings, and central those that it receives. */
export type Role = "gateway" | "central";

/** Has every item of a gateway live in its home, since ever. */
export const allAtHome = `INSERT OR IGNORE INTO stays (item, from_ms, before_ms, home)
  SELECT key, ${always.from_ms}, ${always.before_ms}, 0 FROM items`;

/** Keeps that a database serves this role from now on. Throws an OperatorError where it has served the other. */
export function claimRole(database: Database, directory: string, role: Role): void {
  const found = roleOf(database);
  if (found !== undefined) {
    refuseOther(found, directory, role);
    return;
  }
  database.run("INSERT INTO meta VALUES ('role', ?)", [role]);
  if (role === "central") widenPages(database);
  // An inventory that came before says where items live; at a gateway all live in its home.
  if (role !== "gateway") return;
  database.run("DELETE FROM stays");
  database.run(allAtHome);
}

/**
 * Has a database that is nearly empty keep several blocks on a page: one alone leaves a third of the usual 4 KiB free. At a gateway each commit writes three
 * pages or more to a card, which are to be small.
 */
function widenPages(database: Database): void {
  try {
    database.run("PRAGMA journal_mode = DELETE");
    database.run(`PRAGMA page_size = ${central_page_bytes}`);
    database.run("VACUUM");
  } catch (thrown) {
    // A command has it open: it works with either.
    if (!isBusy(thrown)) throw thrown;
  } finally {
    database.run("PRAGMA journal_mode = WAL");
  }
}

const central_page_bytes = 16_384;

/** Throws an OperatorError where the database at `path` has served the other role; one that nobody has run on yet serves either. */
export function checkRole(path: string, directory: string, role: Role): void {
  using database = openForReading(path);
  const found = roleOf(database);
  if (found !== undefined) refuseOther(found, directory, role);
}

/** Which role the database of a directory serves; undefined where there is none, or nobody has run on it yet. */
export function storedRole(directory: string): Role | undefined {
  if (!holdsDatabase(directory)) return undefined;
  using database = openForReading(databasePath(directory));
  return roleOf(database);
}

/** How the database that is read tells homes apart, by the role that it serves. */
export function* homesByRole(): Work<Homes> {
  const row = yield* firstOf(arrays<[Role]>("SELECT value FROM meta WHERE name = 'role'"));
  return row?.[0] === "gateway" ? oneHome : homesOnSqlite;
}

/** Which role a database serves; undefined where nobody has run on it yet. */
export function roleOf(database: Database): Role | undefined {
  const row = database.query("SELECT value FROM meta WHERE name = 'role'").values()[0];
  return row === undefined ? undefined : (row[0] as Role);
}

function refuseOther(found: Role, directory: string, role: Role): void {
  if (found === role) return;
  throw new OperatorError(`${directory} holds ${holdings[found]}, not ${holdings[role]}`, remedies[role]);
}

const holdings: Readonly<Record<Role, string>> = {
  gateway: "the store of a gateway",
  central: "the store of a central server",
};

const remedies: Readonly<Record<Role, string>> = {
  gateway: "name the `data` directory of a gateway, or one that does not exist yet",
  central: "name the directory of a central server with --data, or one that does not exist yet",
};

/** The spans of numbers of a database, oldest first; the last is its own, and open. */
export function* epochs(): Work<EpochSpan[]> {
  const rows = yield* rowsOf(
    objects<Omit<EpochSpan, "restored"> & { restored: number }>(
      `SELECT epoch, first_seq,
         coalesce(lead(first_seq) OVER (ORDER BY first_seq) - 1, (SELECT value FROM meta WHERE name = 'last_seq'))
           AS last_seq,
         restored
       FROM epochs ORDER BY first_seq`,
    ),
  );
  return rows.map(({ restored, ...span }) => ({ ...span, restored: restored === 1 }));
}

/**
 * Lets a database number its readings in a new name from now on: for one that was copied, whose former self may have numbered more since.
 * In one transaction, on a connection that writes. What it has keeps its numbers.
 */
export function beginEpoch(database: Database, epoch: string): EpochSpan {
  return database
    .transaction(() => {
      const first_seq =
        Number(database.query("SELECT value FROM meta WHERE name = 'last_seq'").values()[0]?.[0]) + 1;
      database.query("INSERT OR REPLACE INTO epochs (first_seq, epoch) VALUES (?, ?)").run(first_seq, epoch);
      database.query("UPDATE meta SET value = ? WHERE name = 'epoch'").run(epoch);
      return { epoch, first_seq, last_seq: first_seq - 1, restored: false };
    })
    .immediate();
}

/**
 * The same for the database of a data directory that nobody runs on; an older one is brought up to date first. Throws an OperatorError
 * where a gateway runs on it, or where it is no database of this program's.
 */
export function beginEpochIn(directory: string, epoch: string): EpochSpan {
  using _lock = takeLock(directory);
  using database = prepareDatabase(directory, epoch).database;
  return beginEpoch(database, epoch);
}

/** A random name for a store. */
export function newEpoch(
  random: () => Uint8Array = () => crypto.getRandomValues(new Uint8Array(16)),
): string {
  return random().toHex();
}
