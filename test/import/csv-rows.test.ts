import { expect, test } from "bun:test";
import { csvRows } from "../../src/import/csv-records.ts";
import { type TextBlock, UnreadableFile } from "../../src/import/record-files.ts";

test("rows end with LF or CRLF, the last one also with nothing, and empty lines are none", async () => {
  expect(await rowsOf("a,b\r\n1,2\n\n\r\n3,4")).toEqual([
    { line: 1, cells: ["a", "b"] },
    { line: 2, cells: ["1", "2"] },
    { line: 5, cells: ["3", "4"] },
  ]);
});

test("a quoted cell holds commas, doubled quotes and lines, which count", async () => {
  expect(await rowsOf('a,b\r\n"x,""y""",2\r\n"one\r\ntwo\nthree",4\r\n5,""\r\n')).toEqual([
    { line: 1, cells: ["a", "b"] },
    { line: 2, cells: ['x,"y"', "2"] },
    { line: 3, cells: ["one\r\ntwo\nthree", "4"] },
    { line: 6, cells: ["5", ""] },
  ]);
});

test("empty cells are cells, also the last of the last line", async () => {
  expect(await rowsOf(",,\n1,,")).toEqual([
    { line: 1, cells: ["", "", ""] },
    { line: 2, cells: ["1", "", ""] },
  ]);
});

test("quotes that don't add up are found on their own line", async () => {
  expect(await faultOf('a,b\n1,2\n"x\ny","z\nz2')).toEqual([4, "a quote is opened here and never closed"]);
  expect(await faultOf('a,b\n1,2\n"x\ny"z,3\n')).toEqual([
    4,
    "a closing quote is followed by more text: double the quotes within a cell",
  ]);
  expect(await faultOf('a,b\n1,2\n5" pipe,3\n')).toEqual([
    3,
    "a quote stands inside a cell that does not begin with one: put the cell in quotes and double those within",
  ]);
});

test("a quote that is never closed doesn't take the rest of a large file into memory", async () => {
  const block = `${"x".repeat(1_000)}\n`.repeat(1_000);
  let given = 0;
  async function* blocks(): AsyncGenerator<TextBlock> {
    yield { text: 'a\n"', line: 1, bytesRead: 3 };
    for (; given < 1_000; given++) yield { text: block, line: 2 + given * 1_000, bytesRead: 0 };
  }
  const thrown = await Array.fromAsync(csvRows(blocks())).catch((fault: unknown) => fault);
  expect(thrown).toBeInstanceOf(UnreadableFile);
  expect((thrown as UnreadableFile).line).toBe(2);
  expect(given).toBeLessThan(10);
});

test("what was written comes back, however the text is cut into blocks", async () => {
  const pieces = ["", "a", ",", '"', "\n", "\r\n", "é", "x y", '""', ",,", "7"];
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let round = 0; round < 300; round++) {
    const table = Array.from({ length: 1 + next(5) }, () =>
      Array.from({ length: 2 + next(3) }, () =>
        Array.from({ length: next(4) }, () => pieces[next(pieces.length)]).join(""),
      ),
    );
    const quoted = (cell: string) =>
      /[",\r\n]/.test(cell) || next(3) === 0 ? `"${cell.replaceAll('"', '""')}"` : cell;
    const text = table.map((row) => `${row.map(quoted).join(",")}${next(2) ? "\r\n" : "\n"}`).join("");
    const rows = await rowsOf(text);
    expect(rows.map(({ cells }) => cells)).toEqual(table);
    let line = 1;
    for (const [index, row] of table.entries()) {
      expect(rows[index]?.line).toBe(line);
      line += 1 + row.join("").split("\n").length - 1;
    }
  }
});

/** Rows of a text that arrives as one block, and the same of one that arrives line by line. */
async function rowsOf(text: string) {
  const whole = (await Array.fromAsync(csvRows(inBlocks([text])))).flat();
  const byLine = (await Array.fromAsync(csvRows(inBlocks(text.split(/(?<=\n)/))))).flat();
  expect(byLine).toEqual(whole);
  return whole.map((row) => ({ line: row[0]?.line, cells: row.map(({ value }) => value) }));
}

async function faultOf(text: string): Promise<[number, string]> {
  const thrown = await rowsOf(text).catch((fault: unknown) => fault);
  expect(thrown).toBeInstanceOf(UnreadableFile);
  const { line, expected } = thrown as UnreadableFile;
  return [line, expected];
}

async function* inBlocks(texts: readonly string[]): AsyncGenerator<TextBlock> {
  let line = 1;
  for (const text of texts) {
    yield { text, line, bytesRead: 0 };
    line += text.split("\n").length - 1;
  }
}
