/** A part of a text, from one heading to the next. */
export interface Section {
  /** The address of the text, and of the heading in it. */
  readonly href: string;
  readonly document: string;
  readonly heading: string;
  /** Without marks of Markdown. */
  readonly text: string;
}

/** A section that has all words that were looked for. */
export interface FoundSection extends Section {
  /** Where the first word stands, in its surroundings. */
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
function scoreOf({ heading, document, text }: Section, words: readonly string[]): number {
  const titles = `${document} ${heading}`.toLowerCase();
  const body = text.toLowerCase();
  let score = 0;
  for (const word of words) {
    const found = Math.min(body.split(word).length - 1, 5) + (titles.includes(word) ? 10 : 0);
    if (found === 0) return 0;
    score += found;
  }
  return score;
}

function excerptOf(text: string, words: readonly string[]): string {
  const body = text.toLowerCase();
  const first = Math.min(...words.map((word) => body.indexOf(word)).filter((at) => at >= 0), text.length);
  const from = Math.max(0, first - 60);
  const excerpt = text.slice(from, from + excerpt_length).trim();
  return `${from > 0 ? "… " : ""}${excerpt}${from + excerpt_length < text.length ? " …" : ""}`;
}

const excerpt_length = 220;
