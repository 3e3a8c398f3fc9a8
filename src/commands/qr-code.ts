import type { Terminal } from "./terminal.ts";

/**
 * A text as a QR code of half blocks, black on white, whatever the colours of the terminal. No lines where it would not be read: in a
 * pipe, without colours, and where all of it cannot be seen at once.
 *
 * @param rows_below lines of the terminal that stand below it
 */
export async function qrCode(
  text: string,
  { width, rows, colours }: Pick<Terminal, "width" | "rows" | "colours">,
  rows_below: number,
): Promise<string[]> {
  if (width === undefined || rows === undefined || !colours.isColorSupported) return [];
  const { encode } = await import("uqr");
  // A screen is not torn or stained: the least correction makes the largest squares.
  const { data, size } = encode(text, { ecc: "L", border: quiet_modules });
  if (size > width || Math.ceil(size / 2) + rows_below > rows) return [];
  const lines: string[] = [];
  for (let row = 0; row < size; row += 2) {
    const halves = Array.from({ length: size }, (_, column) => {
      const [top, bottom] = [data[row]?.[column] === true, data[row + 1]?.[column] === true];
      return top ? (bottom ? "█" : "▀") : bottom ? "▄" : " ";
    });
    lines.push(colours.bgWhite(colours.black(halves.join(""))));
  }
  return lines;
}

/** White around the code. The standard asks for 4, phones are content with 2, and so it fits a terminal of 24 lines. */
const quiet_modules = 2;
