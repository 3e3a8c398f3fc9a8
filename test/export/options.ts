import { SystemClock } from "../../src/base/clock.ts";
import type { DownloadOptions } from "../../src/export/download.ts";

/** Options of a download of everything as NDJSON, that nobody watches or stops. */
export function downloadOptions(
  of: Pick<DownloadOptions, "url" | "token" | "directory"> & Partial<DownloadOptions>,
): DownloadOptions {
  return {
    format: "ndjson",
    stamp: "iso",
    span: {},
    clock: new SystemClock(),
    random: Math.random,
    stop: new AbortController().signal,
    onProgress: () => {},
    onRetry: () => {},
    onWarning: () => {},
    ...of,
  };
}
