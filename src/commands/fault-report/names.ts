import { hostname } from "node:os";
import { openForReading } from "../../store/sqlite/connection.ts";

/**
 * Every text of a store that may name somebody or something of theirs: of the programme's records, of items of the inventory, of names that
 * people have given, of tokens. And this machine's name.
 *
 * @param path of the database
 */
export function namesIn(path: string): string[] {
  const database = openForReading(path);
  try {
    const texts = (sql: string) =>
      database
        .query(sql)
        .values()
        .flat()
        .filter((text) => typeof text === "string");
    const records = [
      ...texts("SELECT record FROM items WHERE provisional = 0"),
      // Notes in prose are in no log, and have every word there is.
      ...texts(
        "SELECT record FROM records WHERE type NOT IN ('comments', 'alerts', 'issues', 'scheduled_contacts')",
      ),
    ].flatMap((record) => textsIn(JSON.parse(record)));
    const given = texts("SELECT name FROM given_names UNION ALL SELECT room FROM given_names");
    return [...new Set([...records, ...given, ...texts("SELECT name FROM tokens"), hostname()])];
  } finally {
    database.close();
  }
}

/** The texts of a record, but those of a few words that every programme has, and prose. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, of]) => (common.has(name) ? [] : textsIn(of)));
}

const common = new Set([
  ...["typename", "subtypename", "statusname", "timezone", "contacttypename", "durationname", "reasonname"],
  ...["contactText", "studycriteria", "studysummary", "studystatecomment"],
]);
