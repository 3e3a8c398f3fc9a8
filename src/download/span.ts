/** Whole unix seconds: from `since_s`, and below `until_s`. */
export interface SecondsSpan {
  readonly since_s?: number | undefined;
  readonly until_s?: number | undefined;
}

/** The ends of a span in text, as `--since` and `--until` take them. */
export interface AskedMoments {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** A span that is the same everywhere, or the one that it is in a time zone. */
export type AskedSpan = SecondsSpan | ((zone: string) => SecondsSpan);

export function spanIn(asked: AskedSpan, zone: string): SecondsSpan {
  return typeof asked === "function" ? asked(zone) : asked;
}
