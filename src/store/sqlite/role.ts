import type { Database } from "bun:sqlite";
import { OperatorError } from "../../errors.ts";

/** Which of the two roles a data directory serves. */
export type Role = "gateway" | "central";

/**
 * Keeps that a database serves this role from now on. Throws an OperatorError where it has served the other: a gateway numbers
 * readings of its own, and central numbers what it receives.
 */
export function claimRole(database: Database, directory: string, role: Role): void {
  const found = database.query("SELECT value FROM meta WHERE name = 'role'").values()[0]?.[0];
  if (found === undefined) database.run("INSERT INTO meta VALUES ('role', ?)", [role]);
  else if (found !== role) {
    const holder = found === "central" ? "the central store" : "the store of a gateway";
    throw new OperatorError(
      `${directory} holds ${holder}, which cannot serve as ${role === "central" ? "central" : "a gateway"}`,
      role === "central"
        ? "name another directory with --data, which central makes for itself"
        : "set another `data` directory for the gateway",
    );
  }
}
