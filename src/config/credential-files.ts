import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { messageOf, OperatorError } from "../errors.ts";

/** A warning about the token file's mode, in one line that begins with `place`; none where the mode is right or the file is missing. */
export function tokenFileWarnings(file: string, place: string): string[] {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & others_may_read) === 0) return [];
  return [
    `${place}: ${file} can be read by every user of this machine, and holds a secret: chmod 640 ${file}`,
  ];
}

/**
 * The token that a file holds, alone.
 *
 * @param made which command makes it, and where
 * @throws OperatorError
 */
export function tokenIn(
  file: string,
  made = "`lintel token create NAME --scope sync --home ID` printed at central",
): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (thrown) {
    throw new OperatorError(
      `the token file ${file} cannot be read (${messageOf(thrown)})`,
      `write into it what ${made}, readable for the user that this runs as`,
    );
  }
  if (isToken(text)) return text;
  throw new OperatorError(
    `${file} does not hold a token alone`,
    `write into it the text that ${made}, and nothing else`,
  );
}

/** Whether a text can be a token. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]{1,500}$/.test(text);
}

/** A certificate that no authority vouches for, in PEM. @throws OperatorError where the file holds none */
export function certificateIn(file: string): string {
  try {
    const text = readFileSync(file, "utf8");
    new X509Certificate(text);
    return text;
  } catch (thrown) {
    throw new OperatorError(
      `${file} cannot be read as a certificate (${messageOf(thrown)})`,
      "name a PEM file that this user may read: `lintel status` on the other side says where its own is",
    );
  }
}

const others_may_read = 0o004;
