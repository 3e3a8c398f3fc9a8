import { constants, zstdCompressSync } from "node:zlib";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { decodingBounds } from "../decoding-bounds.ts";
import { messageOf } from "../errors.ts";
import { DecodingFault, decodeJson, expand } from "../json-decoder.ts";
import { batch_bytes_max, batch_text_bytes_max } from "../store/batch.ts";
import { BatchText, batchVersion } from "./batch-text.ts";

/** Bytes that are no batch; the message names the fault. */
export class BatchFault extends Error {
  override readonly name = "BatchFault";
}

/** A batch in a zstd frame with a checksum; null where it is larger than one may be. */
export function packFrame(text: object): Uint8Array<ArrayBuffer> | null {
  const json = Buffer.from(JSON.stringify(text));
  if (json.length > batch_text_bytes_max) return null;
  const packed = zstdCompressSync(json, {
    params: { [constants.ZSTD_c_compressionLevel]: compression_level, [constants.ZSTD_c_checksumFlag]: 1 },
  });
  return packed.length > batch_bytes_max ? null : new Uint8Array(packed);
}

/** @throws BatchFault where the bytes are no batch, one of a newer version, or too large */
export function unpackFrame(bytes: Uint8Array): BatchText {
  if (bytes.length > batch_bytes_max) throw new BatchFault(`it is larger than ${batch_bytes_max} bytes`);
  if (((bytes[frameDescriptor_byte] ?? 0) & checksum_bit) === 0)
    throw new BatchFault("it is no batch, or lacks its checksum");
  const text = parsed(bytes);
  const version = (text as { version?: unknown } | null)?.version;
  if (typeof version === "number" && version > batchVersion)
    throw new BatchFault(
      `it is of version ${version}, and this program knows up to ${batchVersion}; update this side first`,
    );
  if (check.Check(text)) return text;
  const fault = check.Errors(text).First();
  throw new BatchFault(`${fault?.path || "it"} is not as it must be (${messageOf(fault?.message, 80)})`);
}

function parsed(bytes: Uint8Array): unknown {
  try {
    const json = expand(bytes, "zstd", decodingBounds.batch.bytes_max);
    requireChecksum(bytes, json);
    return decodeJson(json, decodingBounds.batch);
  } catch (thrown) {
    if (!(thrown instanceof DecodingFault)) throw thrown;
    if (thrown.kind === "malformed") throw new BatchFault(`it cannot be read (${messageOf(thrown, 120)})`);
    throw new BatchFault(`it ${thrown.message}`);
  }
}

/** The decoder compares the checksum, but takes a frame that was cut within it. */
function requireChecksum(bytes: Uint8Array, json: Uint8Array): void {
  const told = new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - checksum_bytes, true);
  const counted = Number(Bun.hash.xxHash64(json) & 0xffff_ffffn);
  if (told !== counted) throw new BatchFault("its checksum is another one");
}

const check = TypeCompiler.Compile(BatchText);

/** RFC 8878, 3.1.1.1.1: what follows the magic number; its bit that is set where a checksum follows. */
const frameDescriptor_byte = 4;
const checksum_bit = 0b100;
/** RFC 8878, 3.1.1: at the end of the frame, the low half of XXH64. */
const checksum_bytes = 4;
/** Levels above take several times as long for 6 % less. */
const compression_level = 12;
