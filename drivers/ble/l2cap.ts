/** Basic frames of L2CAP: length, channel, data. Core 5.4, Vol 3, Part A, 3.1. */

/** Fixed channels of an LE link, Vol 3, Part A, 2.1. */
export const channel = { att: 0x0004, signalling: 0x0005, security: 0x0006 } as const;

export interface L2capFrame {
  readonly channel: number;
  readonly data: Uint8Array;
}

export function encodeL2cap({ channel: to, data }: L2capFrame): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(data.length, 0);
  head.writeUInt16LE(to, 2);
  return Buffer.concat([head, data]);
}

/** Puts the pieces of a link's data together; a frame is at most `frame_bytes_max` long. */
export class L2capReader {
  #pieces: Buffer = Buffer.alloc(0);

  /** The frame that this piece completes. */
  read(piece: { first: boolean; data: Uint8Array }): L2capFrame | undefined {
    this.#pieces = piece.first ? Buffer.from(piece.data) : Buffer.concat([this.#pieces, piece.data]);
    if (this.#pieces.length > frame_bytes_max) this.#pieces = Buffer.alloc(0);
    if (this.#pieces.length < 4) return undefined;
    const length = this.#pieces.readUInt16LE(0);
    if (this.#pieces.length < 4 + length) return undefined;
    const frame = { channel: this.#pieces.readUInt16LE(2), data: this.#pieces.subarray(4, 4 + length) };
    this.#pieces = Buffer.alloc(0);
    return frame;
  }
}

const frame_bytes_max = 4_096;
