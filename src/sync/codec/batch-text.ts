import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { type Static, type TOptional, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { batch_bytes_max, batch_text_bytes_max } from "../../batch.ts";
import { messageOf } from "../../errors.ts";
import { kindNames } from "../../kinds.ts";
import { type SeriesName, seriesNames } from "../../series.ts";
import dictionaryText from "./dictionary-1.txt" with { type: "text" };
import { BatchFault } from "./fault.ts";
import { NumberingText } from "./numbering.ts";
import { OrderText } from "./order.ts";
import { SeriesText } from "./series-text.ts";

/** The version of the form below. A change of what is written is a new version; what an older one wrote is read for ever. */
export const batchVersion = 1;

/** A person's home has some tens of devices. */
const devices_max = 10_000;

const Word = Type.Optional(Type.String({ maxLength: 200 }));

/** A batch as it is written: see `Batch` for what it means. */
export const BatchText = Type.Object(
  {
    version: Type.Literal(batchVersion),
    epoch: Type.String({ pattern: "^[0-9a-f]{32}$" }),
    first_seq: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    previous: Type.Optional(Type.String({ pattern: "^[0-9a-f]{16}$" })),
    ...NumberingText,
    devices: Type.Array(
      Type.Object(
        {
          kind: Type.Union(kindNames.map((name) => Type.Literal(name))),
          address: Type.String({ maxLength: 64 }),
          itemid: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
          subtype: Word,
          model: Word,
          vendor: Word,
        },
        { additionalProperties: false },
      ),
      { maxItems: devices_max },
    ),
    order: OrderText,
    series: Type.Object(
      Object.fromEntries(seriesNames.map((name) => [name, Type.Optional(SeriesText)])) as Record<
        SeriesName,
        TOptional<typeof SeriesText>
      >,
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);
export type BatchText = Static<typeof BatchText>;

/** Null where the batch is larger than one may be. */
export function packText(text: BatchText): Uint8Array<ArrayBuffer> | null {
  const json = Buffer.from(JSON.stringify(text));
  if (json.length > batch_text_bytes_max) return null;
  const packed = zstdCompressSync(json, {
    dictionary,
    params: {
      [constants.ZSTD_c_compressionLevel]: compression_level,
      [constants.ZSTD_c_checksumFlag]: 1,
    },
  });
  return packed.length > batch_bytes_max ? null : new Uint8Array(packed);
}

/** @throws BatchFault where the bytes are no batch, one of a newer version, or too large */
export function unpackText(bytes: Uint8Array): BatchText {
  if (bytes.length > batch_bytes_max) throw new BatchFault(`it is larger than ${batch_bytes_max} bytes`);
  const descriptor = bytes[frameDescriptor_byte] ?? 0;
  // A later version that needs another dictionary will name it in the header of the frame.
  if ((descriptor & dictionary_bits) !== 0) throw newerFault("a newer version");
  if ((descriptor & checksum_bit) === 0) throw new BatchFault("it is no batch, or lacks its checksum");
  const text = parsed(bytes);
  const version = (text as { version?: unknown } | null)?.version;
  if (typeof version === "number" && version > batchVersion) throw newerFault(`version ${version}`);
  if (check.Check(text)) return text;
  const fault = check.Errors(text).First();
  throw new BatchFault(`${fault?.path || "it"} is not as it must be (${messageOf(fault?.message, 80)})`);
}

function parsed(bytes: Uint8Array): unknown {
  try {
    const json = zstdDecompressSync(bytes, {
      dictionary,
      maxOutputLength: batch_text_bytes_max,
      params: { [constants.ZSTD_d_windowLogMax]: window_log_max },
    });
    requireChecksum(bytes, json);
    return JSON.parse(json.toString("utf8"));
  } catch (thrown) {
    throw new BatchFault(`it cannot be read (${messageOf(thrown, 120)})`);
  }
}

/** The decoder compares the checksum, but takes a frame that was cut within it. */
function requireChecksum(bytes: Uint8Array, json: Uint8Array): void {
  const told = new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - checksum_bytes, true);
  const counted = Number(Bun.hash.xxHash64(json) & 0xffff_ffffn);
  if (told !== counted) throw new BatchFault("its checksum is another one");
}

function newerFault(version: string): BatchFault {
  return new BatchFault(
    `it is of ${version}, and this program knows up to ${batchVersion}; update this side first`,
  );
}

const check = TypeCompiler.Compile(BatchText);

/** Text that the compressor may refer to, so that a night is not mostly names of columns. Part of version 1: never to be changed. */
const dictionary = Buffer.from(dictionaryText);
/** RFC 8878, 3.1.1.1.1: what follows the magic number; its bits that are set where a dictionary has a number, and where a checksum follows. */
const frameDescriptor_byte = 4;
const dictionary_bits = 0b011;
const checksum_bit = 0b100;
/** RFC 8878, 3.1.1: at the end of the frame, the low half of XXH64. */
const checksum_bytes = 4;
/** The best that costs no more memory: 65,536 readings take a tenth of a second on a desktop. */
const compression_level = 19;
/** What a frame may have the reader keep in memory: as much as a batch is long. */
const window_log_max = Math.log2(batch_text_bytes_max);
