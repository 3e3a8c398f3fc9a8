/**
 * Frames of the Z-Stack Monitor and Test interface, as a ZNP coordinator speaks them on its serial port:
 * `FE len cmd0 cmd1 data[len] fcs`, where cmd0 = type << 5 | subsystem and fcs is the XOR of len to data.
 * Source: Texas Instruments, Z-Stack Monitor and Test API, section 2.
 */
export interface Frame {
  readonly type: FrameType;
  readonly subsystem: number;
  readonly id: number;
  readonly data: Buffer;
}

export const frameType = { poll: 0, request: 1, event: 2, response: 3 } as const;
export type FrameType = (typeof frameType)[keyof typeof frameType];

export const data_max_bytes = 250;

const startOfFrame = 0xfe;
const header_bytes = 4;
const overhead_bytes = header_bytes + 1;

/** The bytes of one frame. `command` is cmd0 without its type bits, and cmd1: `0x4581` is ZDO (5), 0x81. */
export function encodeFrame(type: FrameType, command: number, data: Uint8Array): Buffer {
  if (data.length > data_max_bytes) throw new RangeError(`a frame holds ${data_max_bytes} bytes of data`);
  const frame = Buffer.alloc(overhead_bytes + data.length);
  frame[0] = startOfFrame;
  frame[1] = data.length;
  frame[2] = (type << 5) | ((command >> 8) & 0x1f);
  frame[3] = command & 0xff;
  frame.set(data, header_bytes);
  frame[frame.length - 1] = checksum(frame.subarray(1, frame.length - 1));
  return frame;
}

/**
 * Takes frames out of a stream of bytes that may hold anything. What is not part of a frame with a good
 * checksum is thrown away and counted in `discarded_bytes`.
 */
export class FrameReader {
  #held: Buffer = Buffer.alloc(0);
  discarded_bytes = 0;

  /** The frames that `chunk` completes, in order. Holds back at most one unfinished frame. */
  read(chunk: Uint8Array): Frame[] {
    const bytes = this.#held.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#held, chunk]);
    const frames: Frame[] = [];
    let at = 0;
    while (at < bytes.length) {
      const step = decodeFrame(bytes, at);
      if (step === "incomplete") break;
      if (step === undefined) {
        at += 1;
        this.discarded_bytes += 1;
        continue;
      }
      frames.push(step);
      at += overhead_bytes + step.data.length;
    }
    this.#held = Buffer.from(bytes.subarray(at));
    return frames;
  }
}

/** The frame that starts at `offset`; undefined where none starts, "incomplete" where more bytes are needed to know. */
export function decodeFrame(bytes: Buffer, offset: number): Frame | undefined | "incomplete" {
  if (bytes[offset] !== startOfFrame) return undefined;
  const length = bytes[offset + 1];
  if (length === undefined) return "incomplete";
  if (length > data_max_bytes) return undefined;
  const end = offset + overhead_bytes + length;
  if (end > bytes.length) return "incomplete";
  if (checksum(bytes.subarray(offset + 1, end - 1)) !== bytes[end - 1]) return undefined;
  const cmd0 = bytes.readUInt8(offset + 2);
  return {
    type: ((cmd0 >> 5) & 0x03) as FrameType,
    subsystem: cmd0 & 0x1f,
    id: bytes.readUInt8(offset + 3),
    data: Buffer.from(bytes.subarray(offset + header_bytes, end - 1)),
  };
}

function checksum(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum ^= byte;
  return sum;
}
