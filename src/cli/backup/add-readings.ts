import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { syncToDisk, writeDurably } from "../../base/disk/safe-files.ts";
import { OperatorError } from "../../base/errors.ts";
import { type Batch, readingsIn } from "../../store/batch.ts";
import { storeFault } from "../../store/sqlite/faults.ts";
import { openUploadStore } from "../../store/sqlite/open-store.ts";
import { decodeBatch, encodedBatch } from "../../transfer/batch-codec.ts";
import type { CommandContext } from "../command.ts";
import { serverLog } from "../serving.ts";
import { checkFiles, contentOf, type Manifest, readManifest } from "./backup-files.ts";
import { putManifest } from "./make-backup.ts";

/**
 * Adds to a backup the readings that its box has numbered since, as batches beside its files, in place of those that were added before. The
 * backup is what it was until all of them are on disk: the manifest is replaced last.
 *
 * @returns how many readings were added
 * @throws OperatorError, and then nothing has changed
 */
export async function addReadings(
  { data, into }: { readonly data: string; readonly into: string },
  context: CommandContext,
): Promise<number> {
  const manifest = readManifest(into);
  const { epoch, directory, added: before } = manifest;
  const log = serverLog(context, "warn");
  const store = await openUploadStore({ directory: data, clock: context.clock, log });
  try {
    const own = (await store.epochs()).at(-1);
    if (own?.epoch !== epoch)
      throw new OperatorError(
        `${data} numbers its readings differently from the backup in ${into}`,
        "make a backup of it, without --add",
      );
    const files = Object.entries(manifest.files).filter(([name]) => !before?.batches.includes(name));
    const batches: string[] = [];
    let readings = 0;
    let last_seq = manifest.last_seq;
    for (;;) {
      const after_seq = last_seq;
      const made = await encodedBatch(async (readings_max) => {
        const batch = await store.batchAfter({ epoch, after_seq, readings_max });
        return batch && { batch };
      });
      if (made === undefined) break;
      const { batch, bytes } = made;
      const name = `added/${batch.from_seq}-${batch.to_seq}.batch`;
      const path = join(into, directory, name);
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeDurably(path, bytes);
      files.push([name, await contentOf(path)]);
      batches.push(name);
      readings += readingsIn(batch);
      last_seq = batch.to_seq;
    }
    if (batches.length > 0) syncToDisk(join(into, directory));
    const { added: _, ...rest } = manifest;
    const added = batches.length > 0 && { added: { last_seq, batches } };
    await putManifest(into, { ...rest, files: Object.fromEntries(files), ...added });
    return readings;
  } catch (thrown) {
    throw storeFault(thrown, into);
  } finally {
    await store.close();
  }
}

/** The readings that were added to a backup, in order. @throws OperatorError where a file is not what was written */
export async function addedBatches(from: string, { directory, files, added }: Manifest): Promise<Batch[]> {
  const within = join(from, directory);
  const names = added?.batches ?? [];
  const found = Object.fromEntries(Object.entries(files).filter(([name]) => names.includes(name)));
  await checkFiles(within, { files: found }, () => {});
  return Promise.all(names.map(async (name) => decodeBatch(await Bun.file(join(within, name)).bytes())));
}
