import jsQR from "jsqr";
import type { Site } from "../shipped/front-door.ts";

/** A terminal that a command is run on. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** The lines that a command leaves on a terminal, with their colours. */
export function onScreen(site: Site, { columns, rows, env = {} }: Screen, ...words: string[]): string[] {
  const command = [...site.program, ...words].map((word) => `'${word}'`).join(" ");
  const run = Bun.spawnSync(
    [
      "script",
      "--quiet",
      "--return",
      "--command",
      `stty cols ${columns} rows ${rows}; ${command}`,
      "/dev/null",
    ],
    { env: { PATH: process.env["PATH"], HOME: site.home, TERM: "xterm", ...env }, stdin: "ignore" },
  );
  const text = run.stdout.toString();
  if (run.exitCode !== 0) throw new Error(`${words.join(" ")} ended with ${run.exitCode}: ${text}`);
  return text.replaceAll("\r", "").trimEnd().split("\n");
}

/** Lines of half blocks in black on white: each two rows of a QR code. */
export function qrLines(lines: readonly string[]): string[] {
  return lines.filter((line) => line.includes(onWhite)).map((line) => Bun.stripANSI(line));
}

/** The text of the QR code among the lines, read as a camera sees it; undefined where there is none that can be read. */
export function readQr(lines: readonly string[]): string | undefined {
  const drawn = qrLines(lines).flatMap((line) => [
    Array.from(line, (half) => half === "█" || half === "▀"),
    Array.from(line, (half) => half === "█" || half === "▄"),
  ]);
  const [width, height] = [(drawn[0]?.length ?? 0) * module_px, drawn.length * module_px];
  if (width === 0) return undefined;
  const pixels = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      if (drawn[Math.floor(y / module_px)]?.[Math.floor(x / module_px)])
        pixels.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3);
  // A code in wrong colours is none: some phones read no other.
  return jsQR(pixels, width, height, { inversionAttempts: "dontInvert" })?.data;
}

const onWhite = "\u001b[47m";
const module_px = 4;
