/**
 * The stick's side of ASH, the line of a Silicon Labs network co-processor: frames with numbers, acknowledged in a window.
 * A frame is `control data[len] crc`, its data XORed with a pseudo-random sequence, reserved bytes escaped, a flag at
 * its end. Source: Silicon Labs UG101, UART-EZSP gateway protocol reference.
 */
export class AshEnd {
  /** Bytes that were no frame. */
  discarded_bytes = 0;
  readonly #write: (bytes: Uint8Array) => void;
  readonly #onReset: () => void;
  readonly #onData: (data: Buffer) => void;
  #held: number[] = [];
  #escaped = false;
  /** The number of the next frame to send, of the oldest that is not acknowledged, and of the next to receive. */
  #next = 0;
  #oldest = 0;
  #expected = 0;
  #connected = false;
  /** Frames that are not acknowledged yet, oldest first; those beyond the window wait to be sent. */
  #frames: Buffer[] = [];

  constructor(options: {
    write: (bytes: Uint8Array) => void;
    /** The host resets the stick. */
    onReset: () => void;
    onData: (data: Buffer) => void;
  }) {
    this.#write = options.write;
    this.#onReset = options.onReset;
    this.#onData = options.onData;
  }

  receive(chunk: Uint8Array): void {
    for (const byte of chunk) this.#take(byte);
  }

  /** Sends data in a frame of its own. False where nobody is connected, or too many frames wait. */
  send(data: Uint8Array): boolean {
    if (!this.#connected || this.#frames.length >= frames_max) return false;
    this.#frames.push(Buffer.from(data));
    this.#sendWindow();
    return true;
  }

  /** Nothing is said until the next reset. */
  disconnect(): void {
    this.#connected = false;
    this.#frames = [];
    this.#held = [];
  }

  #take(byte: number): void {
    if (byte === reserved.cancel) {
      this.#discard();
    } else if (byte === reserved.flag) {
      const frame = Buffer.from(this.#held);
      this.#held = [];
      this.#escaped = false;
      if (frame.length > 0) this.#takeFrame(frame);
    } else if (byte === reserved.escape) {
      this.#escaped = true;
    } else if (byte !== reserved.xon && byte !== reserved.xoff) {
      this.#held.push(this.#escaped ? byte ^ flip : byte);
      this.#escaped = false;
      if (this.#held.length > frame_max_bytes) this.#discard();
    }
  }

  #discard(): void {
    this.discarded_bytes += this.#held.length;
    this.#held = [];
    this.#escaped = false;
  }

  #takeFrame(frame: Buffer): void {
    const body = frame.subarray(0, -crc_bytes);
    if (frame.length <= crc_bytes || crc16(body) !== frame.readUInt16BE(body.length)) {
      this.discarded_bytes += frame.length;
      if (this.#connected) this.#writeFrame(control.nak | this.#expected);
      return;
    }
    const type = body.readUInt8(0);
    if (type === control.rst) this.#reset();
    else if (!this.#connected) return;
    else if ((type & control.shortMask) === 0) this.#takeData(type, body.subarray(1));
    else {
      this.#acknowledged(type & numberMask);
      if ((type & control.typeMask) === control.nak) this.#sendAgain();
    }
  }

  #takeData(type: number, data: Buffer): void {
    this.#acknowledged(type & numberMask);
    const number = (type >> 4) & numberMask;
    if (number !== this.#expected) {
      // One that was sent again is acknowledged again; after a gap the missing one is asked for.
      this.#writeFrame(((type & control.again) === 0 ? control.nak : control.ack) | this.#expected);
      return;
    }
    this.#expected = (number + 1) & numberMask;
    this.#writeFrame(control.ack | this.#expected);
    this.#onData(randomised(data));
  }

  #reset(): void {
    this.#next = 0;
    this.#oldest = 0;
    this.#expected = 0;
    this.#frames = [];
    this.#connected = true;
    this.#onReset();
    this.#writeFrame(control.rstack, Buffer.from([ashVersion, resetBySoftware]));
  }

  /** The host has all frames before this number. */
  #acknowledged(number: number): void {
    const count = (number - this.#oldest) & numberMask;
    if (count > this.#sent) return;
    this.#frames.splice(0, count);
    this.#oldest = number;
    this.#sendWindow();
  }

  get #sent(): number {
    return (this.#next - this.#oldest) & numberMask;
  }

  #sendWindow(): void {
    while (this.#sent < window_frames && this.#sent < this.#frames.length) {
      this.#writeData(this.#next, this.#frames[this.#sent] as Buffer, 0);
      this.#next = (this.#next + 1) & numberMask;
    }
  }

  #sendAgain(): void {
    for (let index = 0; index < this.#sent; index += 1) {
      const frame = this.#frames[index];
      if (frame !== undefined) this.#writeData((this.#oldest + index) & numberMask, frame, control.again);
    }
  }

  #writeData(number: number, data: Buffer, again: number): void {
    this.#writeFrame((number << 4) | again | this.#expected, randomised(data));
  }

  #writeFrame(type: number, data: Buffer = Buffer.alloc(0)): void {
    const body = Buffer.concat([Buffer.from([type]), data]);
    const crc = Buffer.alloc(crc_bytes);
    crc.writeUInt16BE(crc16(body));
    const bytes: number[] = [];
    for (const byte of Buffer.concat([body, crc])) {
      if (escapedBytes.has(byte)) bytes.push(reserved.escape, byte ^ flip);
      else bytes.push(byte);
    }
    bytes.push(reserved.flag);
    this.#write(Uint8Array.from(bytes));
  }
}

const reserved = { flag: 0x7e, escape: 0x7d, xon: 0x11, xoff: 0x13, substitute: 0x18, cancel: 0x1a } as const;
const escapedBytes = new Set<number>(Object.values(reserved));
const flip = 0x20;
const control = {
  shortMask: 0x80,
  typeMask: 0xe0,
  ack: 0x80,
  nak: 0xa0,
  rst: 0xc0,
  rstack: 0xc1,
  again: 0x08,
} as const;
/** Numbers of frames are of three bits. */
const numberMask = 0x07;
const ashVersion = 2;
const resetBySoftware = 0x0b;
const crc_bytes = 2;
const frame_max_bytes = 256;
/** Frames that are sent before one of them is acknowledged. */
const window_frames = 5;
/** Frames that wait, those besides for which the stick has no room: the senders of what they tell would try again. */
const frames_max = 4_096;

/** CRC-16/IBM-3740: polynomial 0x1021, start 0xFFFF. The check value of the ASCII text `123456789` is 0x29B1. */
export function crc16(bytes: Uint8Array): number {
  let crc = 0xffff;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ ((crc & 0x8000) === 0 ? 0 : 0x1021)) & 0xffff;
  }
  return crc;
}

/** Data with the sequence that the protocol XORs it with, which is its own inverse. */
function randomised(data: Uint8Array): Buffer {
  let random = 0x42;
  return Buffer.from(
    data.map((byte) => {
      const mixed = byte ^ random;
      random = (random & 1) === 0 ? random >> 1 : (random >> 1) ^ 0xb8;
      return mixed;
    }),
  );
}
