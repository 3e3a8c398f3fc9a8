import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { messageOf, OperatorError } from "../../errors.ts";

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
    syncDirectory(dirname(file));
  } catch (thrown) {
    throw new OperatorError(
      `the box is set up, and its token cannot be taken out of ${file} (${messageOf(thrown)})`,
      "have it on a disk that takes changes, and run this again",
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

/** Some file systems of boot partitions know no sync of a directory. */
function syncDirectory(path: string): void {
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EINVAL") throw thrown;
  } finally {
    closeSync(directory);
  }
}
