import { numbers } from "../../../../testbed/numbers.ts";
import { messageParsers, type OpenParser, streamParsers } from "./parsers.ts";

/** Result of a run. */
export interface Fuzzed {
  readonly frames: number;
  /** Frames that were still taken for something, and so went deeper than the first check. */
  readonly taken: number;
  /** The longest that a thousand frames took. */
  readonly slowest_ms: number;
  /** Heap in use after the first tenth and at the end, bytes. */
  readonly heap_first: number;
  readonly heap_last: number;
  /** The most that a parser held back, bytes. */
  readonly held_most: number;
}

/** Frames that one stream parser gets before a new one is made. */
const stream_frames_max = 5_000;

/**
 * Feeds mutated samples to all parsers in turn, the same for the same seed. Throws with parser, seed and bytes when one
 * throws; a parser that hangs, hangs here.
 */
export async function fuzz(options: {
  seed: number;
  frames: number;
  progress?: (done: number) => void;
}): Promise<Fuzzed> {
  const random = numbers(options.seed);
  const targets = [...streamTargets(), ...messageTargets()];
  let taken = 0;
  let slowest_ms = 0;
  let held_most = 0;
  let heap_first = 0;
  let began_ms = performance.now();
  for (let done = 0; done < options.frames; done += 1) {
    const target = targets[done % targets.length] as Target;
    const frame = mutated(target.samples, random);
    try {
      if (target.feed(frame, random)) taken += 1;
    } catch (thrown) {
      throw new Error(
        `${target.name}, seed ${options.seed}, frame ${done}: ${Buffer.from(frame).toString("hex")}`,
        { cause: thrown },
      );
    }
    held_most = Math.max(held_most, target.held_bytes());
    if (done % 1_000 === 999) {
      const now_ms = performance.now();
      slowest_ms = Math.max(slowest_ms, now_ms - began_ms);
      // A decompressor that has refused its input lets go of its memory in a later turn, as servers have them.
      await new Promise(setImmediate);
      began_ms = performance.now();
    }
    if (done === Math.floor(options.frames / 10)) heap_first = heapInUse();
    if (done % 100_000 === 0) options.progress?.(done);
  }
  return { frames: options.frames, taken, slowest_ms, heap_first, heap_last: heapInUse(), held_most };
}

interface Target {
  readonly name: string;
  readonly samples: readonly Uint8Array[];
  /** True when something was found. */
  feed(frame: Uint8Array, random: () => number): boolean;
  held_bytes(): number;
}

function streamTargets(): Target[] {
  return streamParsers.map(({ name, samples, open }) => {
    let parser: OpenParser = open();
    let frames = 0;
    return {
      name,
      samples,
      held_bytes: () => parser.held_bytes ?? 0,
      feed: (frame, random) => {
        if (++frames % stream_frames_max === 0) parser = open();
        const cut = Math.floor(random() * frame.length);
        return parser.push(frame.subarray(0, cut)).length + parser.push(frame.subarray(cut)).length > 0;
      },
    };
  });
}

function messageTargets(): Target[] {
  return messageParsers.map(({ name, samples, parse }) => ({
    name,
    samples,
    held_bytes: () => 0,
    feed: (frame) => typeof parse(frame) === "object",
  }));
}

/** A sample with a few things done to it, or none. */
export function mutated(samples: readonly Uint8Array[], random: () => number): Uint8Array {
  const pick = () => samples[Math.floor(random() * samples.length)] ?? new Uint8Array();
  let bytes: Uint8Array = pick().slice();
  for (let times = Math.floor(random() * 4); times > 0; times -= 1) {
    const mutation = mutations[Math.floor(random() * mutations.length)];
    bytes = mutation?.(bytes, random, pick()) ?? bytes;
  }
  return bytes;
}

type Mutation = (bytes: Uint8Array, random: () => number, other: Uint8Array) => Uint8Array;

const at = (bytes: Uint8Array, random: () => number) => Math.floor(random() * (bytes.length + 1));

const mutations: readonly Mutation[] = [
  (bytes, random) => {
    const place = at(bytes, random);
    if (place < bytes.length) bytes[place] = (bytes[place] ?? 0) ^ (1 << Math.floor(random() * 8));
    return bytes;
  },
  (bytes, random) => {
    const place = at(bytes, random);
    if (place < bytes.length) bytes[place] = edges[Math.floor(random() * edges.length)] ?? 0;
    return bytes;
  },
  (bytes, random) => bytes.slice(0, at(bytes, random)),
  (bytes, random) => bytes.slice(at(bytes, random)),
  (bytes, random, other) => joined(bytes.subarray(0, at(bytes, random)), other.subarray(at(other, random))),
  (bytes, random) => {
    const place = at(bytes, random);
    const noise = Uint8Array.from({ length: Math.floor(random() * 12) }, () => Math.floor(random() * 256));
    return joined(bytes.subarray(0, place), noise, bytes.subarray(place));
  },
];

/** Values at which lengths, signs, flags, escapes and line ends change their meaning. */
const edges = [0x00, 0x01, 0x0a, 0x0d, 0x22, 0x7b, 0x7d, 0x7e, 0x7f, 0x80, 0xfe, 0xff];

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

function heapInUse(): number {
  Bun.gc(true);
  return process.memoryUsage().heapUsed;
}
