import type { Token } from "./store.ts";

/** A row of the table `tokens`, as both databases have it. */
export interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly scope: Token["scope"];
  readonly home: number | null;
  readonly hash: Uint8Array;
  readonly created_ms: number;
  readonly expires_ms: number | null;
  readonly last_used_ms: number | null;
}

export function tokenOf(row: TokenRow): Token {
  return {
    id: row.id,
    name: row.name,
    scope: row.scope,
    hash: new Uint8Array(row.hash),
    created_ms: row.created_ms,
    ...(row.home === null ? {} : { home: row.home }),
    ...(row.expires_ms === null ? {} : { expires_ms: row.expires_ms }),
    ...(row.last_used_ms === null ? {} : { last_used_ms: row.last_used_ms }),
  };
}
