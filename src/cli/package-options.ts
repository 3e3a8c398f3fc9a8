import { mkdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { readIfThere, writeDurably } from "../base/disk/safe-files.ts";
import { messageOf, OperatorError } from "../base/errors.ts";
import { version } from "../base/version.ts";
import type { ReadingNumber } from "../domain/reading.ts";
import { type SeriesName, seriesNames } from "../domain/series.ts";
import type { Use } from "../domain/uses.ts";
import type { AskedMoments, AskedSpan } from "../export/columns.ts";
import type { Downloaded } from "../export/download.ts";
import { type Timezone, timezones } from "../export/home-zones.ts";
import { checksumOf, lasting } from "../export/package/package-contents.ts";
import { type ErasedOf, readAt, type SavedPackage, savedPackage } from "../export/package-readings.ts";
import { type IdentifierLevel, identifierLevels, Pseudonyms, recipientKey } from "../export/pseudonyms.ts";
import { type StandardName, standardNames } from "../export/standards/standards.ts";
import { type Format, formatNames } from "../export/table-file.ts";
import { type StampForm, stampFormNames } from "../export/text-formats.ts";
import { type CommandContext, nameList } from "./command.ts";
import type { Terminal } from "./terminal.ts";

/** The options for the contents of the files, which `fetch` and `export` share. */
export function addFileOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--format <format>",
        "of the files; ieee1752 and fhir write NDJSON, and beside it what these standards have words for",
      )
        .choices([...formatNames, ...standardNames])
        .default("csv"),
    )
    .addOption(
      new Option("--stamp <form>", "how CSV and NDJSON show stamps: text in UTC, unix s or unix ms")
        .choices(stampFormNames)
        .default("iso"),
    )
    .addOption(
      new Option(
        "--timezone <zone>",
        "home: local time and day beside each stamp, --since and --until in each home's zone",
      )
        .choices(timezones)
        .default("utc"),
    )
    .option("--since <date>", "readings from this day or moment on: 2026-01-31", parseMoment)
    .option("--until <date>", "readings before this day or moment", parseMoment)
    .option("--series <names>", `of ${seriesNames.join(", ")}; or all`, parseSeries)
    .option("--items <names>", "only these items, with commas between", nameList);
}

export interface FileOptions {
  readonly format: Format | StandardName;
  readonly stamp: StampForm;
  readonly timezone: Timezone;
  readonly since?: AskedMoment;
  readonly until?: AskedMoment;
  readonly series?: readonly SeriesName[];
  readonly items?: readonly string[];
}

/** The format of the tables, and the standard in whose words readings are said beside them. */
export function formatOf({ format }: FileOptions): { format: Format; standard?: StandardName } {
  return isStandard(format) ? { format: "ndjson", standard: format } : { format };
}

function isStandard(name: string): name is StandardName {
  return (standardNames as readonly string[]).includes(name);
}

/** The span that the options name. */
export function spanOf({ since, until, timezone }: FileOptions): AskedSpan {
  return (zone) => {
    const meant = timezone === "home" ? zone : "UTC";
    return { since_s: since?.(meant), until_s: until?.(meant) };
  };
}

/** The same as text. */
export function momentsOf({ since, until }: FileOptions): AskedMoments {
  return { since: since?.text, until: until?.text };
}

/** Unix seconds of a moment that was asked for, in a time zone where it does not name its own. */
export type AskedMoment = ((zone: string) => number) & { readonly text: string };

/** A day or a moment as ISO 8601 has it. */
export function parseMoment(text: string): AskedMoment {
  return Object.assign(momentIn(text), { text });
}

function momentIn(text: string): (zone: string) => number {
  const bare = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?$/.test(text);
  const zoned = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const unix_ms = bare && text.includes("T") ? Date.parse(`${text}Z`) : Date.parse(text);
  if (!(bare || zoned) || Number.isNaN(unix_ms) || unix_ms < 0)
    throw new InvalidArgumentError(
      "It must be a day or moment from 1970 on, such as 2026-01-31 or 2026-01-31T08:00Z.",
    );
  if (zoned) return () => unix_ms / 1000;
  const wall = Temporal.PlainDateTime.from(new Date(unix_ms).toISOString().slice(0, -1));
  // Where the clocks were put forward over it, the first moment after.
  return (zone) => Math.max(0, wall.toZonedDateTime(zone).epochMilliseconds / 1000);
}

function parseSeries(text: string): readonly SeriesName[] {
  if (text === "all") return seriesNames;
  return nameList(text).map((name) => {
    const known = seriesNames.find((series) => series === name);
    if (known === undefined)
      throw new InvalidArgumentError(
        `There is no series ${name}: they are ${seriesNames.join(", ")}; or all.`,
      );
    return known;
  });
}

/** The options for who is told in a package. */
export interface IdentifierOptions {
  /** False: `--no-identifiers`, which is none. */
  readonly identifiers: IdentifierLevel | false;
  readonly key?: string;
  readonly recipient?: string;
}

/** Gives a command the options for who is told in its package. */
export function addIdentifierOptions(command: Command, who: string): Command {
  return command
    .addOption(
      new Option(
        "--identifiers [level]",
        `none: no names, and numbers made by a key; coded: the programme's own numbers; full: names, addresses, birth dates and texts too${who}`,
      )
        .choices(identifierLevels)
        .preset("full")
        .default("none"),
    )
    .option("--no-identifiers", "the same as --identifiers none")
    .option(
      "--recipient <name>",
      "who gets the package: each recipient has other numbers, so that nobody can join two packages",
    )
    .option(
      "--key <file>",
      `the key for the numbers of homes, subjects and items, which nobody gets (default: ${defaultKey}, made at the first use)`,
    );
}

