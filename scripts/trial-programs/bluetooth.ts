/**
 * An adapter of a real kernel: bluetoothd, unplugging, rfkill, the rights of the service
 *
 *   sudo ./scripts/trials bluetooth [--arch amd64|arm64] [--cache DIR]
 *
 * Boots Debian 13 in qemu with this checkout's package. There hci_vhci makes an adapter, or hci_uart on aarch64, where Debian has no hci_vhci. Behind it is the
 * simulated controller with a pill box, a scale and a watch around it. The service that people start hears them, whatever happens to the adapter, beside a running bluetoothd. Takes ten minutes, and some more
 * the first time, when it makes the machine's disk, which --cache keeps. Exits with 1 at the first thing that does not hold, with 2 where tools are missing.
 */
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../testbed/source-files.ts";
import { makeDisk } from "../debian-machine/disk.ts";
import { boot } from "../debian-machine/machine.ts";
import { requireTools, run } from "../debian-machine/tools.ts";
import { optionsOf } from "../program-options.ts";

const { arch, cache } = optionsOf(
  "sudo ./scripts/trials bluetooth [--arch amd64|arm64] [--cache DIR]   where the machine's disk is kept",
  { arch: process.arch === "arm64" ? "arm64" : "amd64", cache: join(tmpdir(), "lintel-trial-bluetooth") },
  ({ arch }) => arch === "amd64" || arch === "arm64",
);
const architecture = arch as "amd64" | "arm64";
const guest = "scripts/trial-programs/bluetooth/guest.sh";
const say = (line: string) => console.log(`  ${line}`);

try {
  requireTools(architecture);
} catch (thrown) {
  console.error(`bluetooth: ${(thrown as Error).message}`);
  process.exit(2);
}
mkdirSync(cache, { recursive: true, mode: 0o700 });
const disk = await makeDisk({ cache, architecture, say });
say(`the package for ${arch}`);
const build = [join(root, "scripts/build"), "--arch", arch, "--out", join(cache, "packages")];
const deb = (await run("env", "DPKG_DEB_COMPRESSOR_TYPE=gzip", ...build)).trim().split("\n").at(-1) ?? "";
// The machine has no packages of npm: the simulator goes there as one file.
await Bun.build({ entrypoints: [join(root, "testbed/air.ts")], target: "bun", outdir: cache });
const log = join(cache, `console-${arch}.log`);
const files = [deb, join(cache, "air.js")];
let passed = false;
for await (const line of boot({ architecture, disk, files, guest, log })) {
  const [word, rest = ""] = line.split(/: (.*)/s);
  if (word === "step") say(rest);
  else if (word === "seen" || word === "error") say(`  ${rest}`);
  else if (line === "passed") passed = true;
}
console.log(
  passed
    ? "bluetooth: all held"
    : `bluetooth: the last step did not hold; ${log} has all that the machine said`,
);
process.exit(passed ? 0 : 1);
