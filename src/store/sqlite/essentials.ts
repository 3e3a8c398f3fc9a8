import { existsSync, rmSync } from "node:fs";
import { writeDurably } from "../../disk/durable-file.ts";
import { seriesNames } from "../../series.ts";
import type { Connection } from "./connection.ts";

/**
 * The copy beside a gateway's database of all that its readings hang on: each of its tables that has no readings, and `schema`, which says on which page
 * each begins. A database by itself, of a few hundred kilobytes. Where those tables are damaged, `salvage` fills them from it.
 */
export class Essentials {
  readonly #database: Connection;
  readonly #path: string;
  /** Of what the copy was made of; undefined: the next one is made in any case. */
  #digest: string | undefined;

  constructor(database: Connection, path: string) {
    this.#database = database;
    this.#path = path;
  }

  /** Makes the copy where there is none, or something has changed that it must have. Keeps other writers away meanwhile: of two processes the later has the newer. */
  keep(): void {
    const digest = digestOf(this.#database);
    if (digest === this.#digest && existsSync(essentialsPath(this.#path))) return;
    this.#database.run("ATTACH ':memory:' AS essentials");
    try {
      this.#database.run("BEGIN IMMEDIATE");
      for (const table of tablesOf(this.#database).filter((name) => !notEssential.has(name)))
        this.#database.run(`CREATE TABLE essentials.${table} AS SELECT * FROM main.${table}`);
      this.#database.run("CREATE TABLE essentials.schema AS SELECT * FROM main.sqlite_schema");
      writeDurably(essentialsPath(this.#path), this.#database.serialize("essentials"));
    } finally {
      if (this.#database.inTransaction) this.#database.run("ROLLBACK");
      this.#database.run("DETACH essentials");
    }
    this.#digest = digest;
  }

  /** Has the next copy made whether or not that has changed: the rest of it is older each day. */
  renew(): void {
    this.#digest = undefined;
  }

  /** Removes the copy; whether there was one. */
  remove(): boolean {
    const path = essentialsPath(this.#path);
    const there = existsSync(path);
    rmSync(path, { force: true });
    return there;
  }
}

export function essentialsPath(path: string): string {
  return `${path}-essentials`;
}

/** Names of the tables of a database, as they were made. */
export function tablesOf(database: Connection): string[] {
  const rows = database.query(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
  );
  return rows.values().flat().map(String);
}

/** Whose readings are whose, under which names and numbers, what was erased, and on which page each table begins. */
function digestOf(database: Connection): string {
  const rows = [
    "SELECT name, rootpage FROM sqlite_schema",
    "SELECT * FROM items",
    "SELECT * FROM streams",
    "SELECT * FROM epochs",
    "SELECT id, place FROM erasures",
    "SELECT * FROM records",
    "SELECT * FROM given_names",
    "SELECT * FROM admitted",
    // Without what moves with each broadcast.
    "SELECT json_remove(identity, '$.counter') FROM identities",
    "SELECT address, json_extract(conflict, '$.refused_ms') FROM identity_conflicts",
    "SELECT id FROM tokens",
  ].map((sql) => database.query(sql).values());
  return String(Bun.hash(JSON.stringify(rows)));
}

/** Tables that are made of readings; and what waits for its time, which is numbered in the commit that takes it away: from a copy it would come twice. */
const notEssential = new Set<string>([...seriesNames, "totals", "counts", "late", "waiting"]);
