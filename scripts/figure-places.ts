/**
 * Places of figures in the documents: what a run of a trial or a benchmark has printed, between two comments of which the last has a digest of it. So nobody
 * changes a figure by hand and is not noticed.
 */
import { join } from "node:path";

const root = join(import.meta.dir, "..");
export const figureDocuments = [
  "docs/derived.md",
  "docs/mirror.md",
  "docs/performance.md",
  "docs/reliability.md",
];

export interface FigurePlace {
  /** The place as it stands, with both comments. */
  readonly text: string;
  /** The command that it is a place for, as far as it names it: `trials life --seeds`. */
  readonly key: string;
  /** The table, and the line that says how it came about. */
  readonly figures: string;
  /** As the last comment names it; empty where nothing was recorded. */
  readonly digest: string;
}

export function placesIn(document: string): FigurePlace[] {
  const form = /<!-- figures of (.+) -->\n([\s\S]*?)<!-- end of figures(?:, sha256 ([0-9a-f]+))? -->/g;
  return [...document.matchAll(form)].map(([text, key = "", figures = "", digest = ""]) => ({
    ...{ text, key, figures, digest },
  }));
}

/** A place with figures in it. */
export function placeWith(key: string, figures: string): string {
  return `<!-- figures of ${key} -->\n${figures}<!-- end of figures, sha256 ${digestOf(figures)} -->`;
}

export function digestOf(figures: string): string {
  return new Bun.CryptoHasher("sha256").update(figures).digest("hex").slice(0, 16);
}

/** The command that recorded a place, and the commit that it ran on; undefined where nothing was recorded. */
export function recordedIn({ figures }: FigurePlace): { command: string; commit: string } | undefined {
  const [, command, commit] = /^`\.\/scripts\/(.+)`: .*\bLintel [^ +,]*\+?([0-9a-f]*)/m.exec(figures) ?? [];
  return command === undefined ? undefined : { command, commit: commit ?? "" };
}

/** The text of a document. */
export function documentText(path: string): Promise<string> {
  return Bun.file(join(root, path)).text();
}
