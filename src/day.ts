/** A day in milliseconds. Stores count and compare readings by days of this length, from midnight to midnight in GMT. */
export const day_ms = 86_400_000;
