import type { Uncovered } from "./uncovered.ts";

/** A measure in steps of equal length, as the server sends it to what draws. */
export interface PlotData {
  /** Where the first step begins, unix milliseconds. */
  readonly from_ms: number;
  readonly step_ms: number;
  /** Readings in each step. */
  readonly counts: Uint32Array;
  /** How much there was of the measure, 0 for nothing: places in `Measure.levels`, plus one. */
  readonly levels: Uint8Array<ArrayBuffer>;
  readonly uncovered: readonly Uncovered[];
}

/** Bytes of a plot: the length of a header and the header, JSON, padded to whole numbers of the arrays behind it. In the byte order of every machine that runs this. */
export function encodePlot({ counts, levels, ...rest }: PlotData): Uint8Array<ArrayBuffer> {
  const text = JSON.stringify({ ...rest, steps: counts.length });
  const bare = utf8.encode(text);
  const header = utf8.encode(text + " ".repeat((8 - ((4 + bare.length) % 8)) % 8));
  const bytes = new Uint8Array(4 + header.length + counts.byteLength + levels.byteLength);
  new DataView(bytes.buffer).setUint32(0, header.length, true);
  bytes.set(header, 4);
  bytes.set(new Uint8Array(counts.buffer, counts.byteOffset, counts.byteLength), 4 + header.length);
  bytes.set(levels, 4 + header.length + counts.byteLength);
  return bytes;
}

export function decodePlot(bytes: ArrayBuffer): PlotData {
  const length = new DataView(bytes).getUint32(0, true);
  const { steps, ...rest } = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  const counts = new Uint32Array(bytes, 4 + length, steps);
  return { ...rest, counts, levels: new Uint8Array(bytes, 4 + length + counts.byteLength, steps) };
}

const utf8 = new TextEncoder();
