import { messageOf } from "../../errors.ts";
import { openForReading } from "./connection.ts";
import { isDamage } from "./faults.ts";

/** Whether every page of a database can be read and is consistent. False also where the file is no database at all. */
export function isWhole(path: string): boolean {
  try {
    return damageIn(path) === undefined;
  } catch {
    // Whatever is wrong with it, it is not whole.
    return false;
  }
}

/** The first damage that is found in any page of a database; undefined where there is none. Throws where it cannot be opened or read for another reason. */
export function damageIn(path: string): string | undefined {
  try {
    const database = openForReading(path);
    try {
      const found = String(database.query("PRAGMA quick_check(1)").values()[0]?.[0]);
      return found === "ok" ? undefined : found;
    } finally {
      database.close();
    }
  } catch (thrown) {
    if (isDamage(thrown)) return messageOf(thrown);
    throw thrown;
  }
}

/** The last number that a database has given; undefined where not even that can be read. */
export function lastNumberIn(path: string): number | undefined {
  try {
    const database = openForReading(path);
    try {
      const [row] = database.query("SELECT value FROM meta WHERE name = 'last_seq'").values();
      return row === undefined ? undefined : Number(row[0]);
    } finally {
      database.close();
    }
  } catch {
    // Whatever is wrong with it, it tells no number.
    return undefined;
  }
}
