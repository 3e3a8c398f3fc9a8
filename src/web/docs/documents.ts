import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, extname, join, normalize } from "node:path";

/** A text of the project, in Markdown. */
export interface DocumentFile {
  /** As its address ends, such as `consent` for docs/consent.md and `` for the list of all. */
  readonly name: string;
  /** From the root, with forward slashes. */
  readonly path: string;
}

/** The texts that lie in a directory: a checkout, or where the package has them. */
export class Documents {
  readonly #root: string;
  /** By their names, the list of all first. */
  readonly files: ReadonlyMap<string, DocumentFile>;
  /** Names of the pictures that are here: a package has none. */
  readonly pictures: ReadonlySet<string>;
  readonly #byPath: ReadonlyMap<string, DocumentFile>;

  constructor(root: string) {
    this.#root = root;
    const found = documentPaths(root)
      .map((path) => ({ path, name: nameOf(path) }))
      .sort((one, other) => (one.name < other.name ? -1 : 1));
    this.files = new Map(found.map((file) => [file.name, file]));
    this.#byPath = new Map(found.map((file) => [file.path, file]));
    const directory = join(root, picturesDirectory);
    this.pictures = new Set(
      existsSync(directory) ? readdirSync(directory).filter((name) => typeOf(name)) : [],
    );
  }

  textOf({ path }: DocumentFile): string {
    return readFileSync(join(this.#root, path), "utf8");
  }

  /** The text that a link in another one leads to; undefined where that is no text. */
  linked(from: DocumentFile, href: string): DocumentFile | undefined {
    const path = normalize(join(dirname(from.path), href));
    return this.#byPath.get(path) ?? this.#byPath.get(join(path, "README.md"));
  }

  /** A picture that a link in a text leads to, by its name. */
  pictureLinked(from: DocumentFile, href: string): string | undefined {
    const path = normalize(join(dirname(from.path), href));
    const name = path.slice(picturesDirectory.length + 1);
    return path === join(picturesDirectory, name) && this.pictures.has(name) ? name : undefined;
  }

  pathOfPicture(name: string): string {
    return join(this.#root, picturesDirectory, name);
  }
}

const picturesDirectory = "docs/pictures";

/** The media type of a picture. */
export function typeOf(name: string): string | undefined {
  return { ".png": "image/png", ".svg": "image/svg+xml" }[extname(name)];
}

/** README and all that it leads to, from a root. */
export function documentPaths(root: string): string[] {
  return ["*.md", "docs/**/*.md", "{src,drivers,clients}/**/*.md"].flatMap((pattern) => [
    ...new Bun.Glob(pattern).scanSync({ cwd: root }),
  ]);
}

function nameOf(path: string): string {
  if (path === "README.md") return "README";
  return path
    .replace(/\.md$/, "")
    .replace(/^docs\//, "")
    .replace(/(^|\/)README$/, "");
}

/** Where the texts of this program lie: above its files, or where the package puts them. */
export function documentsHere(): Documents | undefined {
  let directory = import.meta.dir;
  for (let level = 0; level < levels_max; level += 1, directory = dirname(directory))
    if (existsSync(join(directory, "docs/README.md"))) return new Documents(directory);
  return existsSync(join(ofPackage, "docs/README.md")) ? new Documents(ofPackage) : undefined;
}

const ofPackage = "/usr/share/doc/lintel";
const levels_max = 6;
