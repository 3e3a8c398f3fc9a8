import { constants, deflateRawSync } from "node:zlib";

/** A part of a stream, which is compressed once for all who read it. */
export class StreamPart {
  #blocks: Uint8Array | undefined;

  constructor(readonly bytes: Uint8Array) {}

  /** Whole blocks of deflate that refer to no others and are not the last, to the end of a byte (RFC 1951 §3.2.3). */
  get blocks(): Uint8Array {
    this.#blocks ??= deflateRawSync(this.bytes, { finishFlush: constants.Z_SYNC_FLUSH });
    return this.#blocks;
  }
}

/** A stream of gzip (RFC 1952) made of parts, each of which can be read when it has come. No memory is kept for what was sent. */
export class GzipStream {
  #sum = 0;
  #length = 0;

  /** The bytes of the next part. */
  next(part: StreamPart): Uint8Array {
    const isFirst = this.#length === 0;
    this.#sum = Bun.hash.crc32(part.bytes, this.#sum);
    this.#length += part.bytes.length;
    return isFirst ? Buffer.concat([header, part.blocks]) : part.blocks;
  }

  /** The bytes after the last part. */
  end(): Uint8Array {
    const bytes = new Uint8Array(lastBlock.length + 8);
    bytes.set(lastBlock);
    const view = new DataView(bytes.buffer);
    view.setUint32(lastBlock.length, this.#sum, true);
    view.setUint32(lastBlock.length + 4, this.#length, true);
    return bytes;
  }
}

/** Deflate, no name, no time, of Unix. */
const header = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3);
/** Empty, with fixed codes, and the last. */
const lastBlock = [3, 0];
