import { Database } from "bun:sqlite";
import { join } from "node:path";

/** Tables in which a gateway notes by itself, again and again, that it lives and listens. */
const ownNotes = ["boots", "listeners"];

/** Hashes of all other tables, without the times at which tokens were used last, by their names. */
export function tablesOf({ data }: { readonly data: string }): Map<string, string> {
  const database = new Database(join(data, "lintel.db"), { readonly: true });
  try {
    const names = database
      .query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
      .values()
      .flat() as string[];
    return new Map(
      names
        .filter((name) => !ownNotes.includes(name))
        .map((name) => {
          const columns = database
            .query(`PRAGMA table_info("${name}")`)
            .all()
            .map((column) => (column as { name: string }).name)
            // Use is noted a minute later, and a token to upload is renewed by it.
            .filter((column) => !(name === "tokens" && ["last_used_ms", "expires_ms"].includes(column)));
          const rows = database
            .query(`SELECT ${columns.map((one) => `"${one}"`).join()} FROM "${name}"`)
            .values();
          return [name, new Bun.CryptoHasher("sha256").update(text(rows)).digest("hex")];
        }),
    );
  } finally {
    database.close();
  }
}

function text(rows: unknown): string {
  return JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? `${value}` : value));
}

export function changedIn(before: Map<string, string>, after: Map<string, string>): string[] {
  return [...after.keys()].filter((name) => before.get(name) !== after.get(name));
}