/**
 * The pseudonyms of a package; undefined where identifiers were asked for.
 *
 * @param mayMake whether a missing key may be made; absent: the one that no option names
 * @throws OperatorError where the key cannot be read, is none, or others may read it
 */
export function pseudonymsOf(
  { identifiers, key, recipient }: IdentifierOptions,
  { terminal, clock }: Pick<CommandContext, "terminal" | "clock">,
  mayMake = key === undefined,
): Pseudonyms | undefined {
  if (identifiers === "full") {
    if (recipient === undefined) return undefined;
    throw new OperatorError(
      "--recipient is for packages without names, and --identifiers full leaves them in",
      "leave out one of the two",
    );
  }
  const named = recipient?.trim().normalize("NFC");
  if (named === "")
    throw new OperatorError("--recipient has no name", "name who gets the package, always in the same way");
  const path = key === undefined ? join(homedir(), ...keyPath) : resolve(key);
  const { bytes, onUse } = keyIn(path, mayMake, terminal);
  const year = new Date(clock.now().unix_ms).getUTCFullYear();
  return new Pseudonyms(named === undefined ? bytes : recipientKey(bytes, named), {
    level: identifiers === "coded" ? "coded" : "none",
    year,
    onUse,
  });
}

/** The uses that a package of these options is: homes have to consent to each. */
export function usesOf({ identifiers, recipient }: IdentifierOptions): Use[] {
  const byLevel: Use[] = identifiers === "full" ? ["identified"] : identifiers === "coded" ? ["coded"] : [];
  return recipient === undefined ? byLevel : [...byLevel, "shared"];
}

/** The key in a file. Where `mayMake`, one is made and kept, once there is something to write by it. */
function keyIn(
  path: string,
  mayMake: boolean,
  terminal: Terminal,
): { readonly bytes: Uint8Array; readonly onUse: () => void } {
  const text = reading(path, () => readIfThere(path))?.trim();
  if (text === undefined && !mayMake)
    throw new OperatorError(
      `there is no key ${path}`,
      "make one: (umask 077; openssl rand -hex 32 > FILE), or name the programme's own key",
    );
  if (text === undefined) {
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    const onUse = () => {
      reading(path, () => {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        writeDurably(path, `${bytes.toHex()}\n`);
      });
      terminal.say(
        `Made the key ${path}, by which homes, subjects and items are numbered: back it up, and give it to nobody.`,
      );
    };
    return { bytes, onUse };
  }
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new OperatorError(`${path} holds no key`, "a key file has 64 hexadecimal digits and nothing else");
  if ((statSync(path).mode & 0o077) !== 0)
    throw new OperatorError(
      `the key ${path} can be read by others, who could then identify people by their numbers`,
      `chmod 600 ${path}`,
    );
  return { bytes: Uint8Array.fromHex(text), onUse: () => {} };
}

function reading<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    throw new OperatorError(
      `the key ${path} cannot be read or made (${messageOf(thrown)})`,
      "name another place with --key FILE, or give the file to the user that this runs as",
      { cause: thrown },
    );
  }
}

const keyPath = [".config", "lintel", "package.key"];
const defaultKey = `~/${keyPath.join("/")}`;

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
 * @throws OperatorError where it names neither readings nor a package
 */
export async function withAt<Options extends AtOptions>(
  options: Options,
  command: Pick<Command, "getOptionValueSource">,
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
  const before: FileOptions & Pick<IdentifierOptions, "identifiers"> = {
    identifiers: known<IdentifierLevel>(identifierLevels, made.identifiers, saved),
    format: known<Format>(formatNames, made.format, saved),
    stamp: known<StampForm>(stampFormNames, made.stamp, saved),
    series: made.series?.map((name) => known<SeriesName>(seriesNames, name, saved)),
    items: made.items,
    timezone: known<Timezone>(timezones, made.timezone, saved),
    ...(made.since !== undefined && { since: parseMoment(made.since) }),
    ...(made.until !== undefined && { until: parseMoment(made.until) }),
  };
  const isGiven = (name: string) => command.getOptionValueSource(name) === "cli";
  const held = Object.entries(before).filter(([name, value]) => value !== undefined && !isGiven(name));
  return {
    options: { ...options, ...Object.fromEntries(held) },
    asked: { epochs: made.at, saved },
  };
}

/** Lines about a package that was to be made again, and whether all of it is there. */
export function compared(
  { contents, epochs, erased, leftOut }: Pick<Downloaded, "contents" | "epochs" | "erased" | "leftOut">,
  { saved }: AskedAt,
): { readonly same: boolean; readonly lines: readonly string[] } {
  const missing = epochs.flatMap(({ epoch, missing }) =>
    missing.map(({ first, last }) =>
      first === last
        ? `Number ${first} of epoch ${epoch} has no reading here.`
        : `Numbers ${first} to ${last} of epoch ${epoch} have no reading here.`,
    ),
  );
  const measures = leftOut === undefined ? [] : [leftOut];
  if (saved === undefined) {
    const lines = [...missing, ...(missing.length > 0 ? erased.map(erasedText) : []), ...measures];
    return { same: missing.length === 0, lines };
  }
  const { folder, made, resources } = saved;
  if (checksumOf(contents.tables) === made.sha256)
    return { same: true, lines: [`It is the same as ${folder}: SHA-256 ${made.sha256}.`, ...measures] };
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
      ...measures,
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
    "name the file of that key with --key, and with --recipient who got the package",
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
