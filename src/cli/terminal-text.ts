import { plainLine } from "../base/text.ts";
import { type Colours, shownLine, type Terminal } from "./terminal.ts";

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

/**
 * A line as lines of at most `width` columns, broken between words where possible. Those after the first are indented by two
 * columns more. Colours are kept. Absent width: the line as it is.
 */
export function fold(said: string, width: number | undefined): string[] {
  // Before it is folded: a line end in it is not one of ours.
  const line = shownLine(said, { coloured: true });
  if (width === undefined || Bun.stringWidth(line) <= width) return [line];
  const indent = /^ */.exec(line)?.[0] ?? "";
  const hang = `${indent}  `;
  const text = line.slice(indent.length);
  // A very narrow terminal gets a word a line.
  const room = Math.max(width - hang.length, 8);
  return Bun.wrapAnsi(text, room, { hard: true })
    .split("\n")
    .map((part, at) => (at === 0 ? indent : hang) + part);
}

/** A terminal on which long lines are folded. */
export function folding(terminal: Terminal): Terminal {
  const { width } = terminal;
  return {
    ...terminal,
    print: (line) => {
      for (const part of fold(line, width)) terminal.print(part);
    },
    say: (line) => {
      for (const part of fold(line, width)) terminal.say(part);
    },
  };
}

/** How long ago or how long, in the largest two units: `3 d 4 h`, `12 min`, `5 s`. */
export function spanText(span_ms: number): string {
  const seconds = Math.max(0, Math.round(span_ms / 1000));
  const units: readonly [name: string, seconds: number][] = [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
    ["s", 1],
  ];
  const first = units.findIndex(([, size]) => seconds >= size);
  if (first === -1) return "0 s";
  let rest = seconds;
  return units
    .slice(first, first + 2)
    .map(([name, size]) => {
      const count = Math.floor(rest / size);
      rest %= size;
      return count === 0 ? "" : `${count} ${name}`;
    })
    .filter((part) => part !== "")
    .join(" ");
}

/** Milliseconds of a span such as `90d`, `12h`, `30min` or `2w`; undefined where the text is none. */
export function parseSpan_ms(text: string): number | undefined {
  const match = /^(\d{1,6})\s*(s|min|h|d|w|y)$/.exec(text);
  const unit_s = match?.[2] === undefined ? undefined : unitSeconds[match[2]];
  if (unit_s === undefined) return undefined;
  const span_ms = Number(match?.[1]) * unit_s * 1000;
  return span_ms > 0 ? span_ms : undefined;
}

const unitSeconds: Readonly<Record<string, number>> = {
  s: 1,
  min: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
  y: 31_536_000,
};

/** A moment as people read it, in UTC to the second: `2026-03-01 14:05:09Z`. */
export function momentText(unix_ms: number): string {
  return `${new Date(unix_ms).toISOString().slice(0, 19).replace("T", " ")}Z`;
}

/** Bytes in the unit that leaves one to three digits before the point: `41.2 MB`. */
export function bytesText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
