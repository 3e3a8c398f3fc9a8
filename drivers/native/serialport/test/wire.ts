import { SerialPort } from "serialport";
import { openPty, type Pty } from "../../../wire/pty.ts";

type Options = Partial<ConstructorParameters<typeof SerialPort>[0]>;

/** A pty and serialport's own stream on it, open. */
export async function openWire(options: Options = {}): Promise<{ pty: Pty; port: SerialPort }> {
  const pty = openPty();
  return { pty, port: await openPort(pty.path, options) };
}

/** Opens serialport's own stream; rejects with what it says when it can't. */
export async function openPort(path: string, options: Options = {}): Promise<SerialPort> {
  const port = new SerialPort({ path, baudRate: 115200, autoOpen: false, ...options });
  await new Promise<void>((resolve, reject) => port.open((error) => (error ? reject(error) : resolve())));
  return port;
}

/** Calls one of the stream's methods that take a callback, and waits for it. */
export function called<Result>(call: (callback: (error: Error | null, result?: Result) => void) => void) {
  return new Promise<Result>((resolve, reject) =>
    call((error, result) => (error ? reject(error) : resolve(result as Result))),
  );
}

/** The error of the port's `close` event: null when it was closed on purpose. */
export function closing(port: SerialPort): Promise<(Error & { disconnected?: boolean }) | null> {
  return new Promise((resolve) => port.once("close", (error: Error | null) => resolve(error)));
}

export function closed(port: SerialPort): Promise<void> {
  return called((callback) => port.close(callback));
}

/** The same bytes for the same seed, for ever: xorshift32. */
export function seededBytes(seed: number, length: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(length);
  const next = seededNumbers(seed);
  for (let at = 0; at < length; at++) bytes[at] = next() & 0xff;
  return bytes;
}

/** Whole numbers of 32 bits, the same for the same seed. */
export function seededNumbers(seed: number): () => number {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** Cuts bytes into pieces of one size, or of seeded sizes from 1 to 64 KiB when `size` is "mixed". */
export function* pieces(bytes: Buffer<ArrayBuffer>, size: number | "mixed"): Generator<Buffer<ArrayBuffer>> {
  const next = seededNumbers(7);
  for (let at = 0; at < bytes.length; ) {
    const length = size === "mixed" ? 1 + (next() % 65_536) : size;
    yield bytes.subarray(at, at + length);
    at += length;
  }
}

/** Lets time go by, to see that nothing happens any more: there is no event to wait for. */
export function passing(time_ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, time_ms));
}
