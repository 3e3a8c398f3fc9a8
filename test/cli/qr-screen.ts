import jsQR from "jsqr";
import type { Site } from "../../testbed/front-door.ts";

/** A terminal that a command is run on. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** The lines that a command leaves on a terminal, with their colours. */
export function onScreen(site: Site, screen: Screen, ...words: string[]): string[] {
  const run = Bun.spawnSync(scriptOf(site, screen, words), {
    env: { PATH: process.env["PATH"], HOME: site.home, TERM: "xterm", ...screen.env },
    stdin: "ignore",
  });
  const text = run.stdout.toString();
  if (run.exitCode !== 0) throw new Error(`${words.join(" ")} ended with ${run.exitCode}: ${text}`);
  return text.replaceAll("\r", "").trimEnd().split("\n");
}

/** The same of a command that goes on until it is interrupted, here once `enough` of what it shows. */
export async function interruptedOnScreen(
  site: Site,
  screen: Screen,
  words: readonly string[],
  enough: (text: string) => boolean,
): Promise<string[]> {
  const run = Bun.spawn(scriptOf(site, screen, words), {
    env: { PATH: process.env["PATH"], HOME: site.home, TERM: "xterm", ...screen.env },
    stdin: "pipe",
    stdout: "pipe",
  });
  const decoder = new TextDecoder();
  let text = "";
  let interrupted = false;
  for await (const chunk of run.stdout) {
    text += decoder.decode(chunk, { stream: true });
    if (interrupted || !enough(text)) continue;
    interrupted = true;
    run.stdin.write("\u0003");
    await run.stdin.flush();
  }
  const code = await run.exited;
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}: ${text}`);
  return text.replaceAll("\r", "").split("\n");
}

function scriptOf(site: Site, { columns, rows }: Screen, words: readonly string[]): string[] {
  const command = [...site.program, ...words].map((word) => `'${word}'`).join(" ");
  // The shell would die of an interrupt itself, with a code of its own.
  const sized = `stty cols ${columns} rows ${rows}; exec ${command}`;
  return ["script", "--quiet", "--return", "--command", sized, "/dev/null"];
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
