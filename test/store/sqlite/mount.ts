import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
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
export const mountsAllowed = allowed(mountSmall);

/** An ext4 of its own in a file, as on an SD card; `fail` has the kernel find a fault in it, and make it read-only. */
export function mountCard(): { path: string; fail(): void } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "lintel-card-"));
  const image = `${path}.img`;
  const run = (...words: string[]) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(words);
    if (exitCode !== 0) throw new Error(`${words[0]}: ${stderr.toString().trim()}`);
    return stdout.toString().trim();
  };
  const remove = () => {
    Bun.spawnSync(["umount", path]);
    rmSync(path, { recursive: true, force: true });
    rmSync(image, { force: true });
  };
  try {
    writeFileSync(image, new Uint8Array(0));
    truncateSync(image, 32_000_000);
    run("mkfs.ext4", "-q", "-F", image);
    run("mount", "-o", "loop,errors=remount-ro", image, path);
    const device = run("findmnt", "--noheadings", "--output", "SOURCE", path).replace("/dev/", "");
    return {
      path,
      fail: () => writeFileSync(`/sys/fs/ext4/${device}/trigger_fs_error`, "a test"),
      [Symbol.dispose]: remove,
    };
  } catch (thrown) {
    remove();
    throw thrown;
  }
}

/** Whether this machine lets the tests mount a card; the tests that need one are skipped where it does not. */
export const cardsAllowed = mountsAllowed && allowed(mountCard);

function allowed(mount: () => Disposable): boolean {
  try {
    mount()[Symbol.dispose]();
    return true;
  } catch (thrown) {
    process.stderr.write(`tests of full and read-only disks are skipped: ${thrown}\n`);
    return false;
  }
}
