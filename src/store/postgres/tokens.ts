import type { Token } from "../store.ts";
import { type TokenRow, tokenOf } from "../token-row.ts";
import type { SqlRunner } from "./connection.ts";

/** The tokens of a database. */
export class Tokens {
  readonly #sql: SqlRunner;

  constructor(sql: SqlRunner) {
    this.#sql = sql;
  }

  async get(id: string): Promise<Token | undefined> {
    const [row] = await this.#sql<TokenRow[]>`SELECT * FROM tokens WHERE id = ${id}`;
    return row === undefined ? undefined : tokenOf(row);
  }

  /** Oldest first. */
  async list(): Promise<Token[]> {
    const rows = await this.#sql<TokenRow[]>`SELECT * FROM tokens ORDER BY created_ms, id`;
    return rows.map(tokenOf);
  }

  async add(token: Token): Promise<void> {
    const { id, name, scope, home = null, hash, created_ms, expires_ms = null, last_used_ms = null } = token;
    await this.#sql`
      INSERT INTO tokens (id, name, scope, home, hash, created_ms, expires_ms, last_used_ms)
      VALUES (${id}, ${name}, ${scope}, ${home}, ${Buffer.from(hash)}, ${created_ms}, ${expires_ms}, ${last_used_ms})`;
  }

  /** False where there is no such token. */
  async revoke(id: string): Promise<boolean> {
    const { count } = await this.#sql`DELETE FROM tokens WHERE id = ${id}`;
    return count > 0;
  }

  async noteUse(used: ReadonlyMap<string, number>): Promise<void> {
    if (used.size === 0) return;
    await this.#sql`
      UPDATE tokens SET last_used_ms = noted.last_used_ms
      FROM unnest(${[...used.keys()]}::text[], ${[...used.values()]}::bigint[]) AS noted (id, last_used_ms)
      WHERE tokens.id = noted.id`;
  }
}
