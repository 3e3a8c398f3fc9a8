import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import plotStyle from "uplot/dist/uPlot.min.css" with { type: "text" };
import colours from "../http/colours.css" with { type: "text" };
import icon from "./icon.svg" with { type: "text" };
import device from "./pages/device/device.css" with { type: "text" };
import home from "./pages/home/home.css" with { type: "text" };
import homes from "./pages/homes/homes.css" with { type: "text" };
import recorded from "./pages/recorded/recorded.css" with { type: "text" };
import general from "./style.css" with { type: "text" };

/** A file that pages load: its path has its content in it, so that browsers keep it for ever. */
export interface Asset {
  readonly path: string;
  readonly type: string;
  readonly plain: Uint8Array<ArrayBuffer>;
  readonly gzip: Uint8Array<ArrayBuffer>;
  readonly zstd: Uint8Array<ArrayBuffer>;
}

export interface Assets {
  readonly script: Asset;
  readonly style: Asset;
  readonly icon: Asset;
}

/** All of them, made when they are first asked for. */
export function assets(): Promise<Assets> {
  made ??= makeAssets().catch((thrown) => {
    made = undefined;
    throw thrown;
  });
  return made;
}
let made: Promise<Assets> | undefined;

async function makeAssets(): Promise<Assets> {
  return {
    script: assetOf("script", "js", "text/javascript; charset=utf-8", await scriptText()),
    style: assetOf("style", "css", "text/css; charset=utf-8", styles.join("\n")),
    icon: assetOf("icon", "svg", "image/svg+xml", icon),
  };
}

/** Those of all pages first: a page has the last word. */
const styles = [plotStyle, colours, general, home, device, homes, recorded];

function assetOf(name: string, ending: string, type: string, text: string): Asset {
  const plain = new TextEncoder().encode(text);
  const hash = new Bun.CryptoHasher("sha256").update(plain).digest("hex").slice(0, 16);
  const path = `/assets/${name}-${hash}.${ending}`;
  // Once, and sent to every browser: it may take its time.
  const gzip = Bun.gzipSync(plain, { level: 12, library: "libdeflate" });
  const zstd = Bun.zstdCompressSync(plain, { level: 15 }) as Uint8Array<ArrayBuffer>;
  return { path, type, plain, gzip, zstd };
}

/**
 * The script of the browser. A bundle of the program has it beside itself (scripts/setup.sh); where the source is run it is built by a process of its own,
 * because the bundler keeps the memory that it took.
 */
async function scriptText(): Promise<string> {
  const bundled = join(import.meta.dir, "pages", "main.js");
  if (existsSync(bundled)) return Bun.file(bundled).text();
  const directory = mkdtempSync(join(tmpdir(), "lintel-pages-"));
  try {
    const entry = join(import.meta.dir, "browser", "main.tsx");
    const built = Bun.spawn(
      [process.execPath, "build", entry, "--target", "browser", "--minify", "--outdir", directory],
      { stdin: "ignore", stdout: "ignore", stderr: "pipe" },
    );
    const [said, code] = await Promise.all([built.stderr.text(), built.exited]);
    if (code !== 0) throw new Error(`the script of the pages cannot be built: ${said.trim()}`);
    return await Bun.file(join(directory, "main.js")).text();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
