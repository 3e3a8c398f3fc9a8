/**
 * 10,000,000 mutated frames over every parser of every driver: no crash, no hang, no growth of memory.
 *
 *   ./scripts/trials fuzz frames [--frames 10000000] [--seed N]
 *
 * The same seed tries the same frames. A crash names the parser and the bytes.
 */
import { figuresText } from "../../../figures.ts";
import { optionsOf } from "../../../program-options.ts";
import { fuzz } from "./fuzzing.ts";
import { messageParsers, streamParsers } from "./parsers.ts";

/** A thousand frames take a few milliseconds: this long is a hang that ended. */
const slowest_most_ms = 2_000;
/** Largest variation of the heap that does not count as growth. */
const growth_most_bytes = 8 * 1024 * 1024;
/** A line of a watch, the longest thing that any parser holds. */
const held_most_bytes = 4_096;

const { frames, seed } = optionsOf("./scripts/trials fuzz frames [--frames 10000000] [--seed N]", {
  frames: 10_000_000,
  seed: Math.floor(Math.random() * 2 ** 32),
});
console.log(
  `${frames} mutated frames over ${streamParsers.length + messageParsers.length} parsers, seed ${seed}`,
);
const began_ms = performance.now();
const result = await fuzz({
  seed,
  frames,
  progress: (done) => {
    if (process.stdout.isTTY) process.stdout.write(`\r${Math.floor((100 * done) / frames)} %`);
  },
});
const seconds = (performance.now() - began_ms) / 1000;
const growth = result.heap_last - result.heap_first;
if (process.stdout.isTTY) process.stdout.write("\r");
console.log(
  figuresText({
    "mutated frames": frames,
    parsers: streamParsers.length + messageParsers.length,
    seconds,
    understood: result.taken,
    "the slowest thousand, ms": result.slowest_ms,
    "most that a parser held back, bytes": result.held_most,
    "heap after a tenth, MB": megabytes(result.heap_first),
    "heap at the end, MB": megabytes(result.heap_last),
  }),
);
const faults = [
  ...(result.slowest_ms > slowest_most_ms ? [`a thousand frames took ${result.slowest_ms} ms`] : []),
  ...(growth > growth_most_bytes ? [`the heap grew by ${megabytes(growth)} MB`] : []),
  ...(result.held_most > held_most_bytes ? [`a parser held ${result.held_most} bytes`] : []),
];
for (const fault of faults) console.error(`fuzz: ${fault} (seed ${seed})`);
process.exit(faults.length === 0 ? 0 : 1);

function megabytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
