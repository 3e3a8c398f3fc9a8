import { syncToken_ms } from "../domain/token.ts";
import { change, firstOf, objects, rowsOf, type Work, withoutNulls } from "./database.ts";
import type { Token } from "./store.ts";

/** The token of an id; undefined where there is none. */
export function* tokenWith(id: string): Work<Token | undefined> {
  const row = yield* firstOf(objects<TokenRow>("SELECT * FROM tokens WHERE id = $1", id));
  return row === undefined ? undefined : tokenOf(row);
}

/** All tokens, oldest first. */
export function* allTokens(): Work<Token[]> {
  const rows = yield* rowsOf(objects<TokenRow>("SELECT * FROM tokens ORDER BY created_ms, id"));
  return rows.map(tokenOf);
}

export function* addToken(token: Token): Work<void> {
  yield* change(
    `INSERT INTO tokens (id, name, scope, home, binding, hash, created_ms, expires_ms, last_used_ms, restricted)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    token.id,
    token.name,
    token.scope,
    token.home ?? null,
    token.binding === undefined ? null : JSON.stringify(token.binding),
    token.hash,
    token.created_ms,
    token.expires_ms ?? null,
    token.last_used_ms ?? null,
    token.restricted === true ? 1 : null,
  );
}

/** False where there is no such token. */
export function* revokeToken(id: string): Work<boolean> {
  return (yield* change("DELETE FROM tokens WHERE id = $1", id)) > 0;
}

/** Keeps when tokens were last used, unix milliseconds by id. A gateway renews its sync token by using it, unless that was made to end within a year. */
export function* noteTokenUse(used: ReadonlyMap<string, number>): Work<void> {
  for (const [id, last_used_ms] of used) {
    yield* change("UPDATE tokens SET last_used_ms = $1 WHERE id = $2", last_used_ms, id);
    yield* change(
      `UPDATE tokens SET expires_ms = $1
       WHERE id = $2 AND scope = 'sync' AND (expires_ms IS NULL OR (expires_ms - created_ms >= $3 AND expires_ms < $1))`,
      last_used_ms + syncToken_ms,
      id,
      syncToken_ms,
    );
  }
}

interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly scope: Token["scope"];
  readonly home: number | null;
  readonly binding: string | null;
  readonly hash: Uint8Array;
  readonly created_ms: number;
  readonly expires_ms: number | null;
  readonly last_used_ms: number | null;
  readonly restricted: number | null;
}

function tokenOf({ binding, hash, restricted, ...row }: TokenRow): Token {
  return {
    ...withoutNulls(row),
    hash: new Uint8Array(hash),
    ...(binding !== null && { binding: JSON.parse(binding) }),
    ...(restricted !== null && { restricted: true }),
  };
}
