import { acceptedIdentity, type Conflict, type Identity } from "../../identity.ts";
import type { IdentityNotes, Settling } from "../identity-store.ts";
import type { Connection } from "./connection.ts";

/** To be called in a transaction. */
export function keepIdentities(database: Connection, notes: IdentityNotes): void {
  for (const identity of notes.identities) putIdentity(database, identity);
  for (const conflict of notes.conflicts) putConflict(database, conflict);
}

/** See `IdentityStore.settleConflict`; to be called in a transaction. */
export function settleConflict(database: Connection, { conflict, answer, at_ms, by }: Settling): void {
  if (answer === "refused") {
    putConflict(database, { ...conflict, refused_ms: at_ms, refused_by: by });
    return;
  }
  const { address } = conflict.known;
  forgetIdentity(database, address);
  putIdentity(database, acceptedIdentity(conflict, at_ms, by));
}

/** Whether anything was known under the address until now; to be called in a transaction. */
export function forgetIdentity(database: Connection, address: string): boolean {
  const tables = ["identities", "identity_conflicts"];
  const found = tables.map((table) => database.query(`DELETE FROM ${table} WHERE address = ?`).run(address));
  return found.some(({ changes }) => changes > 0);
}

/** Puts identities in the place of all that are known under their addresses. A conflict that a person has settled since then goes; to be called in a transaction. */
export function replaceIdentities(database: Connection, identities: readonly Identity[]): void {
  for (const { address, accepted_ms = null } of identities) {
    database.query("DELETE FROM identities WHERE address = ?").run(address);
    database
      .query(
        "DELETE FROM identity_conflicts WHERE address = ?1 AND ?2 IS NOT NULL AND conflict ->> '$.known.accepted_ms' IS NOT ?2",
      )
      .run(address, accepted_ms);
  }
  for (const identity of identities) putIdentity(database, identity);
}

function putIdentity(database: Connection, identity: Identity): void {
  database
    .query("INSERT OR REPLACE INTO identities VALUES (?, ?, ?)")
    .run(identity.address, identity.kind, JSON.stringify(identity));
}

function putConflict(database: Connection, conflict: Conflict): void {
  database
    .query("INSERT OR REPLACE INTO identity_conflicts VALUES (?, ?)")
    .run(conflict.known.address, JSON.stringify(conflict));
}
