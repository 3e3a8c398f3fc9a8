import { expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { GzipStream, StreamPart } from "../../../src/web/server/gzip-stream.ts";

test("parts that several streams share are whole files of gzip, whatever each of them has had before", () => {
  const encode = (text: string) => new StreamPart(new TextEncoder().encode(text));
  const [first, second, third] = ["one ".repeat(1_000), "", "two ✓"].map(encode) as [
    StreamPart,
    StreamPart,
    StreamPart,
  ];
  const read = (parts: readonly StreamPart[]) => {
    const stream = new GzipStream();
    const bytes = [...parts.map((part) => stream.next(part)), stream.end()];
    return gunzipSync(Buffer.concat(bytes)).toString();
  };
  expect(read([first, second, third])).toBe(`${"one ".repeat(1_000)}two ✓`);
  expect(read([third, third, first])).toBe(`two ✓two ✓${"one ".repeat(1_000)}`);
  expect(first.blocks.length).toBeLessThan(100);
});
