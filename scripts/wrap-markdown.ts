import { join } from "node:path";
import { repositoryFiles, root } from "../testbed/source-files.ts";

/** Columns of a line of Markdown, where its words allow it. */
const columns_max = 100;

/** Regions that stay as they are: code, and the figures that a run of a benchmark or trial records. */
const regions: readonly { readonly begins: RegExp; readonly ends: RegExp }[] = [
  { begins: /^\s*```/, ends: /^\s*```\s*$/ },
  { begins: /^<!-- figures of /, ends: /^<!-- end of figures\b/ },
];
/** Headings, tables, HTML and the targets of links. */
const keptLine = /^\s*(#{1,6} |\||<)|^\[[^\]]+\]: /;
const item = /^(\s*(?:[-*+]|\d+\.))\s+/;

interface Paragraph {
  /** The beginning of its first line: the indentation, and the mark of a list. */
  readonly first: string;
  text: string;
}

/**
 * A Markdown text with each paragraph and item of a list wrapped anew, so that a change of a word changes a few lines
 * and two people write the same form. Everything else stays as it is.
 */
export function wrapped(markdown: string): string {
  const lines: string[] = [];
  let open: Paragraph | undefined;
  let regionEnds: RegExp | undefined;
  const close = () => {
    if (open !== undefined) lines.push(...linesOf(open));
    open = undefined;
  };
  for (const line of markdown.split("\n")) {
    if (regionEnds !== undefined) {
      lines.push(line);
      if (regionEnds.test(line)) regionEnds = undefined;
      continue;
    }
    regionEnds = regions.find(({ begins }) => begins.test(line))?.ends;
    const mark = item.exec(line);
    if (regionEnds !== undefined || line.trim() === "" || keptLine.test(line)) {
      close();
      lines.push(line.trimEnd());
    } else if (mark !== null) {
      close();
      open = { first: `${mark[1]} `, text: line.slice(mark[0].length) };
    } else if (open !== undefined) open.text += ` ${line.trim()}`;
    else open = { first: /^\s*/.exec(line)?.[0] ?? "", text: line.trim() };
  }
  close();
  return lines.join("\n");
}

function linesOf({ first, text }: Paragraph): string[] {
  const lines: string[] = [];
  const indentation = " ".repeat(first.length);
  let line = "";
  for (const word of wordsOf(text)) {
    if (line !== "" && first.length + line.length + 1 + word.length > columns_max) {
      lines.push(line);
      line = word;
    } else line += line === "" ? word : ` ${word}`;
  }
  return [...lines, line].map((words, index) => `${index === 0 ? first : indentation}${words}`);
}

/** The words between which a line may end: a code span is one, as is a mark of Markdown with the word before it. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const word of text.match(/(?:`[^`]*`|[^\s`])+/g) ?? []) {
    const last = words.at(-1);
    if (last !== undefined && /^([-+*=]|\d+[.)]|[#>|<].*|```.*)$/.test(word))
      words.push(`${words.pop()} ${word}`);
    else words.push(word);
  }
  return words;
}

/** Every Markdown file of the repository, from its root. */
export async function markdownFiles(): Promise<string[]> {
  return (await repositoryFiles()).filter((path) => path.endsWith(".md"));
}

if (import.meta.main)
  for (const path of await markdownFiles()) {
    const file = Bun.file(join(root, path));
    const text = await file.text();
    const form = wrapped(text);
    if (form === text) continue;
    await file.write(form);
    console.log(path);
  }
