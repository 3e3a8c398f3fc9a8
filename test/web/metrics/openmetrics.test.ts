import { describe, expect, test } from "bun:test";
import { type Family, Histogram, openMetricsText } from "../../../src/web/metrics/openmetrics.ts";
import { parseOpenMetrics } from "./openmetrics-parser.ts";

const commits = new Histogram([0.01, 0.1, 1]);
for (const took_s of [0.001, 0.01, 0.05, 0.5, 3]) commits.observe(took_s);

const families: Family[] = [
  { name: "one_info", type: "info", help: "facts", labels: { version: '1 "a" \\ b\nc' } },
  { name: "two", type: "counter", help: 'a "quoted" \\ line\nand another', values: [{ value: 3 }] },
  { name: "three", unit: "seconds", type: "histogram", help: "times", histogram: commits },
  {
    name: "four",
    type: "stateset",
    help: "states",
    states: ["on", "off"],
    values: [{ labels: { of: "x" }, state: "off" }],
  },
  {
    name: "five",
    unit: "bytes",
    type: "gauge",
    help: "sizes",
    values: [
      { labels: { n: 1 }, value: -1.5 },
      { labels: { n: 2 }, value: Infinity },
    ],
  },
  { name: "six", type: "gauge", help: "nothing is known", values: [] },
];

describe("metrics as OpenMetrics text", () => {
  const text = openMetricsText(families);
  const parsed = parseOpenMetrics(text);

  test("are read by the grammar alone, with every character as it was", () => {
    expect(parsed.get("one_info")?.samples).toEqual([
      { name: "one_info_info", labels: { version: '1 "a" \\ b\nc' }, value: 1 },
    ]);
    expect(parsed.get("two")).toEqual({
      type: "counter",
      unit: "",
      help: 'a "quoted" \\ line\nand another',
      samples: [{ name: "two_total", labels: {}, value: 3 }],
    });
    expect(parsed.get("four")?.samples.map(({ labels, value }) => [labels, value])).toEqual([
      [{ of: "x", four: "on" }, 0],
      [{ of: "x", four: "off" }, 1],
    ]);
    expect(parsed.get("five_bytes")?.samples.map(({ value }) => value)).toEqual([
      -1.5,
      Number.POSITIVE_INFINITY,
    ]);
  });

  test("count a value that is a bound below it, and every value in +Inf", () => {
    expect(parsed.get("three_seconds")?.samples).toEqual([
      { name: "three_seconds_bucket", labels: { le: "0.01" }, value: 2 },
      { name: "three_seconds_bucket", labels: { le: "0.1" }, value: 3 },
      { name: "three_seconds_bucket", labels: { le: "1.0" }, value: 4 },
      { name: "three_seconds_bucket", labels: { le: "+Inf" }, value: 5 },
      { name: "three_seconds_count", labels: {}, value: 5 },
      { name: "three_seconds_sum", labels: {}, value: commits.sum },
    ]);
  });

  test("leave out what has no values", () => {
    expect(parsed.has("six")).toBe(false);
    expect(openMetricsText([])).toBe("# EOF\n");
  });
});

test.each([
  ["no end", "# TYPE a gauge\n# HELP a b\na 1\n"],
  ["a bare quote", '# TYPE a gauge\n# HELP a b\na{x="y"z"} 1\n# EOF\n'],
  ["a counter without _total", "# TYPE a counter\n# HELP a b\na 1\n# EOF\n"],
  ["two samples alike", "# TYPE a gauge\n# HELP a b\na 1\na 1\n# EOF\n"],
  ["a unit that the name lacks", "# TYPE a gauge\n# UNIT a bytes\n# HELP a b\na 1\n# EOF\n"],
  ["an empty line", "# TYPE a gauge\n# HELP a b\n\na 1\n# EOF\n"],
  [
    "a family in two pieces",
    "# TYPE a gauge\n# HELP a b\na 1\n# TYPE b gauge\n# HELP b b\nb 1\n# TYPE a gauge\n# EOF\n",
  ],
])("the parser of these tests refuses %s", (_, text) => {
  expect(() => parseOpenMetrics(text)).toThrow();
});
