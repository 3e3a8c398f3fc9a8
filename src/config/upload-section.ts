import { resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { day_ms } from "../durations.ts";

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
  /** Time of day, in the time of the machine, as the timer has it: `02:00`; empty where no timer uploads. */
  readonly at: string;
  readonly bytes_per_s: number;
  /** Days of readings that stay on the gateway; absent: all of them. */
  readonly keep_days?: number;
}

/** A quarter of a slow home connection of 8 Mbit/s. A usual night is sent in a second, a year in minutes. */
export const default_bytes_per_s = 256 * 1024;

/** Without an upload for so long a person should check. One night may be missed: a box that was off, a connection that was down. */
export const upload_late_ms = 2.5 * day_ms;

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
