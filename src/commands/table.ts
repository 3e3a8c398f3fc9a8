import { plainLine } from "../plain-text.ts";
import { fold } from "./fold.ts";
import type { Colours, Terminal } from "./terminal.ts";

type TableCell = string | number | undefined;

/** The columns of a table: the heading of each, and the cell that a row has in it. */
export type TableColumns<Row> = Readonly<Record<string, (row: Row) => TableCell>>;

/**
 * Prints rows as a table that fits the terminal.
 *
 * @param least headings of columns that can be done without, the first of them first
 */
export function printTable<Row>(
  { print, colours, width }: Pick<Terminal, "print" | "colours" | "width">,
  columns: TableColumns<Row>,
  rows: readonly Row[],
  least: readonly string[] = [],
): void {
  const cells = rows.map((row) => Object.values(columns).map((cell) => cell(row)));
  for (const line of table(Object.keys(columns), cells, colours, { width, least })) print(line);
}

/**
 * Rows as columns of text below a dim heading, a line each; columns of numbers are set to the right. A table that is wider than `width`
 * loses the columns that `least` names, the first of them first, and a line names them. Where that is not enough, each row is
 * a block of lines, `heading  value`, with everything that it has.
 *
 * @param options.width columns of the terminal; absent: lines are as long as they are
 * @param options.least headings of columns that can be done without
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly TableCell[])[],
  colours: Colours,
  { width, least = [] }: { width?: number | undefined; least?: readonly string[] } = {},
): string[] {
  const hidden: string[] = [];
  for (;;) {
    const shown = headings.flatMap((heading, at) => (hidden.includes(heading) ? [] : [at]));
    const lines = columnLines(
      shown.map((at) => headings[at] ?? ""),
      rows.map((row) => shown.map((at) => row[at])),
    );
    if (width === undefined || lines.every((line) => Bun.stringWidth(line) <= width)) {
      const [head = "", ...body] = lines;
      return [colours.dim(head), ...body, ...hiddenLines(headings, hidden, width).map(colours.dim)];
    }
    const next = least[hidden.length];
    if (next === undefined) return blockLines(headings, rows, { width, colours });
    hidden.push(next);
  }
}

function hiddenLines(headings: readonly string[], hidden: readonly string[], width?: number): string[] {
  if (hidden.length === 0) return [];
  const names = headings.filter((heading) => hidden.includes(heading)).join(", ");
  return fold(`(no room for ${names}: a wider window or | less -S shows all)`, width);
}

function columnLines(headings: readonly string[], rows: readonly (readonly TableCell[])[]): string[] {
  const right = headings.map(
    (_, column) =>
      rows.length > 0 &&
      rows.some((row) => typeof row[column] === "number") &&
      rows.every((row) => typeof row[column] !== "string"),
  );
  const texts = rows.map((row) => headings.map((_, column) => cellText(row[column])));
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
  return [line(headings), ...texts.map(line)];
}

/** The first cell is the title of a block. Columns without a value in the row are left out. */
function blockLines(
  headings: readonly string[],
  rows: readonly (readonly TableCell[])[],
  { width, colours }: { width: number; colours: Colours },
): string[] {
  const wide = Math.max(...headings.slice(1).map((heading) => heading.length));
  return rows.flatMap(([title, ...cells]) => [
    ...fold(cellText(title), width).map(colours.bold),
    ...cells.flatMap((cell, at) =>
      cell === undefined ? [] : fold(`  ${(headings[at + 1] ?? "").padEnd(wide)}  ${cellText(cell)}`, width),
    ),
  ]);
}

/** A cell in one line, which must not look like part of the table. */
function cellText(cell: TableCell): string {
  return cell === undefined ? "–" : plainLine(String(cell));
}
