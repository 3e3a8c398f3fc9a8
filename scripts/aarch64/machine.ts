import { basename, dirname } from "node:path";
import { repositoryFiles, root } from "../../testbed/source-files.ts";
import type { Disk } from "./disk.ts";
import { run } from "./tools.ts";

/** How long a trial may take at most. */
const trial_s_max = 3600;

/**
 * Boots the machine: the processor of a Raspberry Pi 5, the memory of the smallest, this checkout with the package `deb` as an archive on a second
 * disk, and on USB a serial adapter (FTDI) that leads to `stick`, a tcp address. Yields the lines of its console, which
 * goes to the file `log` as well, until it is switched off. Nothing of what it writes is kept.
 */
export async function* boot(options: {
  disk: Disk;
  deb: string;
  stick: URL;
  log: string;
}): AsyncGenerator<string> {
  const { disk, deb, stick, log } = options;
  const checkout = `${log}.tar`;
  await run("tar", "-cf", checkout, "-C", root, ...(await repositoryFiles()));
  await run("tar", "-rf", checkout, "-C", dirname(deb), basename(deb));
  const quiet = "quiet systemd.show_status=no systemd.mask=serial-getty@ttyAMA0.service";
  const machine = Bun.spawn(
    [
      ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a76", "-smp", "2", "-m", "1G", "-no-reboot"],
      [
        "-kernel",
        disk.kernel,
        "-initrd",
        disk.initrd,
        "-append",
        `root=/dev/vda rw console=ttyAMA0 ${quiet}`,
      ],
      ["-drive", `file=${disk.image},format=raw,if=virtio,snapshot=on`],
      ["-drive", `file=${checkout},format=raw,if=virtio,readonly=on`],
      ["-netdev", "user,id=network", "-device", "virtio-net-pci,netdev=network,romfile="],
      ["-chardev", `socket,id=stick,host=${stick.hostname},port=${stick.port}`],
      ["-device", "qemu-xhci", "-device", "usb-serial,chardev=stick"],
      ["-display", "none", "-monitor", "none", "-serial", "stdio"],
    ].flat(),
    { stdin: "ignore", stderr: "inherit", timeout: trial_s_max * 1000 },
  );
  const stop = () => machine.kill();
  process.on("SIGINT", stop).on("SIGTERM", stop);
  // A writer begins at the start of a file, and leaves what an earlier run wrote behind it.
  await Bun.write(log, "");
  const record = Bun.file(log).writer();
  try {
    let rest = "";
    for await (const text of machine.stdout.pipeThrough(new TextDecoderStream())) {
      record.write(text);
      record.flush();
      const lines = (rest + text).split(/\r*\n/);
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    stop();
    await record.end();
    await Bun.file(checkout).delete();
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}
