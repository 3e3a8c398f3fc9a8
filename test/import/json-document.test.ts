import { expect, test } from "bun:test";
import { jsonRecords } from "../../src/import/json-records.ts";
import type { RawReceiver } from "../../src/import/record-files.ts";

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

test("records come out of a document whole, each value with its line", () => {
  const records: unknown[] = [];
  const faults: unknown[] = [];
  const receiver: RawReceiver = {
    record: ({ type, line, fields }) => {
      const values = [...fields].map(([name, field]) => [name, [field.value, field.line]]);
      records.push([type, line, Object.fromEntries(values)]);
    },
    fault: (line, { given }) => faults.push([line, given]),
    brokenOff: () => faults.push("broken off"),
    progress: () => {},
  };
  jsonRecords(document, receiver);
  expect(records).toEqual(found);
  expect(faults).toEqual([[8, '"colours"']]);
});
