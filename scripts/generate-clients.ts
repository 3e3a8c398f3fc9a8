/**
 * Writes what the clients know of the interface, from the tables that the interface itself is made of.
 *
 *   bun scripts/generate-clients.ts
 */
import { join } from "node:path";
import { pythonFiles } from "./clients/python.ts";
import { rFiles } from "./clients/r.ts";
import { typescriptFiles } from "./clients/typescript.ts";

/** The files that are generated, with their text, by their path from the root of the checkout. */
export function generatedFiles(): Record<string, string> {
  return { ...typescriptFiles(), ...pythonFiles(), ...rFiles() };
}

if (import.meta.main)
  for (const [path, text] of Object.entries(generatedFiles()))
    await Bun.write(join(import.meta.dir, "..", path), text);
