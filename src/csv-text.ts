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
