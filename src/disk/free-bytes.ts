import { statfs } from "node:fs/promises";

/** How many bytes the disk of a directory has free for users other than root. Rejects where there is no such directory. */
export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
