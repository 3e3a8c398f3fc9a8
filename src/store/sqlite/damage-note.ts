import { existsSync, rmSync } from "node:fs";
import { writeDurably } from "../../disk/durable-file.ts";
import { databasePath } from "./connection.ts";

/** Notes beside a gateway's database that it is damaged, for the next start. */
export function noteDamaged(directory: string): void {
  writeDurably(notePath(directory), "the database is damaged: the next start reads what is left of it\n");
}

export function isNotedDamaged(directory: string): boolean {
  return existsSync(notePath(directory));
}

/** Takes the note back. One that is moved aside with its database needs no more. */
export function forgetDamaged(directory: string): void {
  rmSync(notePath(directory), { force: true });
}

function notePath(directory: string): string {
  return `${databasePath(directory)}-damaged`;
}
