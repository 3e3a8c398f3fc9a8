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
