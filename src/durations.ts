/** An hour in milliseconds. */
export const hour_ms = 3_600_000;

/** A day in milliseconds. Stores count and compare readings by days of this length, from midnight to midnight in GMT. */
export const day_ms = 24 * hour_ms;
