import { linesOf } from "../../../testbed/lines.ts";
import type { Disk } from "../../debian-machine/disk.ts";

/** Boot of a bench machine, and what the technician has seen of it. */
export interface BenchMachine {
  /** The next line of its console, without the ends of lines; undefined when it is off. */
  line(): Promise<string | undefined>;
  /** Types a line. */
  type(text: string): void;
  /** Pulls its plug. */
  cut(): Promise<void>;
}

/**
 * Boots Debian with a shell at the serial console, the release on a second disk, and the disk that is tried, of the NBD server at a socket, as the third.
 * Nothing of what it writes to the first two is kept.
 */
export function bootBench(options: { disk: Disk; release: string; socket: string }): BenchMachine {
  const { disk, release, socket } = options;
  const words = "root=/dev/vda rw console=ttyS0 quiet loglevel=1 init=/bin/sh";
  const drive = (of: string) => ["-drive", `${of},format=raw,if=virtio`];
  const machine = Bun.spawn(
    [
      [
        "qemu-system-x86_64",
        "-M",
        "q35",
        "-accel",
        "tcg",
        "-cpu",
        "max",
        "-smp",
        "1",
        "-m",
        "1G",
        "-no-reboot",
      ],
      ["-kernel", disk.kernel, "-initrd", disk.initrd, "-append", words],
      [...drive(`file=${disk.image},snapshot=on`), ...drive(`file=${release},readonly=on`)],
      drive(`file=nbd+unix:///?socket=${socket}`),
      ["-nic", "none", "-display", "none", "-monitor", "none", "-serial", "stdio"],
    ].flat(),
    { stdin: "pipe", stdout: "pipe", stderr: "inherit", timeout: boot_s_max * 1000 },
  );
  const lines = linesOf(machine.stdout);
  return {
    line: async () => (await lines.next()).value?.replace(/[\r\n]+/g, ""),
    type: (text) => {
      machine.stdin.write(`${text}\n`);
      machine.stdin.flush();
    },
    cut: async () => {
      machine.kill("SIGKILL");
      await machine.exited;
    },
  };
}

/** One boot with its round. */
const boot_s_max = 1800;
