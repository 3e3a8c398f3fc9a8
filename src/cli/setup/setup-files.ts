import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { parse } from "smol-toml";
import template from "../../../systemd/lintel.toml" with { type: "text" };
import { readIfThere, syncToDisk, writeDurably } from "../../base/disk/safe-files.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import { databasePath } from "../../store/sqlite/connection.ts";
import { configurationText, type TomlValues } from "./configuration-text.ts";
import type { Wanted } from "./home-file.ts";

/** Files that a set-up writes, each with its text; those that are there with the same text are not among them. */
export type Changes = ReadonlyMap<string, string>;

/**
 * The files that have to change for what is wanted, the configuration last: what is named in it is there before it is.
 *
 * @throws OperatorError if the box has other settings and `replace` does not allow a change, or if it has another home's readings
 */
export function changesFor(file: string, wanted: Wanted, replace: boolean): Changes {
  const before = valuesIn(file);
  const changes = new Map<string, string>();
  const upload = wanted.values["upload"] as { token_file: string; certificate?: string } | undefined;
  const beside = dirname(resolve(file));
  for (const [name, text] of [
    [upload?.token_file, wanted.token],
    [upload?.certificate, wanted.certificate],
  ]) {
    if (name === undefined || text === undefined) continue;
    const path = resolve(beside, name);
    if (textIn(path)?.trim() !== text.trim()) changes.set(path, `${text.trim()}\n`);
  }
  if (!Bun.deepEquals(before, wanted.values)) changes.set(file, configurationText(template, wanted.values));
  if (before === undefined || changes.size === 0) return changes;
  refuseOtherHome(file, before, wanted.values);
  if (replace) return changes;
  throw new OperatorError(
    `this box is already set up with a different ${[...changes.keys()].join(" and ")}`,
    "to change it, run lintel setup with --replace",
  );
}

/** Writes files so that a power cut leaves each as it was or as it shall be; the service's group may read them. @throws OperatorError */
export function writeChanges(changes: Changes): void {
  for (const [path, text] of changes) {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
      writeDurably(path, text, serviceGroup());
    } catch (thrown) {
      throw new OperatorError(
        `cannot write ${path} (${messageOf(thrown)})`,
        "run this as root: sudo lintel setup",
      );
    }
  }
}

/** Values of a configuration with which the box was set up; undefined where it was not: there is none, or it is as the package brings it. */
export function valuesIn(file: string): TomlValues | undefined {
  const text = textIn(file);
  if (text === undefined) return undefined;
  let values: TomlValues;
  try {
    values = parse(text);
  } catch {
    // Somebody has written it, and it is theirs.
    return {};
  }
  return isAsItComes(values) ? undefined : values;
}

/** Whether nobody has said yet whose box it is and what it hears: as the package has it, or the example beside the units. */
function isAsItComes(values: TomlValues): boolean {
  const { data: _, api: __, home, ...others } = values;
  const numbered = (home as { id?: unknown } | undefined)?.id !== undefined;
  return (!numbered && Object.keys(others).length === 0) || Bun.deepEquals(values, parse(template));
}

/** @throws OperatorError where it may not be read */
function textIn(path: string): string | undefined {
  try {
    return readIfThere(path);
  } catch (thrown) {
    throw new OperatorError(
      `cannot read ${path} (${messageOf(thrown)})`,
      "run this as root: sudo lintel setup",
    );
  }
}

function refuseOtherHome(file: string, before: TomlValues, after: TomlValues): void {
  const homeOf = (values: TomlValues) => (values["home"] as { id?: unknown } | undefined)?.id;
  const data = resolve(dirname(resolve(file)), String(after["data"]));
  const [old, other] = [homeOf(before), homeOf(after)];
  if (old === undefined || old === other || !existsSync(databasePath(data))) return;
  throw new OperatorError(
    `${data} has the readings of home ${old}, and this box is to be set up for home ${other}`,
    `upload them, then stop lintel and move ${data} away: a box in another home needs a new data directory`,
  );
}

/** The number of the group that the service runs as, where this is root and there is such a group. */
function serviceGroup(): number | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = /^lintel:[^:]*:(\d+):/m.exec(readIfThere("/etc/group") ?? "");
  return line === null ? undefined : Number(line[1]);
}

/**
 * Takes the token out of a file that was used, and gives it the name of one that is done: its bytes are overwritten where they are, so that
 * no copy of them is left in what the file system counts as free, and the rest of the file stays as it was. After a power cut in between
 * the file is used once more, without its token, and changes nothing.
 */
export function putAway(file: string, token: string | undefined): void {
  try {
    if (token !== undefined) blank(file, token);
    renameSync(file, doneName(file));
    rmSync(faultsName(file), { force: true });
    syncToDisk(dirname(file));
  } catch (thrown) {
    throw new OperatorError(
      `the box is set up, but setup cannot remove the token from ${file} (${messageOf(thrown)})`,
      "make that disk writable, and run this again",
    );
  }
}

function blank(file: string, token: string): void {
  const open = openSync(file, "r+");
  try {
    for (const { at, length } of placesOf(token, readFileSync(file, "utf8")))
      writeSync(open, Buffer.alloc(length, " "), 0, length, at);
    fsyncSync(open);
  } finally {
    closeSync(open);
  }
}

/** Writes beside the file why it was not used, for whoever looks at the card in another machine. Answers why it could not, where it could not. */
export function noteFaults(file: string, lines: readonly string[]): string | undefined {
  try {
    const open = openSync(faultsName(file), "w");
    try {
      writeFileSync(open, [...lines, ""].join("\r\n"));
      fsyncSync(open);
    } finally {
      closeSync(open);
    }
    return undefined;
  } catch (thrown) {
    return `this could not be written to ${faultsName(file)} (${messageOf(thrown)})`;
  }
}

export function doneName(file: string): string {
  return file.replace(/(\.toml)?$/, ".done$1");
}

export function faultsName(file: string): string {
  return file.replace(/(\.toml)?$/, ".faults.txt");
}

/** Where the token stands, in bytes; where it is written with escapes, the line of its key. */
function placesOf(token: string, text: string): { at: number; length: number }[] {
  const spans = text.includes(token)
    ? [...text.matchAll(new RegExp(RegExp.escape(token), "g"))]
    : [...text.matchAll(/^[^\n\r]*upload_token[^\n\r]*/gm)];
  return spans.map(({ index, 0: found }) => ({
    at: Buffer.byteLength(text.slice(0, index)),
    length: Buffer.byteLength(found),
  }));
}
