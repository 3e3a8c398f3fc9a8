import type { DecodingBounds } from "./json-decoder.ts";

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
  // Columns of 65,536 readings: two of them may be texts, and every second number may be missing.
  batch: { bytes_max: 16 * mebibyte, values_max: 500_000, numbers_max: 1_200_000 },
  // The same as it travels: its values are counted where the frame is opened.
  sentBatch: { bytes_max: mebibyte, values_max: 0, numbers_max: 0 },
  // What a gateway reads of central. Records of a home: some thousands.
  homeRecords: { bytes_max: 8 * mebibyte, values_max: 300_000, numbers_max: 150_000 },
  reportAnswer: { bytes_max: 64 * kibibyte, values_max: 2_000, numbers_max: 1_000 },
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
