/**
 * Text of strangers made harmless: what a device, a peer, a request, a file or its name tells may be shown to people, but must not
 * move their cursor, end a line of a log, or turn letters around. Letters of every script stay, and so do the marks that
 * right-to-left and joined scripts need (U+200C to U+200F, U+061C).
 */

/**
 * Characters that act instead of showing something: controls (C0, DEL and C1), the line and paragraph separators,
 * bidirectional embeddings, overrides and isolates (Unicode UAX #9), the byte order mark, and halves of surrogate pairs.
 */
const acting = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\p{Cs}]/u;
const allActing = new RegExp(acting, "gu");
const allButLineEnds = new RegExp(`(?![\\t\\n\\r])${acting.source}`, "gu");
/** Ends of lines and pages, with the blanks around them. */
const lineEnds = /[ \t]*[\t\n\v\f\r\u0085\u2028\u2029][\s\u0085]*/g;

/** Text as one line: an end of line or a tab is a space, every other acting character is taken out. */
export function plainLine(text: string): string {
  return acting.test(text) ? text.replace(lineEnds, " ").replace(allActing, "") : text;
}

/** Text of several lines: tabs and ends of lines stay, every other acting character is taken out. */
export function plainLines(text: string): string {
  return acting.test(text) ? text.replace(allButLineEnds, "") : text;
}

/** Whether `plainLines` leaves a text as it is. */
export function isPlainLines(text: string): boolean {
  return plainLines(text) === text;
}

/** The first `length_max` characters of a line, with `…` behind them where there are more; never half a character. */
export function shortLine(text: string, length_max: number): string {
  return text.length > length_max ? `${plainLine(text.slice(0, length_max))}…` : plainLine(text);
}

/** A value of texts, numbers, lists and plain objects, with every text in it as one line, names of fields as well; itself where they are. */
export function plainWords<Value>(value: Value): Value {
  return (hasActing(value) ? wordsOf(value) : value) as Value;
}

function hasActing(value: unknown): boolean {
  if (typeof value === "string") return acting.test(value);
  if (Array.isArray(value)) return value.some(hasActing);
  if (typeof value !== "object" || value === null) return false;
  for (const name in value)
    if (acting.test(name) || hasActing((value as Record<string, unknown>)[name])) return true;
  return false;
}

function wordsOf(value: unknown): unknown {
  if (typeof value === "string") return plainLine(value).trim();
  if (Array.isArray(value)) return value.map(wordsOf);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [plainLine(name).trim(), wordsOf(of)]));
}

/** A value as JSON, the acting characters in its texts written as escapes: the same value to a program, harmless on a terminal. */
export function plainJson(value: unknown): string {
  const text = JSON.stringify(value);
  return acting.test(text) ? text.replace(allActing, escapeOf) : text;
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * Texts in cells of CSV. A spreadsheet takes a cell that begins with one of these characters for a formula, and computes it: to
 * fetch from elsewhere, or to start a program (OWASP, "CSV Injection"; Excel takes the wide forms for the narrow ones). An
 * apostrophe before it makes it a text.
 *
 * Where spreadsheets split at semicolons, as in much of Europe, a file with commas has other cells: one begins behind each semicolon
 * and line end in a text, whatever quotes there are. So the apostrophe stands at those places too.
 */
const formula = `['"\\s]*[=+\\-@\uff0b\uff0d\uff1d\uff20]`;
const behind = "(?<=[;\\t\\r\\n])";
const unmarked = new RegExp(`^(?=${formula}|'*[\\t\\r\\n])|${behind}(?=${formula})`, "g");
const marked = new RegExp(`^'(?=${formula}|'*[\\t\\r\\n])|${behind}'(?=${formula})`, "g");
const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A text as a cell that no spreadsheet computes. A number is no formula. */
export function spreadsheetText(text: string): string {
  return number.test(text) ? text : text.replace(unmarked, "'");
}

/** The text of a cell that `spreadsheetText` made. */
export function exactText(cell: string): string {
  return cell.replace(marked, "");
}

/**
 * The candidate that `word` is most likely a misspelling of, or undefined where none is near: at most two
 * letters added, left out, changed or swapped with their neighbour, and no more than a third of the word.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.min(distance_max, Math.ceil(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

const distance_max = 2;

/** Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let cost = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      }
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
