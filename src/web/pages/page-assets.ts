import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
import plotStyle from "uplot/dist/uPlot.min.css" with { type: "text" };
import variables from "../server/variables.css" with { type: "text" };
import alerts from "./alerts/alerts.css" with { type: "text" };
import device from "./device/device.css" with { type: "text" };
import find from "./find/find.css" with { type: "text" };
import home from "./home/home.css" with { type: "text" };
import homeDay from "./home-day/home-day.css" with { type: "text" };
import homes from "./homes/homes.css" with { type: "text" };
import icon from "./icon.svg" with { type: "text" };
import notes from "./notes/notes.css" with { type: "text" };
import print from "./print.css" with { type: "text" };
import recorded from "./recorded/recorded.css" with { type: "text" };
import sql from "./sql/sql.css" with { type: "text" };
import general from "./style.css" with { type: "text" };

/** A file that pages load. */
export interface Asset {
  readonly type: string;
  readonly plain: Uint8Array<ArrayBuffer>;
  readonly gzip: Uint8Array<ArrayBuffer>;
  readonly zstd: Uint8Array<ArrayBuffer>;
}

export interface Assets {
  /** By their paths, which have the content of all in them, so that browsers keep them for ever. */
  readonly files: ReadonlyMap<string, Asset>;
  /** Paths of what every page loads. */
  readonly script: string;
  readonly icon: string;
  /** Paths of the styles of a page. */
  stylesOf(page: string): string[];
  /** Paths of the modules that files of the source were built into, by the ends of their names, with all that these import: browsers are told of them at once. */
  modulesOf(sources: readonly string[]): string[];
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
  const { scripts, outputs } = await builtScripts();
  const texts: readonly (readonly [name: string, text: string])[] = [
    ...scripts,
    ["style.css", styles.join("\n")],
    ...Object.entries(ownStyles).map(([page, text]) => [`${page}.css`, text] as const),
    ["icon.svg", icon],
  ];
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify(texts)).digest("hex").slice(0, 16);
  // Modules name one another by their place beside each other.
  const pathOf = (name: string) => `/assets/${hash}/${name}`;
  return {
    files: new Map(texts.map(([name, text]) => [pathOf(name), assetOf(name, text)])),
    script: pathOf("main.js"),
    stylesOf: (page) => ["style.css", ...(page in ownStyles ? [`${page}.css`] : [])].map(pathOf),
    icon: pathOf("icon.svg"),
    modulesOf: (sources) => modulesIn(outputs, sources).map(pathOf),
  };
}

/** The style of all pages. A page has the last word, and paper after it. */
const styles = [plotStyle, variables, general, home, device, find, notes, print];

/** Rules that one page alone has. */
const ownStyles: Readonly<Record<string, string>> = { homes, alerts, recorded, sql, "home-day": homeDay };

function assetOf(name: string, text: string): Asset {
  const plain = new TextEncoder().encode(text);
  // Once, and sent to every browser: it may take its time.
  const gzip = Bun.gzipSync(plain, { level: 12, library: "libdeflate" });
  const zstd = Bun.zstdCompressSync(plain, { level: 15 }) as Uint8Array<ArrayBuffer>;
  return { type: types[extname(name)] ?? "", plain, gzip, zstd };
}

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The modules of the browser, as the bundler has made them. */
interface Built {
  readonly scripts: readonly (readonly [name: string, text: string])[];
  /** By the names of the modules. */
  readonly outputs: Outputs;
}

/** A part of the bundler's metafile, in which a module is named `./main.js`. */
type Outputs = Readonly<
  Record<
    string,
    {
      readonly entryPoint?: string;
      readonly imports: readonly { readonly path: string; readonly kind: string }[];
    }
  >
>;

/**
 * The script of the browser, in modules. A bundle of the program has them beside itself (scripts/setup.sh); where the source is run they are built by a process of
 * their own, because the bundler keeps the memory that it took.
 */
async function builtScripts(): Promise<Built> {
  const bundled = join(import.meta.dir, "pages");
  if (existsSync(join(bundled, metafile))) return readBuilt(bundled);
  const directory = mkdtempSync(join(tmpdir(), "lintel-pages-"));
  try {
    const entry = join(import.meta.dir, "browser", "main.tsx");
    const options = ["--target", "browser", "--minify", "--splitting", "--outdir", directory];
    const built = Bun.spawn(
      [process.execPath, "build", entry, ...options, `--metafile=${join(directory, metafile)}`],
      { stdin: "ignore", stdout: "ignore", stderr: "pipe" },
    );
    const [said, code] = await Promise.all([built.stderr.text(), built.exited]);
    if (code !== 0) throw new Error(`the script of the pages cannot be built: ${said.trim()}`);
    return await readBuilt(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const metafile = "built.json";

async function readBuilt(directory: string): Promise<Built> {
  const { outputs } = (await Bun.file(join(directory, metafile)).json()) as { outputs: Outputs };
  const names = Object.keys(outputs).map((path) => basename(path));
  const read = async (name: string) => [name, await Bun.file(join(directory, name)).text()] as const;
  return { scripts: await Promise.all(names.map(read)), outputs };
}

/** Names of the modules of files of the source, and of all that they import. */
function modulesIn(outputs: Outputs, sources: readonly string[]): string[] {
  const found = new Set<string>();
  const add = (path: string) => {
    if (found.has(path)) return;
    found.add(path);
    for (const one of outputs[path]?.imports ?? []) if (one.kind === "import-statement") add(one.path);
  };
  for (const [path, { entryPoint = "" }] of Object.entries(outputs))
    if (sources.some((source) => entryPoint.endsWith(`/${source}`))) add(path);
  return [...found].map((path) => basename(path));
}
