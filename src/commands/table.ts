import type { Colours } from "./terminal.ts";

/**
 * Rows as columns of text, each as wide as its widest cell; columns of numbers are set to the right. One line
 * a row below a dim heading.
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly (string | number | undefined)[])[],
  colours: Colours,
): string[] {
  const right = headings.map(
    (_, column) =>
      rows.length > 0 &&
      rows.some((row) => typeof row[column] === "number") &&
      rows.every((row) => typeof row[column] !== "string"),
  );
  const texts = rows.map((row) => headings.map((_, column) => String(row[column] ?? "–")));
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...texts.map((row) => Bun.stringWidth(row[column] ?? ""))),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => {
        const space = " ".repeat((widths[column] ?? 0) - Bun.stringWidth(cell));
        return right[column] ? space + cell : cell + space;
      })
      .join("  ")
      .trimEnd();
  return [colours.dim(line(headings)), ...texts.map(line)];
}
