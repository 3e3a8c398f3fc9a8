import { constants, gunzipSync, zstdDecompressSync } from "node:zlib";
import { messageOf } from "./errors.ts";

/**
 * The decoder of everything that others say in JSON: bodies of requests and of answers, batches, files, messages of hubs. What comes is read, expanded and
 * counted within bounds, and only then is anything built of it. `json-decoder.ts` has the bounds of each thing that is read.
 */
export interface DecodingBounds {
  /** Bytes as they come, and once they are expanded. */
  readonly bytes_max: number;
  /** Lists, objects, names and texts: each takes up to 120 bytes of memory, and a text its length besides. */
  readonly values_max: number;
  /** Numbers, true, false and null: each takes up to 27 bytes. */
  readonly numbers_max: number;
}

/** A text goes beyond its bounds, or is no JSON; the message says in which respect, as the words that follow "it". */
export class DecodingFault extends Error {
  override readonly name = "DecodingFault";

  constructor(
    readonly kind: "bytes" | "expanded bytes" | "coding" | "values" | "malformed",
    message: string,
  ) {
    super(message);
  }
}

/**
 * The value of a JSON text in UTF-8, which is expanded already.
 *
 * @throws DecodingFault before anything is built, where it goes beyond the bounds
 */
export function decodeJson(text: Uint8Array, bounds: DecodingBounds): unknown {
  if (text.length > bounds.bytes_max) throw tooMany(bounds.bytes_max);
  requireFewValues(text, bounds);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text));
  } catch (thrown) {
    throw new DecodingFault("malformed", messageOf(thrown));
  }
}

/**
 * Undoes a Content-Encoding, one of `codings`. Expanding ends at the bound: it takes no more memory than twice that, whatever it would go on to.
 *
 * @throws DecodingFault
 */
export function expand(bytes: Uint8Array, coding: string, bytes_max: number): Uint8Array<ArrayBuffer> {
  const expander = new Map<string, (typeof expanders)[keyof typeof expanders]>(Object.entries(expanders)).get(
    coding,
  );
  if (expander === undefined)
    throw new DecodingFault("coding", `has the coding ${coding}, and only ${codings.join(" and ")} are read`);
  let text: Uint8Array<ArrayBuffer>;
  try {
    text = expander(bytes as Uint8Array<ArrayBuffer>, bytes_max);
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ERR_BUFFER_TOO_LARGE")
      throw new DecodingFault("expanded bytes", `expands to more than ${bytes_max} bytes`);
    throw new DecodingFault("malformed", messageOf(thrown));
  }
  if (text.length > bytes_max) throw tooMany(bytes_max);
  return text;
}

const expanders = {
  zstd: (bytes, bytes_max) => {
    const log = Math.max(window_log_min, Math.ceil(Math.log2(bytes_max)));
    return zstdDecompressSync(bytes, {
      maxOutputLength: bytes_max,
      params: { [constants.ZSTD_d_windowLogMax]: log },
    });
  },
  gzip: (bytes, bytes_max) => gunzipSync(bytes, { maxOutputLength: bytes_max }),
  identity: (bytes) => bytes,
} as const satisfies Record<
  string,
  (bytes: Uint8Array<ArrayBuffer>, bytes_max: number) => Uint8Array<ArrayBuffer>
>;

/** Every Content-Encoding that is read. */
export const codings: readonly string[] = Object.keys(expanders);

/** The Content-Encoding of a body, in small letters; "identity" where it has none. */
export function codingOf(headers: Headers): string {
  return headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
}

/**
 * Reads a stream to its end; the caller lets go of the reader.
 *
 * @param onPart called with each part, before it is kept
 * @throws DecodingFault as soon as there are more bytes than `bytes_max`
 */
export async function readAtMost(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  bytes_max: number,
  onPart?: () => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    onPart?.();
    if (done) break;
    bytes += value.length;
    if (bytes > bytes_max) throw tooMany(bytes_max);
    parts.push(value);
  }
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * Counts values by the bytes of a text, as far as it is JSON: JSON.parse builds nothing of what comes after a fault.
 *
 * @throws DecodingFault where it has more than the bounds allow, or is nested deeper than `depth_max`
 */
function requireFewValues(text: Uint8Array, { values_max, numbers_max }: DecodingBounds): void {
  let values = 0;
  let numbers = 0;
  let depth = 0;
  let before = between;
  for (let at = 0; at < text.length; at += 1) {
    const kind = kindOfByte[text[at] as number] as number;
    if (kind === word && before !== word) {
      numbers += 1;
      if (numbers > numbers_max) throw new DecodingFault("values", `has more than ${numbers_max} numbers`);
    } else if (kind === quote || kind === begin) {
      values += 1;
      if (values > values_max) throw new DecodingFault("values", `has more than ${values_max} values`);
      if (kind === quote) at = endOfText(text, at);
      else if (++depth > depth_max)
        throw new DecodingFault("values", `has more than ${depth_max} lists and objects within each other`);
    } else if (kind === end) depth -= 1;
    before = kind;
  }
}

