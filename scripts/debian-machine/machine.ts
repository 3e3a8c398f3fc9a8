import { basename, dirname } from "node:path";
import { repositoryFiles, root } from "../../testbed/source-files.ts";
import type { Architecture, Disk } from "./disk.ts";
import { run } from "./tools.ts";

/** How long a trial may take at most. */
const trial_s_max = 3600;

/** The differences between the machines: the processor of a Raspberry Pi 5, or that of a small PC. */
const machines: Readonly<Record<Architecture, { qemu: readonly string[]; console: string }>> = {
  amd64: {
    qemu: ["qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-cpu", "max"],
    console: "ttyS0",
  },
  arm64: { qemu: ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a76"], console: "ttyAMA0" },
};

/**
 * Boots a machine with the memory of the smallest Raspberry Pi 5, and this checkout and `files`, which lie in its root, as an archive on a second disk. It runs
 * `guest`, a program of the checkout. With `stick`, a tcp address, a serial adapter (FTDI) on USB leads there. Yields the lines of its console,
 * which goes to the file `log` as well, until it is switched off. Nothing of what it writes is kept.
 */
export async function* boot(options: {
  architecture: Architecture;
  disk: Disk;
  files: readonly string[];
  guest: string;
  stick?: URL;
  log: string;
}): AsyncGenerator<string> {
  const { architecture, disk, files, guest, stick, log } = options;
  const { qemu, console } = machines[architecture];
  const checkout = `${log}.tar`;
  await run("tar", "-cf", checkout, "-C", root, ...(await repositoryFiles()));
  for (const file of files) await run("tar", "-rf", checkout, "-C", dirname(file), basename(file));
  const quiet = `quiet systemd.show_status=no systemd.mask=serial-getty@${console}.service`;
  const words = `root=/dev/vda rw console=${console} ${quiet} lintel.guest=${guest}`;
  const usb =
    stick === undefined
      ? []
      : [
          ["-chardev", `socket,id=stick,host=${stick.hostname},port=${stick.port}`],
          ["-device", "qemu-xhci", "-device", "usb-serial,chardev=stick"],
        ];
  const machine = Bun.spawn(
    [
      [...qemu, "-smp", "2", "-m", "1G", "-no-reboot"],
      ["-kernel", disk.kernel, "-initrd", disk.initrd, "-append", words],
      ["-drive", `file=${disk.image},format=raw,if=virtio,snapshot=on`],
      ["-drive", `file=${checkout},format=raw,if=virtio,readonly=on`],
      ["-netdev", "user,id=network", "-device", "virtio-net-pci,netdev=network,romfile="],
      ...usb,
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
