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

/**
 * Takes the token out of a file that was used, and gives it the name of one that is done: its bytes are overwritten where they are, so that
 * no copy of them is left in what the file system counts as free, and the rest of the file stays as it was. After a power cut in between
 * the file is used once more, without its token, and changes nothing.
 */
export function putAway(file: string, token: string | undefined): void {
  if (token !== undefined) blank(file, token);
  renameSync(file, doneName(file));
  rmSync(faultsName(file), { force: true });
  syncDirectory(dirname(file));
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

/** Writes beside the file why it was not used, for whoever looks at the card in another machine. */
export function noteFaults(file: string, lines: readonly string[]): void {
  const open = openSync(faultsName(file), "w");
  try {
    writeFileSync(open, [...lines, ""].join("\r\n"));
    fsyncSync(open);
  } finally {
    closeSync(open);
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
