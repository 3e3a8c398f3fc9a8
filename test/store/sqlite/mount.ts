import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system of its own, in memory, gone at the end of the scope. */
export function mountSmall(
  options: { bytes?: number; readOnly?: boolean } = {},
): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "lintel-mount-"));
  const settings = `size=${options.bytes ?? 1_000_000}${options.readOnly ? ",ro" : ""}`;
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", settings, "tmpfs", path]);
  if (mounted.exitCode !== 0) {
    rmSync(path, { recursive: true });
    throw new Error(`mount: ${mounted.stderr.toString().trim()}`);
  }
  return {
    path,
    [Symbol.dispose]: () => {
      Bun.spawnSync(["umount", "--lazy", path]);
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Whether this machine lets the tests mount; the tests that need it are skipped where it does not. */
export const mountsAllowed = (() => {
  try {
    mountSmall()[Symbol.dispose]();
    return true;
  } catch (thrown) {
    process.stderr.write(`tests of full and read-only disks are skipped: ${thrown}\n`);
    return false;
  }
})();
