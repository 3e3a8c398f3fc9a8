/**
 * Lamp and button on the GPIO lines of a real kernel, by sysfs and by the character device
 *
 *   ./scripts/trials gpio [--cache DIR]
 *
 * Makes a small Linux of Debian's kernel source with the kernel's own simulated GPIO controllers (gpio-sim), a quarter of an hour the first time, and boots it in
 * qemu with this machine's files as they are, read-only. There the gateway that people start has a lamp and a button that bounces on a chip with a Raspberry Pi's
 * label. The kernel is kept in --cache. Exits with 1 at the first thing that does not hold, with 2 where tools are missing.
 */

import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../testbed/source-files.ts";
import { optionsOf } from "../program-options.ts";
import { missingTools, smallKernel } from "./gpio/kernel.ts";

const { cache } = optionsOf("./scripts/trials gpio [--cache DIR]   where the kernel is kept", {
  cache: join(tmpdir(), "lintel-trial-gpio"),
});
const missing = missingTools();
if (missing.length > 0) {
  console.error(`gpio: tools are missing: apt-get install --no-install-recommends ${missing.join(" ")}`);
  process.exit(2);
}
const hidden = ["/tmp/", "/run/", "/dev/shm/"].find((start) => root.startsWith(start));
if (hidden !== undefined) {
  console.error(`gpio: the machine has a ${hidden} of its own: run this in a checkout elsewhere`);
  process.exit(2);
}
/** The machine is emulated, and starts the gateway three times: some minutes each. */
const machine_max_ms = 1_800_000;

// The bundle is made here: there nothing can be written.
await Bun.$`${join(root, "scripts/lintel")} --version`.quiet();
const kernel = await smallKernel(cache, (line) => console.log(`  ${line}`));
const machine = Bun.spawn(
  [
    [
      "qemu-system-x86_64",
      "-accel",
      "tcg",
      "-cpu",
      "max",
      "-smp",
      "2",
      "-m",
      "2G",
      "-no-reboot",
      "-kernel",
      kernel,
    ],
    ["-virtfs", "local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap"],
    [
      "-append",
      `console=ttyS0 quiet panic=-1 root=root rootfstype=9p rootflags=trans=virtio,version=9p2000.L,cache=loose ro init=${join(import.meta.dir, "gpio/guest.sh")}`,
    ],
    ["-display", "none", "-monitor", "none", "-serial", "stdio"],
  ].flat(),
  { stdin: "ignore", stderr: "inherit", timeout: machine_max_ms },
);
let passed = false;
let rest = "";
for await (const text of machine.stdout.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split(/\r*\n/);
  rest = lines.pop() ?? "";
  for (const line of lines) {
    if (line === "passed") passed = true;
    console.log(`  ${line}`);
  }
}
console.log(passed ? "gpio: all held" : "gpio: the last line above did not hold");
process.exit(passed ? 0 : 1);
