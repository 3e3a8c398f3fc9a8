import { join } from "node:path";
import { writeDurably } from "../../disk/durable-file.ts";
import { codebook } from "./codebook.ts";
import { dataPackage } from "./data-package.ts";
import { readme } from "./readme.ts";
import { roCrate } from "./ro-crate.ts";
import type { Contents } from "./written.ts";

/** Writes the files that describe a download, for people and for programs. Each appears whole or not at all. */
export function writeDescription(directory: string, contents: Contents): void {
  const others = {
    "README.md": readme(contents),
    "codebook.md": codebook(contents),
    "datapackage.json": jsonText(dataPackage(contents)),
  };
  const crate = { "ro-crate-metadata.json": jsonText(roCrate(contents, Object.keys(others))) };
  for (const [name, text] of Object.entries({ ...others, ...crate }))
    writeDurably(join(directory, name), text);
}

function jsonText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
