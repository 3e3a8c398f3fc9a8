import { statfs } from "node:fs/promises";

/** With less than this a disk is nearly full. */
export const disk_low_bytes = 256 * 1024 * 1024;

/** How many bytes the disk of a directory has free for users other than root. Rejects where there is no such directory. */
export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
