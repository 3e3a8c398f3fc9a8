import { Glob } from "bun";
import { root } from "../../testbed/source-files.ts";

/** A sentence of a document: its first line in the file, its words, and its text on one line. */
export interface Sentence {
  readonly path: string;
  readonly line: number;
  readonly words: number;
  readonly text: string;
}

/** Longer sentences are hard to read for people who have English as a third language. */
export const words_max = 25;

/** Every document that users and developers read. CHANGELOG.md is a list, and not counted. */
export function documents(): string[] {
  const pages = [...new Glob("docs/**/*.md").scanSync({ cwd: root })];
  return ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", ...pages.toSorted()];
}

/**
 * Sentences of a Markdown text. A code span or a URL counts as one word, a link by its text; code blocks and headings
 * are left out; a list item or a cell of a table ends a sentence. A list of models or figures is one word, too. Anything
 * below five words is no sentence, as most cells of tables are none.
 */
export function sentencesOf(path: string, markdown: string): Sentence[] {
  return blocksOf(markdown).flatMap(({ line, text }) =>
    plain(text)
      .split(/(?<=[.!?]["')*_]*)\s+(?=["'(*_]*[A-Z0-9])/)
      .map((sentence) => ({
        path,
        line,
        words: sentence.split(/\s+/).filter((word) => /[\p{L}\d]/u.test(word)).length,
        text: sentence,
      }))
      .filter(({ words }) => words > 4),
  );
}

/** Paragraphs, list items and cells of tables, each with the line of the file where it begins. */
function blocksOf(markdown: string): { line: number; text: string }[] {
  const blocks: { line: number; text: string }[] = [];
  let open: { line: number; text: string } | undefined;
  let fenced = false;
  for (const [index, raw] of markdown.split("\n").entries()) {
    const line = raw.trim();
    const begins = /^([-*+]|\d+\.)\s+/;
    if (/^(```|~~~)/.test(line)) fenced = !fenced;
    if (fenced || line === "" || /^(```|~~~|#|<)/.test(line)) open = undefined;
    else if (line.startsWith("|")) {
      open = undefined;
      const cells = line.replaceAll(/`[^`]*`/g, "Code").split("|");
      blocks.push(...cells.map((text) => ({ line: index + 1, text })));
    } else if (open === undefined || begins.test(line)) {
      open = { line: index + 1, text: line.replace(begins, "") };
      blocks.push(open);
    } else open.text += ` ${line}`;
  }
  return blocks;
}

function plain(text: string): string {
  return text
    .replaceAll(/`[^`]*`/g, "Code")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/https?:\/\/\S+/g, "URL")
    .replaceAll(/[^\s,]*\d[^\s,]*(?:, [^\s,]*\d[^\s,]*)+/g, "List")
    .replaceAll(/\b(e\.g|i\.e|etc|vs|approx)\./g, "$1")
    .trim();
}

// Lists the long sentences of the named documents, or of all, and the share of them.
if (import.meta.main) {
  const named = process.argv.length > 2 ? process.argv.slice(2) : documents();
  const all = await Promise.all(
    named.map(async (path) => sentencesOf(path, await Bun.file(`${root}/${path}`).text())),
  );
  for (const sentences of all) {
    const long = sentences.filter(({ words }) => words > words_max);
    for (const { path, line, words, text } of long) console.log(`${path}:${line}: ${words} words: ${text}`);
  }
  for (const [index, sentences] of all.entries()) {
    const long = sentences.filter(({ words }) => words > words_max).length;
    console.log(`${named[index]}: ${long} of ${sentences.length} sentences are long`);
  }
  const every = all.flat();
  const long = every.filter(({ words }) => words > words_max).length;
  console.log(`all: ${long} of ${every.length}, ${((100 * long) / every.length).toFixed(1)} %`);
}
