/** A part of a text, from one heading to the next. */
export interface Section {
  /** The address of the text, and of the heading in it. */
  readonly href: string;
  readonly document: string;
  readonly heading: string;
  /** Without marks of Markdown: a line a paragraph, an item of a list, or a row of a table. */
  readonly text: string;
  /** Its examples of code. They are searched, and no excerpt shows them. */
  readonly code: string;
}

/** A section that has all words that were looked for. */
export interface FoundSection extends Section {
  /** The sentence in which the first word stands, and what follows it. */
  readonly excerpt: string;
}

/**
 * The sections that have every word, the best first: a word in a heading counts for ten in the text.
 *
 * @param asked words, of which the first 8 count
 */
export function searchSections(sections: readonly Section[], asked: string): FoundSection[] {
  const words = asked.toLowerCase().split(/\s+/u).filter(Boolean).slice(0, words_max);
  if (words.length === 0) return [];
  return sections
    .map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, found_max)
    .map(({ section }) => ({ ...section, excerpt: excerptOf(section.text, words) }));
}

const words_max = 8;
const found_max = 30;

/** 0 where a word is missing. */
function scoreOf({ heading, document, text, code }: Section, words: readonly string[]): number {
  const titles = `${document} ${heading}`.toLowerCase();
  const body = `${text} ${code}`.toLowerCase();
  let score = 0;
  for (const word of words) {
    const found = Math.min(body.split(word).length - 1, 5) + (titles.includes(word) ? 10 : 0);
    if (found === 0) return 0;
    score += found;
  }
  return score;
}

/** From the beginning of a sentence on: of the one with the first word, or of the section where only its code or heading has one. */
function excerptOf(text: string, words: readonly string[]): string {
  const lines = text.split("\n");
  const placeIn = (line: string) =>
    Math.min(...words.map((word) => line.toLowerCase().indexOf(word)).filter((at) => at >= 0), line.length);
  const line = lines.find((one) => placeIn(one) < one.length) ?? lines[0] ?? "";
  const before = line.slice(0, placeIn(line));
  const from = before.length === line.length ? 0 : before.lastIndexOf(". ") + 1;
  const rest = line.slice(from).trim();
  if (rest.length <= excerpt_length) return rest;
  return `${rest.slice(0, excerpt_length + 1).replace(/\s+\S*$/u, "")} …`;
}

const excerpt_length = 220;
