import type { Transform } from "node:stream";

/**
 * zigbee-herdsman's Z-Stack parser writes all the bytes that it holds into a debug message for each frame
 * that it takes from them, also when nobody reads it: work that grows with the square of what arrives at
 * once. After a pause of the process a megabyte may arrive at once. Handed to it in pieces of this size, it
 * keeps up: measured, 2,000 notifications in one read take 1.6 s at once and 0.1 s in pieces.
 */
const piece_bytes = 256;

/** A frame is at most 255 bytes: a parser that holds more than this holds bytes that start no frame. */
const held_max_bytes = 1024;

interface Parser extends Transform {
  buffer: Buffer;
}

type TransformMethod = (
  this: Parser,
  chunk: Buffer,
  encoding: BufferEncoding,
  done: (error?: Error | null) => void,
) => void;

/** What the parser's own method was before this module put itself in front of it. */
let original: TransformMethod | undefined;
let count: (what: string, bytes: number) => void = () => {};

/** Makes every Z-Stack parser take what it is given in small pieces, and lets go of endless garbage. */
export async function feedInSmallPieces(dropped: (what: string, bytes: number) => void): Promise<void> {
  count = dropped;
  if (original !== undefined) return;
  const { Parser } = await import("zigbee-herdsman/dist/adapter/z-stack/unpi/index.js");
  const prototype = Parser.prototype as unknown as { _transform: TransformMethod };
  const whole = prototype._transform;
  original = whole;
  prototype._transform = function (chunk, encoding, done) {
    for (let at = 0; at < chunk.length; at += piece_bytes) {
      whole.call(this, chunk.subarray(at, at + piece_bytes), encoding, () => {});
      if (this.buffer.length <= held_max_bytes) continue;
      count("zigbee bytes outside frames", this.buffer.length);
      this.buffer = Buffer.alloc(0);
    }
    done();
  };
}
