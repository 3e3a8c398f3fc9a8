import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { run } from "./tools.ts";

/** The files that a machine boots from, in the cache. */
export interface Disk {
  readonly image: string;
  readonly kernel: string;
  readonly initrd: string;
}

/** A processor by Debian's name for it. */
export type Architecture = "amd64" | "arm64";

/** Debian 13 has a kernel of 16 KiB pages for arm64, and is what today's Raspberry Pi OS is made of. */
const suite = "trixie";
const kernels: Readonly<Record<Architecture, string>> = {
  amd64: "linux-image-amd64",
  arm64: "linux-image-arm64-16k",
};
const installed = [
  "initramfs-tools",
  "systemd-sysv",
  "udev",
  // Whom others than root ask about services.
  "dbus",
  // README starts with curl.
  "curl",
  // A controller of the kernel has another owner on most machines.
  "bluez",
  "rfkill",
];
const disk_bytes = 3 * 1024 ** 3;

/** The disk in the cache, made first where there is none. It is never written to afterwards. */
export async function makeDisk(options: {
  cache: string;
  architecture: Architecture;
  say: (step: string) => void;
}): Promise<Disk> {
  const { cache, architecture, say } = options;
  // Named by what it is made of, so that it is never an older one.
  const recipe = await Bun.file(import.meta.path).bytes();
  const directory = join(cache, `${suite}-${architecture}-${Bun.hash.crc32(recipe).toString(16)}`);
  const disk = {
    image: join(directory, "disk.ext4"),
    kernel: join(directory, "vmlinuz"),
    initrd: join(directory, "initrd.img"),
  };
  if (existsSync(directory)) return disk;
  const work = `${directory}.${process.pid}`;
  const root = join(work, "root");
  mkdirSync(root, { recursive: true });
  try {
    say(`Debian ${suite} for ${architecture}, from the mirror that apt uses here`);
    await installDebian(root, architecture);
    await configure(root);
    say("its disk");
    await run("mkfs.ext4", "-q", "-d", root, join(work, "disk.ext4"), `${disk_bytes / 1024}k`);
    for (const [name, file] of [
      ["vmlinuz", disk.kernel],
      ["initrd.img", disk.initrd],
    ] as const) {
      const [found] = await Array.fromAsync(new Glob(`boot/${name}-*`).scan({ cwd: root }));
      if (found === undefined) throw new Error(`Debian's kernel package brought no ${name}`);
      renameSync(join(root, found), join(work, file.slice(directory.length + 1)));
    }
    rmSync(root, { recursive: true });
    renameSync(work, directory);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return disk;
}

/** Before the kernel is installed: an initrd for qemu's disks alone, since one for every machine takes minutes to make. */
const startSmall = `cd "$1" && mkdir -p etc/initramfs-tools/conf.d usr/share/initramfs-tools/modules.d &&
  echo MODULES=list >etc/initramfs-tools/conf.d/trial &&
  printf '%s\\n' virtio_pci virtio_blk ext4 >usr/share/initramfs-tools/modules.d/trial`;

async function installDebian(root: string, architecture: Architecture): Promise<void> {
  const uris = ["--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian"];
  const mirrors = await run("apt-get", "indextargets", ...uris);
  const [mirror] = mirrors.split("\n");
  if (mirror === undefined || mirror === "") throw new Error("apt knows no mirror of Debian here");
  const registered = architecture === "arm64" && (await registerEmulator());
  try {
    const packages = [kernels[architecture], ...installed].join(",");
    const options = ["--mode=root", `--arch=${architecture}`, "--variant=minbase", `--include=${packages}`];
    await run("mmdebstrap", ...options, `--essential-hook=${startSmall}`, suite, root, mirror);
  } finally {
    if (registered) await Bun.write(emulator, "-1");
  }
}

const emulator = "/proc/sys/fs/binfmt_misc/qemu-aarch64";

/**
 * Lets this kernel start programs for aarch64, as the installation of qemu-user-static does where systemd runs. False
 * where it can already.
 */
async function registerEmulator(): Promise<boolean> {
  if (process.arch === "arm64" || existsSync(emulator)) return false;
  const mounted = existsSync("/proc/sys/fs/binfmt_misc/register");
  if (!mounted) await run("mount", "-t", "binfmt_misc", "binfmt_misc", "/proc/sys/fs/binfmt_misc");
  await run("/usr/lib/systemd/systemd-binfmt", "/usr/lib/binfmt.d/qemu-aarch64.conf");
  return true;
}

/** A machine that takes its address from qemu, trusts whom this machine trusts, and runs the trial when it has started. */
async function configure(root: string): Promise<void> {
  const files: Readonly<Record<string, string | Bun.BunFile>> = {
    "etc/resolv.conf": "nameserver 10.0.2.3\n",
    "etc/hostname": "gateway\n",
    "etc/ssl/certs/ca-certificates.crt": Bun.file("/etc/ssl/certs/ca-certificates.crt"),
    "etc/systemd/network/any.network": "[Match]\nName=en*\n[Network]\nDHCP=yes\n",
    "etc/systemd/system/trial.service": trial,
  };
  for (const [path, content] of Object.entries(files)) {
    rmSync(join(root, path), { force: true });
    await Bun.write(join(root, path), content);
  }
  await run("systemctl", `--root=${root}`, "enable", "systemd-networkd", "trial");
}

/** The checkout comes as an archive in place of a second disk; the kernel's command line names the program in it. */
const trial = `[Unit]
Wants=network-online.target
After=network-online.target
SuccessAction=poweroff
FailureAction=poweroff
[Service]
Type=oneshot
ExecStart=sh -c 'mkdir /opt/lintel && tar -xf /dev/vdb -C /opt/lintel && for word in $$(cat /proc/cmdline); do case $$word in lintel.guest=*) exec /opt/lintel/$\${word#*=};; esac; done'
StandardOutput=tty
StandardError=tty
TTYPath=/dev/console
[Install]
WantedBy=multi-user.target
`;
