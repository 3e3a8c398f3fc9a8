import { existsSync } from "node:fs";
import { writeDurably } from "../../disk/durable-file.ts";
import { databasePath } from "./connection.ts";

/** Notes beside a gateway's database that it is damaged, for the next start. */
export function noteDamaged(directory: string): void {
  writeDurably(notePath(directory), "the database is damaged: the next start reads what is left of it\n");
}

export function isNotedDamaged(directory: string): boolean {
  return existsSync(notePath(directory));
}

function notePath(directory: string): string {
  return `${databasePath(directory)}-damaged`;
}
