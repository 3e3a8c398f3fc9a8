/** Debian packages that have to be installed, by the command that shows whether they are. */
const packages: Readonly<Record<string, string>> = {
  "qemu-system-aarch64": "qemu-system-arm",
  "qemu-aarch64-static": "qemu-user-static",
  mmdebstrap: "mmdebstrap",
  // mmdebstrap asks it whether this machine can run the programs of another.
  "arch-test": "arch-test",
  "mkfs.ext4": "e2fsprogs",
  gcc: "gcc libc6-dev",
  "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
};

/** Throws one line that says what to install, or who has to run this. */
export function requireTools(): void {
  const missing = Object.entries(packages).flatMap(([tool, name]) => (Bun.which(tool) ? [] : [name]));
  if (missing.length > 0)
    throw new Error(`tools are missing: apt-get install --no-install-recommends ${missing.join(" ")}`);
  if (process.getuid?.() !== 0) throw new Error("makes a disk with files of every owner: run it with sudo");
}

/** Runs a command to its end and returns what it printed. Throws its last lines where it failed. */
export async function run(...command: string[]): Promise<string> {
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) === 0) return output;
  throw new Error(`${command[0]} failed: ${errors.trim().split("\n").slice(-5).join("\n")}`);
}
