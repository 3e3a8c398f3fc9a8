/** Levels of active minutes in an hour, in order: from so many on. */
export const activityLevels = [
  { least: 1, words: "1 to 9 minutes active in an hour" },
  { least: 10, words: "10 to 24" },
  { least: 25, words: "25 or more" },
] as const;

/** Days of a picture. */
export const activity_days = 28;

/** The picture of a home, and an hour and a day in it, pixels of CSS: wide enough for a day of 24 hours. */
export const activity_size = { hour: 5, day: 4, width: 24 * 5, height: activity_days * 4 } as const;
