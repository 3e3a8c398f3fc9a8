/**
 * Frames of deCONZ firmware on its serial port: SLIP (RFC 1055) around `command sequence status length[2] …` and a
 * checksum, the two's complement of the sum of all bytes. Source: dresden elektronik, deCONZ serial protocol.
 */
export interface DeconzFrame {
  readonly command: number;
  readonly sequence: number;
  readonly status: number;
  /** All that follows the length. */
  readonly data: Buffer;
}

export function encodeDeconz({ command, sequence, status, data }: DeconzFrame): Buffer {
  const frame = Buffer.concat([Buffer.from([command, sequence, status, 0, 0]), data, Buffer.alloc(2)]);
  const end = frame.length - checksum_bytes;
  frame.writeUInt16LE(end, length_at);
  frame.writeUInt16LE(checksum(frame.subarray(0, end)), end);
  const bytes: number[] = [slip.end];
  for (const byte of frame) {
    if (byte === slip.end) bytes.push(slip.escape, slip.escapedEnd);
    else if (byte === slip.escape) bytes.push(slip.escape, slip.escapedEscape);
    else bytes.push(byte);
  }
  bytes.push(slip.end);
  return Buffer.from(bytes);
}

/** Takes frames out of a stream of bytes that may hold anything. What is no frame is thrown away and counted. */
export class DeconzReader {
  discarded_bytes = 0;
  #held: number[] = [];
  #escaped = false;

  read(chunk: Uint8Array): DeconzFrame[] {
    const frames: DeconzFrame[] = [];
    for (const byte of chunk) {
      if (byte === slip.end) {
        const frame = decode(Buffer.from(this.#held));
        if (frame === undefined) this.discarded_bytes += this.#held.length;
        else frames.push(frame);
        this.#held = [];
        this.#escaped = false;
      } else if (byte === slip.escape) this.#escaped = true;
      else if (this.#held.length < frame_max_bytes) {
        this.#held.push(this.#escaped ? (unescaped.get(byte) ?? byte) : byte);
        this.#escaped = false;
      } else this.discarded_bytes += 1;
    }
    return frames;
  }
}

/** Undefined where it is none. Some requests of hosts have a length that counts less than all of their bytes. */
function decode(frame: Buffer): DeconzFrame | undefined {
  const end = frame.length - checksum_bytes;
  if (end < header_bytes || checksum(frame.subarray(0, end)) !== frame.readUInt16LE(end)) return undefined;
  return {
    command: frame.readUInt8(0),
    sequence: frame.readUInt8(1),
    status: frame.readUInt8(2),
    data: Buffer.from(frame.subarray(header_bytes, end)),
  };
}

function checksum(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum += byte;
  return -sum & 0xffff;
}

const slip = { end: 0xc0, escape: 0xdb, escapedEnd: 0xdc, escapedEscape: 0xdd } as const;
const unescaped = new Map<number, number>([
  [slip.escapedEnd, slip.end],
  [slip.escapedEscape, slip.escape],
]);
const length_at = 3;
const header_bytes = 5;
const checksum_bytes = 2;
const frame_max_bytes = 256;
