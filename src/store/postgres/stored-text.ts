/**
 * A text of a reading as a column holds it. PostgreSQL takes neither NUL nor halves of surrogate pairs, and a reading is kept as it is:
 * such a text is stored as JSON behind a mark of our own, and so is one that begins with that mark.
 */
export function storedText(text: string): string {
  return text.includes("\0") || text.startsWith(mark) || !text.isWellFormed()
    ? mark + JSON.stringify(text)
    : text;
}

/** The text that was given to `storedText`. */
export function servedText(stored: string): string {
  return stored.startsWith(mark) ? JSON.parse(stored.slice(mark.length)) : stored;
}

/** A code point for private use. */
const mark = "\ue000";
