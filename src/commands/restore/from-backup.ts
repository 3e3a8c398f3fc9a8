import { existsSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../errors.ts";
import { contentOf, copyDurably, requireSpace } from "../backup/durable-copy.ts";
import { checkContent, type Manifest } from "../backup/manifest.ts";

/**
 * Copies the files of a backup to where they stand in a data directory.
 *
 * @throws OperatorError that names the first that is not what was written
 */
export async function copyBackup(options: {
  readonly backup: string;
  readonly manifest: Manifest;
  readonly building: string;
  readonly stop: AbortSignal;
  readonly onBytes: (bytes: number, bytesTotal: number) => void;
}): Promise<void> {
  const { backup, manifest, building, stop, onBytes } = options;
  const files = Object.entries(dataFiles(manifest));
  const bytesTotal = files.reduce((sum, [, { bytes }]) => sum + bytes, 0);
  await requireSpace(building, bytesTotal);
  let bytes = 0;
  for (const [name, written] of files) {
    const path = join(backup, manifest.directory, name);
    const copied = copyDurably(path, join(building, name), (more) => {
      stop.throwIfAborted();
      bytes += more;
      onBytes(bytes, bytesTotal);
    });
    const found = await copied.catch((thrown: unknown) => messageOf(thrown));
    stop.throwIfAborted();
    checkContent(path, written, found);
  }
}

/**
 * Puts the configuration of a backup, and what it names, where they stood, unless something stands there. `configuration` is where the
 * configuration itself goes.
 *
 * @returns paths that are there now, and what could not be put back, a line each
 */
export async function putConfiguration(options: {
  readonly backup: string;
  readonly manifest: Manifest;
  readonly configuration: string;
}): Promise<{ readonly put: string[]; readonly failed: string[] }> {
  const { backup, manifest, configuration } = options;
  const put: string[] = [];
  const failed: string[] = [];
  for (const [index, { path, file }] of manifest.configuration.entries()) {
    const to = index === 0 ? configuration : path;
    if (existsSync(to)) continue;
    const from = join(backup, manifest.directory, file);
    try {
      const content = await contentOf(from);
      checkContent(from, manifest.files[file] ?? content, content);
      await copyDurably(from, to);
      put.push(to);
    } catch (thrown) {
      failed.push(`${to} could not be put back (${messageOf(thrown)}): it is ${from}`);
    }
  }
  return { put, failed };
}

function dataFiles({ files, configuration }: Manifest): Manifest["files"] {
  const elsewhere = new Set(configuration.map(({ file }) => file));
  return Object.fromEntries(Object.entries(files).filter(([name]) => !elsewhere.has(name)));
}
