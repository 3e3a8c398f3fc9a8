import { expect, test } from "bun:test";
import { jsonRecords } from "../../src/import/json-document.ts";
import type { RawReceiver } from "../../src/import/raw-record.ts";
import type { TextBlock } from "../../src/import/text-blocks.ts";

const document = String.raw`{
  "homes": [
    {"homeid": 1, "address": "}]{[\",\\"},
    { "homeid": 2,

      "address": null }, {"homeid": 3}
  ],
  "colours": [{"a": {"b": [1]}}],
  "home_inventory" : [ {"homeid":1,
    "item": {"itemid": 4, "x": [{}]}, "start": 5}]
}
`;

const found = [
  ["homes", 3, { homeid: [1, 3], address: ['}]{[",\\', 3] }],
  ["homes", 4, { homeid: [2, 4], address: [null, 6] }],
  ["homes", 6, { homeid: [3, 6] }],
  ["home_inventory", 9, { homeid: [1, 9], item: [{ itemid: 4, x: [{}] }, 10], start: [5, 10] }],
];

for (const length of [1, 2, 3, 7, 64, document.length]) {
  test(`records come out of a document whole, each value with its line, in blocks of ${length}`, async () => {
    const records: unknown[] = [];
    const faults: unknown[] = [];
    const receiver: RawReceiver = {
      record: ({ type, line, names, values, lineOf }) => {
        const fields = names.map((name, index) => [name, [values[index], lineOf(index)]]);
        records.push([type, line, Object.fromEntries(fields)]);
      },
      fault: (line, { given }) => faults.push([line, given]),
      brokenOff: () => faults.push("broken off"),
    };
    await Array.fromAsync(jsonRecords(inBlocks(length), receiver));
    expect(records).toEqual(found);
    expect(faults).toEqual([[8, '"colours"']]);
  });
}

async function* inBlocks(length: number): AsyncGenerator<TextBlock> {
  for (let start = 0; start < document.length; start += length) {
    yield { text: document.slice(start, start + length), line: 1, bytesRead: 0 };
  }
}
