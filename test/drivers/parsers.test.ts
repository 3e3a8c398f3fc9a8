import { describe, expect, test } from "bun:test";
import { fuzz } from "../../scripts/trial-programs/with-source/fuzz/fuzzing.ts";
import { messageParsers, streamParsers } from "../../scripts/trial-programs/with-source/fuzz/parsers.ts";
import { numbers } from "../../testbed/numbers.ts";

for (const { name, samples, recovers, open } of streamParsers) {
  describe(name, () => {
    const whole = new Uint8Array(Buffer.concat([...samples]));
    const expected = open().push(whole);

    test("each sample holds something", () => {
      for (const sample of samples) expect(open().push(sample)).not.toEqual([]);
      expect(expected.length).toBeGreaterThanOrEqual(samples.length);
    });

    test("finds the same byte by byte as in one gulp, and holds nothing back", () => {
      const parser = open();
      expect([...whole].flatMap((byte) => parser.push(Uint8Array.of(byte)))).toEqual(expected);
      expect(parser.held_bytes ?? 0).toBe(0);
    });

    test("finds the same in pieces of any size", () => {
      const random = numbers(11);
      for (let round = 0; round < 50; round += 1) {
        const parser = open();
        const found: unknown[] = [];
        for (let from = 0; from < whole.length; ) {
          const to = from + 1 + Math.floor(random() * 40);
          found.push(...parser.push(whole.subarray(from, to)));
          from = to;
        }
        expect(found).toEqual(expected);
      }
    });

    test("finds nothing in what is cut short that was not whole", () => {
      const first = samples[0] ?? new Uint8Array();
      const full = open().push(first).length;
      for (let length = 0; length < first.length; length += 1) {
        expect(open().push(first.subarray(0, length)).length).toBeLessThanOrEqual(full);
      }
      expect(open().push(first.subarray(0, 3))).toEqual([]);
    });

    // A form without start marks has no way back: nothing is claimed of it.
    if (recovers)
      test("finds its way again after garbage and after a piece that was cut", () => {
        const random = numbers(5);
        for (let round = 0; round < 200; round += 1) {
          const garbage = Uint8Array.from({ length: Math.floor(random() * 3_000) }, () =>
            Math.floor(random() * 256),
          );
          const cut = whole.subarray(0, Math.floor(random() * whole.length));
          const parser = open();
          // The frame right after the garbage may be lost with it, and no later one.
          parser.push(new Uint8Array(Buffer.concat([garbage, cut])));
          parser.push(samples.at(-1) ?? whole);
          expect(parser.push(whole)).toEqual(expected);
        }
      });
  });
}

for (const { name, samples, parse } of messageParsers) {
  test(`${name}: a sample is understood, and cut short anywhere it is refused or understood, never thrown`, () => {
    for (const sample of samples) {
      expect(parse(sample)).toBeDefined();
      expect(typeof parse(sample)).not.toBe("string");
      for (let length = 0; length < sample.length; length += 1) parse(sample.subarray(0, length));
      parse(new Uint8Array([...sample, ...sample]));
    }
  });
}

test("50,000 mutated frames over all parsers: no crash, no growth; ./scripts/trials fuzz frames tries ten million", async () => {
  const { frames, taken, held_most, heap_first, heap_last } = await fuzz({
    seed: Number(process.env["LINTEL_TEST_SEED"] ?? 1),
    frames: 50_000,
  });
  expect(taken).toBeWithin(frames / 20, frames);
  expect(held_most).toBeLessThanOrEqual(4_096);
  expect(heap_last - heap_first).toBeLessThan(8 * 1024 * 1024);
});
