import { createReadStream, existsSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../base/errors.ts";
import type { AskedMoments } from "./columns.ts";
import { derivedTables } from "./derived-tables.ts";
import type { ErasedOf, SavedPackage } from "./package-readings.ts";
import { type FileForm, fileOf, PartFile } from "./table-file.ts";

interface CopyOptions extends FileForm {
  /** Of the package that is made again. */
  readonly directory: string;
  readonly asked?: AskedMoments | undefined;
  readonly erased: readonly ErasedOf[];
}

/** Derived measures of a saved package, in the package that is made again. */
export interface CopiedMeasures {
  /** Rows of each table, by its name. */
  readonly rows: Readonly<Record<string, number>>;
  /** Why there are none, as a sentence; undefined where they are there. */
  readonly leftOut?: string;
}

/**
 * Copies the derived measures of a saved package that is made again: by the definitions, and from all that was known, when it was made. Coverage, rooms and lines
 * are corrected later, so nobody can make them again of readings alone. Each file is checked by its digest.
 *
 * @throws OperatorError where a file is not the one that was written
 */
export async function copySavedMeasures(saved: SavedPackage, options: CopyOptions): Promise<CopiedMeasures> {
  const { folder } = saved;
  const leftOut = whyNot(saved, options);
  if (leftOut !== undefined) return { rows: {}, leftOut: `The derived measures are left out: ${leftOut}.` };
  const rows: Record<string, number> = {};
  for (const { path, of } of filesOf(saved, options)) {
    await copy(join(folder, path), { to: join(options.directory, path), hash: of.hash });
    rows[of.name] = of.rows;
  }
  return { rows };
}

/** The measures that a saved package says it has. Their paths are our own: what a folder says is no place to write to. */
function filesOf({ resources }: SavedPackage, { format }: CopyOptions) {
  return derivedTables.flatMap(({ name, file }) => {
    const of = resources.find((one) => one.name === name);
    return of === undefined ? [] : [{ path: fileOf(file, format), of }];
  });
}

function whyNot(saved: SavedPackage, options: CopyOptions): string | undefined {
  const { folder, made, created } = saved;
  const { format, stamp, asked, pseudonyms, erased } = options;
  const files = filesOf(saved, options);
  if (files.length === 0) return `${folder} has none`;
  const now = [format, stamp, asked?.since, asked?.until, pseudonyms?.level ?? "full"];
  const then = [made.format, made.stamp, made.since, made.until, made.identifiers];
  if (now.some((one, at) => one !== then[at])) return `${folder} has them in another form`;
  if (!files.every(({ path }) => existsSync(join(folder, path)))) return `their files are not in ${folder}`;
  // What was made of erased readings must not come back.
  if (erased.some((one) => one.erased * 1000 > Date.parse(created)))
    return `readings that they were made of may have been erased since ${created}`;
  return undefined;
}

/** Copies a file as a whole or not at all. @throws OperatorError where it has another digest */
async function copy(from: string, { to, hash }: { to: string; hash: string }): Promise<void> {
  await using file = await PartFile.begin(to);
  const digest = new Bun.CryptoHasher("sha256");
  for await (const chunk of createReadStream(from) as AsyncIterable<Buffer>) {
    digest.update(chunk);
    await file.put(chunk);
  }
  if (`sha256:${digest.digest("hex")}` !== hash)
    throw new OperatorError(
      `${from} is not the file that was written: its digest is another`,
      "get the package anew from whoever has it, or give --at EPOCH:NUMBER for its readings alone",
    );
  await file.finish();
}
