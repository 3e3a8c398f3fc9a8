import type { Transform } from "node:stream";

/**
 * Takes Z-Stack frames (`FE len cmd0 cmd1 data[len] fcs`) out of a stream of bytes, in the place of zigbee-herdsman's own
 * parser, which
 *
 * - throws away as many bytes as a frame with a wrong checksum says it has, good frames among them. A port that is opened
 *   in the middle of a frame begins with such a one, wherever its rest holds the byte FE;
 * - writes all the bytes that it holds into a debug message for each frame, also when nobody reads it: work that grows
 *   with the square of what arrives at once. After a pause of the process a megabyte may: 2,000 notifications took 1.6 s.
 */
type TakeBytes = (
  this: Parser,
  chunk: Buffer,
  encoding: BufferEncoding,
  done: (error?: Error | null) => void,
) => void;

interface Parser extends Transform {
  /** The rest of a chunk: the beginning of at most one frame. */
  buffer: Buffer;
  /** Whether a frame has been found since the port was opened. */
  inStep?: boolean;
}

const startOfFrame = 0xfe;
const header_bytes = 4;
const overhead_bytes = header_bytes + 1;
const data_max_bytes = 250;
/** cmd0 is the type, 1 to 3, in its upper three bits, and the subsystem, GreenPower's being the last. */
const types = { least: 1, most: 3 } as const;
const subsystem_max = 21;

let count: (what: string, bytes: number) => void = () => {};
let replaced = false;

/** Makes every Z-Stack parser find the frame that follows whatever is none; `dropped` is told of that. */
export async function findEveryFrame(dropped: (what: string, bytes: number) => void): Promise<void> {
  count = dropped;
  if (replaced) return;
  replaced = true;
  const { Frame, Parser } = await import("zigbee-herdsman/dist/adapter/z-stack/unpi/index.js");
  const takeBytes: TakeBytes = function (chunk, _encoding, done) {
    const bytes = this.buffer.length === 0 ? chunk : Buffer.concat([this.buffer, chunk]);
    let outside = 0;
    let at = 0;
    while (at < bytes.length) {
      let size = frameAt(bytes, at);
      // The first frame is not waited for while there is a whole one behind its beginning.
      if (size === undefined && !this.inStep && wholeFrameAfter(bytes, at)) size = 0;
      if (size === undefined) break;
      if (size === 0) outside += 1;
      else {
        this.inStep = true;
        const frame = bytes.subarray(at, at + size);
        this.emit("parsed", Frame.fromBuffer(size - overhead_bytes, size - 1, frame));
      }
      at += Math.max(1, size);
    }
    this.buffer = Buffer.from(bytes.subarray(at));
    if (outside > 0) count("zigbee bytes outside frames", outside);
    done();
  };
  (Parser.prototype as unknown as { _transform: TakeBytes })._transform = takeBytes;
}

/** How many bytes the frame at `at` has; 0 where none begins, undefined where it takes more bytes to know. */
function frameAt(bytes: Buffer, at: number): number | undefined {
  if (bytes[at] !== startOfFrame) return 0;
  const length = bytes[at + 1];
  if (length === undefined) return undefined;
  const command = bytes[at + 2];
  if (length > data_max_bytes || (command !== undefined && !isCommand(command))) return 0;
  const end = at + overhead_bytes + length;
  if (end > bytes.length) return undefined;
  let checksum = 0;
  for (let index = at + 1; index < end - 1; index += 1) checksum ^= bytes[index] ?? 0;
  return checksum === bytes[end - 1] ? end - at : 0;
}

function isCommand(cmd0: number): boolean {
  const type = cmd0 >> 5;
  return type >= types.least && type <= types.most && (cmd0 & 0x1f) <= subsystem_max;
}

/** At most one frame's bytes are looked through, because no more wait for the rest of a frame. */
function wholeFrameAfter(bytes: Buffer, at: number): boolean {
  for (let next = at + 1; next < bytes.length; next += 1) if (frameAt(bytes, next)) return true;
  return false;
}
