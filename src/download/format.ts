import type { Encoder, FileColumn } from "./column.ts";
import { parquet } from "./parquet.ts";
import type { StampForm } from "./stamp-form.ts";
import { csv, ndjson } from "./text-formats.ts";

/** The formats of files. The key is the word on the command line and the ending of the file's name. */
export const formats = { csv, ndjson, parquet } as const satisfies Record<
  string,
  (columns: readonly FileColumn[], stamp: StampForm) => Encoder
>;

export type Format = keyof typeof formats;

export const formatNames = Object.keys(formats) as Format[];
