import { crc16X25 } from "./crc.ts";

/**
 * Frames on an asynchronous line, as in RFC 1662: a flag, the payload, its checksum low byte first, a flag.
 * Flags, escapes and the characters of software flow control inside are sent as escape, byte ^ 0x20.
 */
export function encodeFrame(payload: Uint8Array): Uint8Array {
  const checksum = crc16X25(payload);
  const frame = [flag];
  for (const byte of [...payload, checksum & 0xff, checksum >>> 8]) {
    if (escaped.has(byte)) frame.push(escapeByte, byte ^ escapeBit);
    else frame.push(byte);
  }
  frame.push(flag);
  return Uint8Array.from(frame);
}

/** Why bytes of a line were no frame; the names under which they are counted. */
export type FrameFault =
  | "bytes outside frames"
  | "bytes of frames with a bad checksum"
  | "bytes of overlong frames";

/**
 * Finds frames in whatever a line delivers. Holds one frame at most, of `payload_max` bytes and its checksum:
 * longer data is thrown away up to the next flag, and a frame that is cut off costs only itself, because
 * the flag that ends one may begin the next.
 */
export class FrameReader {
  readonly #held: Uint8Array;
  readonly #onPayload: (payload: Uint8Array) => void;
  readonly #onDiscarded: (what: FrameFault, bytes: number) => void;
  #length = 0;
  #escaped = false;
  #overlong_bytes = 0;
  /** No flag has been seen yet: bytes before the first one are the end of a frame, or noise. */
  #outside = true;

  constructor(options: {
    payload_max: number;
    /** Gets a payload of its own, with the checksum right and gone. */
    onPayload: (payload: Uint8Array) => void;
    onDiscarded: (what: FrameFault, bytes: number) => void;
  }) {
    this.#held = new Uint8Array(options.payload_max + checksum_bytes);
    this.#onPayload = options.onPayload;
    this.#onDiscarded = options.onDiscarded;
  }

  /** Bytes of an unfinished frame. */
  get held_bytes(): number {
    return this.#length;
  }

  push(chunk: Uint8Array): void {
    let outside = 0;
    for (const byte of chunk) {
      if (byte === flag) {
        if (!this.#outside) this.#end();
        this.#outside = false;
      } else if (this.#outside) outside += 1;
      else if (byte === escapeByte && !this.#escaped) this.#escaped = true;
      else {
        this.#keep(this.#escaped ? byte ^ escapeBit : byte);
        this.#escaped = false;
      }
    }
    if (outside > 0) this.#onDiscarded("bytes outside frames", outside);
  }

  #keep(byte: number): void {
    if (this.#length < this.#held.length) this.#held[this.#length++] = byte;
    else this.#overlong_bytes += 1;
  }

  #end(): void {
    const length = this.#length;
    const overlong = this.#overlong_bytes;
    // An escape before the flag is the sender's way to say: forget this frame (RFC 1662 4.3).
    const aborted = this.#escaped;
    this.#length = 0;
    this.#overlong_bytes = 0;
    this.#escaped = false;
    if (overlong > 0) this.#onDiscarded("bytes of overlong frames", length + overlong);
    else if (length > 0) this.#check(length, aborted);
  }

  #check(length: number, aborted: boolean): void {
    const payload = this.#held.slice(0, Math.max(length - checksum_bytes, 0));
    const checksum = (this.#held[length - 2] ?? 0) | ((this.#held[length - 1] ?? 0) << 8);
    if (!aborted && payload.length > 0 && crc16X25(payload) === checksum) this.#onPayload(payload);
    else this.#onDiscarded("bytes of frames with a bad checksum", length);
  }
}

const flag = 0x7e;
const escapeByte = 0x7d;
const escapeBit = 0x20;
const checksum_bytes = 2;
/** The flag, the escape, XON and XOFF. */
const escaped: ReadonlySet<number> = new Set([flag, escapeByte, 0x11, 0x13]);
