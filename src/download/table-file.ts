import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf, OperatorError } from "../errors.ts";
import type { Column, Row } from "./column.ts";
import { type Format, formats } from "./format.ts";
import type { StampForm } from "./stamp-form.ts";

/**
 * Writes rows into a file that appears whole or not at all: it grows beside its place as `NAME.part`, is put on disk and
 * only then takes its name. Memory is bounded by the rows of one batch and what the format keeps back. Where the batches
 * fail, a file that stood there before is untouched.
 *
 * @param batches rows in their order; where there is not even an empty batch, no file is made
 * @returns how many rows; undefined without a file
 * @throws OperatorError when the file cannot be made or written
 */
export async function writeTable(
  options: { path: string; format: Format; columns: readonly Column[]; stamp: StampForm },
  batches: AsyncIterable<readonly Row[]>,
): Promise<number | undefined> {
  const { path, format, columns, stamp } = options;
  const part = `${path}.part`;
  const encoder = formats[format](columns, stamp);
  const file = await writing(path, async () => {
    await mkdir(dirname(path), { recursive: true });
    return open(part, "w", 0o600);
  });
  const put = (bytes: Uint8Array) =>
    writing(path, async () => {
      for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
    });
  let rows: number | undefined;
  let whole = false;
  try {
    await put(encoder.head());
    for await (const batch of batches) {
      rows = (rows ?? 0) + batch.length;
      await put(encoder.encode(batch));
    }
    await put(encoder.tail());
    await writing(path, () => file.sync());
    whole = rows !== undefined;
  } finally {
    await file.close();
    if (!whole) await rm(part, { force: true });
  }
  if (whole)
    await writing(path, async () => {
      await rename(part, path);
      const directory = await open(dirname(path), "r");
      await directory.sync();
      await directory.close();
    });
  return rows;
}

async function writing<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof Error && "code" in thrown)) throw thrown;
    throw new OperatorError(
      `${path} cannot be written (${messageOf(thrown)})`,
      "free some space or give --output a directory that this user may write, then run this again",
      { cause: thrown },
    );
  }
}