/** Where the text ends that begins with the quote at `from`. */
function endOfText(text: Uint8Array, from: number): number {
  for (let at = text.indexOf(quoteMark, from + 1); at !== -1; at = text.indexOf(quoteMark, at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}

function tooMany(bytes_max: number): DecodingFault {
  return new DecodingFault("bytes", `has more than ${bytes_max} bytes`);
}

const [blank, quoteMark, backslash] = [0x20, 0x22, 0x5c];
/** Kinds of bytes: blanks, commas and colons; parts of numbers and words; what begins and ends a list or an object; what begins a text. */
const [between, word, begin, end, quote] = [0, 1, 2, 3, 4];
const kindOfByte = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (byte <= blank || ",:".includes(character)) return between;
  if ("[{".includes(character)) return begin;
  if ("]}".includes(character)) return end;
  return byte === quoteMark ? quote : word;
});
/** Nothing that Lintel reads is half as deep. */
const depth_max = 32;
/** Memory that a frame of zstd may ask of its reader, as a power of 2 (RFC 9659); as much as the text may have, where that is more. */
const window_log_min = 23;

const mebibyte = 1024 * 1024;
const kibibyte = 1024;

/**
 * Bounds of everything that is decoded, at both ends. A value costs 120 bytes of memory at most and a number 27, so that the dearest row, the batch, takes
 * 92 MB beside its text.
 */
export const decodingBounds = {
  // What gateways send to central, compressed to `sent_bytes_max` at most. A report with all the devices and interruptions that its schema allows has 500,000.
  report: {
    sent_bytes_max: 2 * mebibyte,
    bytes_max: 8 * mebibyte,
    values_max: 600_000,
    numbers_max: 300_000,
  },
  digests: {
    sent_bytes_max: 2 * mebibyte,
    bytes_max: 8 * mebibyte,
    values_max: 300_000,
    numbers_max: 100_000,
  },
  homeFiles: { sent_bytes_max: 6 * mebibyte, bytes_max: 8 * mebibyte, values_max: 1_000, numbers_max: 1_000 },
  remoteAnswer: { sent_bytes_max: mebibyte, bytes_max: 2 * mebibyte, values_max: 100, numbers_max: 100 },
  // Columns of 65,536 readings: two of them may be texts, and every second number may be missing.
  batch: { bytes_max: 16 * mebibyte, values_max: 500_000, numbers_max: 1_200_000 },
  // The same as it travels: its values are counted where the frame is opened.
  sentBatch: { bytes_max: mebibyte, values_max: 0, numbers_max: 0 },
  // What a gateway reads of central. Records of a home: some thousands.
  homeRecords: { bytes_max: 8 * mebibyte, values_max: 300_000, numbers_max: 150_000 },
  reportAnswer: { bytes_max: 64 * kibibyte, values_max: 2_000, numbers_max: 1_000 },
  remoteOrders: { bytes_max: 256 * kibibyte, values_max: 20_000, numbers_max: 10_000 },
  batchAnswer: { bytes_max: 64 * kibibyte, values_max: 100, numbers_max: 100 },
  // One of the files that central keeps of a home, read where a box is restored.
  homeFile: { bytes_max: 4 * mebibyte, values_max: 200_000, numbers_max: 50_000 },
  // What central asks a gateway for: not more than the gateway puts into one.
  sourceReport: { bytes_max: 8 * mebibyte, values_max: 200_000, numbers_max: 50_000 },
  // A page of the interface: a thousand records.
  page: { bytes_max: 16 * mebibyte, values_max: 200_000, numbers_max: 100_000 },
  // Why a server does not answer what it was asked for.
  refusal: { bytes_max: 64 * kibibyte, values_max: 100, numbers_max: 100 },
  // What a running gateway says by its socket to commands, of which one runs as root.
  control: { bytes_max: 8 * mebibyte, values_max: 200_000, numbers_max: 100_000 },
  // A message of another hub: the longest are lists of all its devices.
  hubMessage: { bytes_max: 4 * mebibyte, values_max: 250_000, numbers_max: 100_000 },
  // The list of files in a backup: some tens of thousands.
  backupManifest: { bytes_max: 4 * mebibyte, values_max: 300_000, numbers_max: 100_000 },
} as const satisfies Record<string, DecodingBounds & { readonly sent_bytes_max?: number }>;
