import { expect, test } from "bun:test";
import { join } from "node:path";
import { root } from "../../testbed/source-files.ts";
import { documents, sentencesOf, words_max } from "./sentences.ts";

/** Share of the documents' sentences that may have more than `words_max` words. */
const longShare_max = 0.03;

test("the documents are written in short sentences", async () => {
  const sentences = await Promise.all(
    documents().map(async (path) => sentencesOf(path, await Bun.file(join(root, path)).text())),
  );
  const all = sentences.flat();
  const long = all.filter(({ words }) => words > words_max);
  const listed = long.map(({ path, line, words, text }) => `${path}:${line}: ${words} words: ${text}`);
  expect(long.length / all.length <= longShare_max ? [] : listed).toEqual([]);
});

test("a sentence is counted over lines, and apart by list item and cell", () => {
  const text = `# A heading of four words

One sentence that goes on to
another line. Then \`a span of code\` counts as one!

- an item with a few words
- another [item with a link](https://example.org/a/b) and A1, B2, C3
- too short

| a cell with five words | one |
|---|---|

\`\`\`sh
a line of code is left out
\`\`\`
`;
  const counted = sentencesOf("page.md", text).map(({ line, words }) => [line, words]);
  expect(counted).toEqual([
    [3, 8],
    [3, 5],
    [6, 6],
    [7, 7],
    [10, 5],
  ]);
});
