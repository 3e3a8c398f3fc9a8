/** Whole unix seconds: from `since_s`, and below `until_s`. */
export interface Span {
  readonly since_s?: number | undefined;
  readonly until_s?: number | undefined;
}

/** The ends of a span in text, as `--since` and `--until` take them. */
export interface AskedMoments {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** A span that is the same everywhere, or the one that it is in a time zone. */
export type AskedSpan = Span | ((zone: string) => Span);

export function spanIn(asked: AskedSpan, zone: string): Span {
  return typeof asked === "function" ? asked(zone) : asked;
}
