import type { Database } from "bun:sqlite";
import type { Token } from "../store.ts";
import { type TokenRow, tokenOf } from "../token-row.ts";

/** The tokens of a database, on a connection that reads (`get`, `list`) or writes (the others). */
export class Tokens {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  get(id: string): Token | undefined {
    const row = this.#database.query("SELECT * FROM tokens WHERE id = ?").get(id) as TokenRow | null;
    return row === null ? undefined : tokenOf(row);
  }

  /** Oldest first. */
  list(): Token[] {
    const rows = this.#database.query("SELECT * FROM tokens ORDER BY created_ms, id").all() as TokenRow[];
    return rows.map(tokenOf);
  }

  add(token: Token): void {
    this.#database
      .query(
        `INSERT INTO tokens (id, name, scope, home, hash, created_ms, expires_ms, last_used_ms)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        token.id,
        token.name,
        token.scope,
        token.home ?? null,
        token.hash,
        token.created_ms,
        token.expires_ms ?? null,
        token.last_used_ms ?? null,
      );
  }

  /** False where there is no such token. */
  revoke(id: string): boolean {
    return this.#database.query("DELETE FROM tokens WHERE id = ?").run(id).changes > 0;
  }

  noteUse(used: ReadonlyMap<string, number>): void {
    const update = this.#database.query("UPDATE tokens SET last_used_ms = ? WHERE id = ?");
    for (const [id, last_used_ms] of used) update.run(last_used_ms, id);
  }
}
