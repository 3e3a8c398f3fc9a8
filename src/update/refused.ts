import type { ReleaseRefusalReason } from "../update-report.ts";

/** A release, or a list of them, that this box does not take. The message is one line for people. */
export class Refused extends Error {
  constructor(
    readonly reason: ReleaseRefusalReason,
    message: string,
    readonly release?: { readonly version: string; readonly sha256?: string },
  ) {
    super(message);
  }
}
