import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { type ErasedOf, readAt, type SavedPackage, savedPackage } from "../download/at.ts";
import type { Downloaded } from "../download/download.ts";
import { type Format, formatNames } from "../download/format.ts";
import { type Timezone, timezones } from "../download/home-zones.ts";
import { checksumOf, lasting } from "../download/package/reproducible.ts";
import type { Pseudonyms } from "../download/pseudonyms.ts";
import { type StampForm, stampFormNames } from "../download/stamp-form.ts";
import { OperatorError } from "../errors.ts";
import type { ReadingNumber } from "../reading.ts";
import { type SeriesName, seriesNames } from "../series.ts";
import { version } from "../version.ts";
import { type FileOptions, parseMoment } from "./file-options.ts";

/** The readings that `--at` names, and the package that it names them by. */
export interface AskedAt {
  readonly epochs: readonly ReadingNumber[];
  readonly saved?: SavedPackage;
}

interface AtOptions extends FileOptions {
  readonly at?: string;
  readonly output: string;
}

/** Gives a command `--at`. */
export function addAtOption(command: Command): Command {
  return command.option(
    "--at <what>",
    "the readings up to EPOCH:NUMBER (several with commas), or those of a package, by its folder",
  );
}

/**
 * Reads `--at`. Where it names a saved package, the options that the package was made with hold, unless others are given.
 *
 * @param isGiven whether an option stands on the command line
 * @throws OperatorError where it names neither readings nor a package
 */
export async function withAt<Options extends AtOptions>(
  options: Options,
  isGiven: (name: string) => boolean,
): Promise<{ options: Options; asked?: AskedAt }> {
  const { at, output } = options;
  if (at === undefined) return { options };
  const epochs = readAt(at);
  if (epochs !== undefined) return { options, asked: { epochs } };
  if (!statSync(at, { throwIfNoEntry: false })?.isDirectory())
    throw new OperatorError(
      `--at ${at} is neither EPOCH:NUMBER nor the folder of a package`,
      "an epoch has 32 hexadecimal digits; README.md of each package names its epochs",
    );
  if (resolve(at) === resolve(output))
    throw new OperatorError(`--output ${output} is the package that is to be made again`, "give another one");
  const saved = await savedPackage(at);
  const { made } = saved;
  const before: FileOptions & { identifiers: boolean } = {
    identifiers: made.key === undefined,
    format: known<Format>(formatNames, made.format, saved),
    stamp: known<StampForm>(stampFormNames, made.stamp, saved),
    series: made.series?.map((name) => known<SeriesName>(seriesNames, name, saved)),
    items: made.items,
    timezone: known<Timezone>(timezones, made.timezone, saved),
    ...(made.since !== undefined && { since: parseMoment(made.since) }),
    ...(made.until !== undefined && { until: parseMoment(made.until) }),
  };
  const held = Object.entries(before).filter(([name, value]) => value !== undefined && !isGiven(name));
  return {
    options: { ...options, ...Object.fromEntries(held) },
    asked: { epochs: made.at, saved },
  };
}

/** Lines about a package that was to be made again, and whether all of it is there. */
export function compared(
  { contents, epochs, erased }: Pick<Downloaded, "contents" | "epochs" | "erased">,
  { saved }: AskedAt,
): { readonly same: boolean; readonly lines: readonly string[] } {
  const missing = epochs.flatMap(({ epoch, missing }) =>
    missing.map(({ first, last }) =>
      first === last
        ? `Number ${first} of epoch ${epoch} has no reading here.`
        : `Numbers ${first} to ${last} of epoch ${epoch} have no reading here.`,
    ),
  );
  if (saved === undefined) {
    const lines = [...missing, ...(missing.length > 0 ? erased.map(erasedText) : [])];
    return { same: missing.length === 0, lines };
  }
  const { folder, made, resources } = saved;
  if (checksumOf(contents.tables) === made.sha256)
    return { same: true, lines: [`It is the same as ${folder}: SHA-256 ${made.sha256}.`] };
  const differing = lasting(contents.tables).flatMap(({ path, rows, sha256 }) => {
    const before = resources.find((one) => one.path === path);
    return before?.hash === `sha256:${sha256}`
      ? []
      : [`${path}: ${rows} readings, ${before?.rows ?? 0} before`];
  });
  const otherProgram =
    made.version === version ? [] : [`${folder} was made by Lintel ${made.version}, this is ${version}.`];
  return {
    same: false,
    lines: [
      `It is not the same as ${folder}:`,
      ...differing,
      ...missing,
      ...erased.map(erasedText),
      ...otherProgram,
    ],
  };
}

/** @throws OperatorError where a package was made with another key: it could never be the same */
export function requireSameKey(asked: AskedAt | undefined, pseudonyms: Pseudonyms | undefined): void {
  const { folder, made } = asked?.saved ?? {};
  if (made?.key === undefined || pseudonyms === undefined || made.key === pseudonyms.fingerprint) return;
  throw new OperatorError(
    `${folder} was made with the key ${made.key}, and this one is ${pseudonyms.fingerprint}`,
    "name the file of that key with --key",
  );
}

function erasedText({ homeid, typename, itemid, since, until, erased }: ErasedOf): string {
  const device = typename === null ? "" : `${typename}${itemid === null ? "" : ` ${itemid}`} of `;
  const home = homeid === null ? "this home" : `home ${homeid}`;
  const [from, to, at] = [since, until, erased].map((s) => new Date(s * 1000).toISOString());
  return `Erased at ${at}: ${device}${home} from ${from} to ${to}.`;
}

function known<Word extends string>(words: readonly Word[], word: string, { folder }: SavedPackage): Word {
  const found = words.find((one) => one === word);
  if (found !== undefined) return found;
  throw new OperatorError(
    `${folder} was made with ${word}, which this version of Lintel does not know`,
    "use the version that its datapackage.json names",
  );
}
