/** Lengths of the spans that end today, by their words in the address. */
export const spanTitles = {
  "1d": "Today",
  "1w": "1 week",
  "4w": "4 weeks",
  "8w": "8 weeks",
  "1y": "1 year",
} as const;

export type DaySpanName = keyof typeof spanTitles;

/** Days that a spiral shows: two weeks, so that a weekday stands twice in it. */
export const spiralDays_max = 14;
