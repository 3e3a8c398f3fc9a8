import { expect, test } from "bun:test";
import {
  isPlainLines,
  plainJson,
  plainLine,
  plainLines,
  plainWords,
  shortLine,
} from "../../src/base/text.ts";
import { shownLine } from "../../src/cli/terminal.ts";

/** Every character that acts instead of showing something, by its code point. */
const acting = [
  ...span(0x00, 0x1f),
  ...span(0x7f, 0x9f),
  ...span(0x2028, 0x2029),
  ...span(0x202a, 0x202e),
  ...span(0x2066, 0x2069),
  0xfeff,
  0xd800,
  0xdfff,
];
const lineEnds = "\t\n\v\f\r\u0085\u2028\u2029";

test.each(acting)("U+%i is neither in a line, nor in lines, nor in JSON as it is", (code) => {
  const character = String.fromCharCode(code);
  const blank = lineEnds.includes(character) ? " " : "";
  expect(plainLine(`a${character}b`)).toBe(`a${blank}b`);
  const kept = "\t\n\r".includes(character) ? character : "";
  expect(plainLines(`a${character}b`)).toBe(`a${kept}b`);
  expect(isPlainLines(`a${character}b`)).toBe(kept !== "");
  expect(plainJson({ a: character })).not.toContain(character);
  expect(JSON.parse(plainJson({ [character]: [character] }))).toEqual({ [character]: [character] });
});

test.each(["שרה כהן\u200f", "محمد\u061c", "می‌خواهم", "👩‍👩‍👧 Zoë Ångström", "’s-Hertogenbosch", "山田 太郎"])(
  "%s stays as it is",
  (name) => {
    expect(plainLine(name)).toBe(name);
    expect(plainLines(name)).toBe(name);
    expect(plainJson(name)).toBe(JSON.stringify(name));
  },
);

test("blanks within a line stay, and those around a line end are one", () => {
  expect(plainLine("  a   b  ")).toBe("  a   b  ");
  expect(plainLine("a \r\n \n  b")).toBe("a b");
});

test("a line that is cut short ends with a whole character", () => {
  expect(shortLine("ab😀c", 3)).toBe("ab…");
  expect(shortLine("abc", 3)).toBe("abc");
});

test("a value of words has plain ones at every depth, also as names, and is itself where they are plain", () => {
  const given = { "a\n": [{ model: "x\u001b[2J " }, 7, null, undefined, true] };
  expect(plainWords(given)).toEqual({ a: [{ model: "x[2J" }, 7, null, undefined, true] } as never);
  const plain = { a: [" x "] };
  expect(plainWords(plain)).toBe(plain);
});

test("of what acts on a terminal only the colours of this program get through, and none in a pipe", () => {
  const line = "\u001b[32mgood\u001b[39m \u001b[8mhidden\u001b[2J\u009b31m\u001b]0;title\u0007\r\n\u001b[5A";
  expect(shownLine(line, { coloured: true })).toBe("\u001b[32mgood\u001b[39m [8mhidden[2J31m]0;title [5A");
  expect(shownLine(line, { coloured: false })).toBe("[32mgood[39m [8mhidden[2J31m]0;title [5A");
});

function span(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}
