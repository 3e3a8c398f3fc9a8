/**
 * How CSV and NDJSON show a moment; Parquet has a type for it. Text to the millisecond in UTC
 * (`2026-11-20T12:00:00.250Z`), whole unix seconds as the interface serves them, or unix milliseconds.
 */
export const stampForms = {
  iso: (unix_ms: number) => new Date(unix_ms).toISOString(),
  unix: (unix_ms: number) => Math.floor(unix_ms / 1000),
  unix_ms: (unix_ms: number) => unix_ms,
} as const satisfies Record<string, (unix_ms: number) => string | number>;

export type StampForm = keyof typeof stampForms;

export const stampFormNames = Object.keys(stampForms) as StampForm[];
