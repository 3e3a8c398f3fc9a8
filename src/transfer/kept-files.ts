import { acceptancesFile, mergedAcceptances } from "../domain/acceptance-file.ts";
import {
  backup_bytes_max,
  backups_bytes_max,
  backups_max,
  type CentralStore,
} from "../store/central/central-store.ts";
import type { BackupsBody } from "./protocol.ts";

/** Files that central keeps of a home, by name: how they travel, and how they are kept. */
export type HomeFiles = ReadonlyMap<string, Uint8Array>;

/** Files cannot be kept as they are; the message says which and why. */
export class FilesFault extends Error {}

export function bodyOfFiles(files: HomeFiles): BackupsBody {
  return { files: Object.fromEntries([...files].map(([name, content]) => [name, content.toBase64()])) };
}

/** @throws FilesFault */
export function filesInBody({ files }: BackupsBody): Map<string, Uint8Array<ArrayBuffer>> {
  return new Map(Object.entries(files).map(([name, text]) => [name, contentOf(name, text)]));
}

/**
 * Keeps files of a home, each in the place of the one of its name before; what is kept already is not written again. Of acceptances nothing that is kept ever changes
 * or goes.
 *
 * @throws FilesFault where they are too many; then none is kept
 */
export async function keepFiles(
  store: Pick<CentralStore, "backups" | "putBackup">,
  home: number,
  arrived: HomeFiles,
): Promise<void> {
  const kept = await store.backups(home);
  const files = new Map(arrived);
  const acceptances = arrived.get(acceptancesFile);
  if (acceptances !== undefined)
    files.set(acceptancesFile, mergedAcceptances(kept.get(acceptancesFile), acceptances));
  const all = new Map([...kept, ...files]);
  const bytes = [...all.values()].reduce((sum, { length }) => sum + length, 0);
  if (all.size > backups_max || bytes > backups_bytes_max)
    throw new FilesFault(`a home keeps ${backups_max} files with ${backups_bytes_max} bytes at most`);
  for (const [name, content] of files) {
    const before = kept.get(name);
    if (before === undefined || Buffer.compare(before, content) !== 0)
      await store.putBackup(home, name, content);
  }
}

function contentOf(name: string, text: string): Uint8Array<ArrayBuffer> {
  let content: Uint8Array<ArrayBuffer>;
  try {
    content = Uint8Array.fromBase64(text);
  } catch {
    throw new FilesFault(`${name} is not base64`);
  }
  if (content.length > backup_bytes_max)
    throw new FilesFault(`${name} has more than ${backup_bytes_max} bytes`);
  return content;
}
