import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { jsonOf } from "../../drivers/mqtt/payload.ts";
import {
  DecodingFault,
  decodeJson,
  decodingBounds,
  expand,
  readAtMost,
} from "../../src/base/json-decoder.ts";
import { ControlClient } from "../../src/gateway/control-client.ts";
import { controlPath } from "../../src/gateway/control-server.ts";

const few = { bytes_max: 10_000, values_max: 100, numbers_max: 100 };
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** The kind of fault; undefined where there is none. */
function faultOf(decode: () => unknown): DecodingFault["kind"] | undefined {
  try {
    decode();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof DecodingFault) return thrown.kind;
    throw thrown;
  }
}

describe("what is within the bounds is read as JSON.parse reads it", () => {
  const texts = [
    "null",
    " -1.5e-3\n",
    '""',
    String.raw`"a \"quoted\" [word], \\"`,
    String.raw`["\\", "\\\"", "]", {"a\"}": [1, true, "\u005b"]}]`,
    '{"a":{"b":[[],{}]},"é":"€"}',
  ];
  for (const text of texts)
    test(text, () => expect(decodeJson(bytesOf(text), few)).toEqual(JSON.parse(text)));
});

describe("counted are", () => {
  const list = (of: string, count: number) => bytesOf(`[${Array(count).fill(of).join(",")}]`);

  test("lists, objects, names and texts, each as a value", () => {
    // The list around them is one too.
    for (const [of, values] of [
      ["[]", 1],
      ["{}", 1],
      ['"a"', 1],
      ['{"a":"b"}', 3],
      ['[["a"]]', 3],
    ] as const) {
      const most = Math.floor((few.values_max - 1) / values);
      expect([of, faultOf(() => decodeJson(list(of, most), few))]).toEqual([of, undefined]);
      expect([of, faultOf(() => decodeJson(list(of, most + 1), few))]).toEqual([of, "values"]);
    }
  });

  test("numbers, true, false and null, apart from them", () => {
    for (const word of ["0", "-1.5e+3", "true", "false", "null"]) {
      expect(faultOf(() => decodeJson(list(word, few.numbers_max), few))).toBeUndefined();
      expect(faultOf(() => decodeJson(list(word, few.numbers_max + 1), few))).toBe("values");
    }
  });

  test("not what stands in a text", () => {
    const text = `"${'[{,1:\\"'.repeat(500)}"`;
    expect(decodeJson(bytesOf(text), few)).toBe(JSON.parse(text));
  });

  test("lists and objects within each other, 32 of them", () => {
    const nested = (depth: number) => bytesOf("[".repeat(depth) + "]".repeat(depth));
    expect(faultOf(() => decodeJson(nested(32), few))).toBeUndefined();
    expect(faultOf(() => decodeJson(nested(33), few))).toBe("values");
  });
});

test("what is no JSON, or no UTF-8, is malformed", () => {
  for (const bytes of [
    bytesOf(""),
    bytesOf("["),
    bytesOf("]"),
    bytesOf('"a'),
    bytesOf("1 2"),
    Uint8Array.of(0x22, 0xff, 0x22),
  ])
    expect(faultOf(() => decodeJson(bytes, few))).toBe("malformed");
});

test("a coding that nobody asked for is not undone, and one ends at the bound", () => {
  const text = bytesOf("x".repeat(few.bytes_max));
  const more = bytesOf("x".repeat(few.bytes_max + 1));
  for (const [coding, pack] of [
    ["zstd", zstdCompressSync],
    ["gzip", gzipSync],
    ["identity", (bytes: Uint8Array) => bytes],
  ] as const) {
    expect(expand(pack(text), coding, few.bytes_max).length).toBe(text.length);
    expect(faultOf(() => expand(pack(more), coding, few.bytes_max))).toMatch(/bytes$/);
  }
  for (const coding of ["deflate", "br", "gzip, gzip", "compress", "__proto__"])
    expect(faultOf(() => expand(deflateSync(text), coding, few.bytes_max))).toBe("coding");
});

test("a stream is read no further than its bound", async () => {
  let pulled = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pulled += 1;
      controller.enqueue(new Uint8Array(1_000));
    },
  });
  const reader = endless.getReader();
  expect(await readAtMost(reader, few.bytes_max).catch((thrown) => thrown.kind)).toBe("bytes");
  expect(pulled).toBeLessThan(20);
  await reader.cancel();
});

test("every row of the table leaves a command below 250 MB, by what a value takes at most", () => {
  for (const [name, { bytes_max, values_max, numbers_max }] of Object.entries(decodingBounds)) {
    // The text as it comes, expanded, and as a text of two bytes a letter.
    const bytes = 4 * bytes_max + 120 * values_max + 27 * numbers_max;
    expect([name, bytes < 160_000_000]).toEqual([name, true]);
  }
});

test("a message of a hub has no more values than its bounds allow", () => {
  const lists = (count: number) => bytesOf(`[${Array(count).fill("[]").join(",")}]`);
  expect(jsonOf(lists(1_000))).toHaveLength(1_000);
  expect(jsonOf(lists(decodingBounds.hubMessage.values_max))).toBeUndefined();
});

describe("a program that listens in the place of a gateway", () => {
  const zeros = zstdCompressSync(new Uint8Array(256 * 1024 * 1024));
  const lists = `[${"[],".repeat(2_000_000)}[]]`;
  const liars: readonly [string, () => Response][] = [
    ["compressed", () => new Response(zeros, { headers: { "content-encoding": "zstd" } })],
    [
      "without end",
      () => new Response(new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(1 << 20)) })),
    ],
    ["of lists", () => new Response(lists)],
    ["a refusal of lists", () => new Response(lists, { status: 409 })],
  ];
  for (const [what, answer] of liars)
    test(`is read within bounds by lintel status and the updater: ${what}`, async () => {
      const directory = mkdtempSync(join(tmpdir(), "lintel-liar-"));
      const server = Bun.serve({ unix: controlPath(directory), fetch: answer });
      const before = process.memoryUsage.rss();
      try {
        const asked = new ControlClient(directory).statusIfRunning();
        expect(await asked.catch((thrown) => thrown.message)).toMatch(/does not speak as a gateway does \(/);
        expect(process.memoryUsage.rss() - before).toBeLessThan(128 * 1024 * 1024);
      } finally {
        await server.stop(true);
        rmSync(directory, { recursive: true });
      }
    });
});
