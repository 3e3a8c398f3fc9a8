import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeGroup } from "./box.ts";

/**
 * Runs a trial once more, with its words and `--within DIR`, in mounts and processes of its own, which end with it: nothing is left on this machine.
 * Answers its exit code; 2 where it cannot run here.
 */
export async function runApart({
  name,
  program,
  boxes,
}: {
  name: string;
  program: string;
  /** Names of the boxes that it boots, whose control groups are named by the directory. */
  boxes: readonly string[];
}): Promise<number> {
  const missing = ["debootstrap", "systemd-nspawn", "unshare", "nsenter"].filter(
    (one) => Bun.which(one) === null,
  );
  if (process.getuid?.() !== 0 || missing.length > 0) {
    console.error(`trial ${name}: needs root, and sudo apt-get install debootstrap systemd-container`);
    return 2;
  }
  const directory = mkdtempSync(join(tmpdir(), `lintel-${name}-`));
  const apart = [
    "unshare",
    "--mount",
    "--propagation",
    "private",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
  ];
  const words = [...apart, process.execPath, program, ...process.argv.slice(2), "--within", directory];
  const child = Bun.spawn(["setpriv", "--pdeathsig", "KILL", ...words], {
    stdio: ["inherit", "inherit", "inherit"],
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => child.kill("SIGKILL"));
  const code = await child.exited;
  for (const one of boxes) removeGroup(`${directory}-${one}`);
  rmSync(directory, { recursive: true });
  return child.signalCode === null ? code : 130;
}
