import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { messageOf, OperatorError } from "../errors.ts";

/** Keys of `[upload]`. */
export const uploadSection = Type.Object({
  url: Type.String({ description: 'an address such as "https://central.example"' }),
  token_file: Type.String({ minLength: 1, description: "the path of a file" }),
  at: Type.Optional(Type.String({ description: 'a time of day such as "02:00"' })),
  bytes_per_second: Type.Optional(Type.Integer({ minimum: 1_000, maximum: 1_000_000_000 })),
  keep_days: Type.Optional(Type.Integer({ minimum: 7, maximum: 36_500 })),
  certificate: Type.Optional(Type.String({ minLength: 1, description: "the path of a PEM file" })),
});

/** Where a gateway sends its readings each night, and how. */
export interface UploadTarget {
  readonly url: string;
  /** Absolute paths: of the sync token, and of the certificate of a central that no authority vouches for. */
  readonly token_file: string;
  readonly certificate?: string;
  /** Time of day, in the time of the machine, as the timer has it: `02:00`. */
  readonly at: string;
  readonly bytes_per_s: number;
  /** Days of readings that stay on the gateway; absent: all of them. */
  readonly keep_days?: number;
}

/** A quarter of a slow home connection of 8 Mbit/s. A usual night is sent in a second, a year in minutes. */
export const default_bytes_per_s = 256 * 1024;

/** A section as the file has it, with its defaults; paths are meant from `directory`. */
export function uploadTargetOf(section: Static<typeof uploadSection>, directory: string): UploadTarget {
  const absolute = (path: string) => resolve(directory, path);
  const { url, token_file, at = "02:00", certificate, keep_days } = section;
  return {
    url,
    token_file: absolute(token_file),
    certificate: certificate && absolute(certificate),
    at,
    bytes_per_s: section.bytes_per_second ?? default_bytes_per_s,
    keep_days,
  };
}

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
