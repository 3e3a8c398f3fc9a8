import { shownLine, type Terminal } from "./terminal.ts";

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
