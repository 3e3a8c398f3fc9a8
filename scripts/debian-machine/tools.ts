/** Debian packages that have to be installed, by the command that shows whether they are. */
const packages: Readonly<Record<string, string>> = {
  mmdebstrap: "mmdebstrap",
  "mkfs.ext4": "e2fsprogs",
};
const packagesFor = {
  amd64: { "qemu-system-x86_64": "qemu-system-x86" },
  arm64: {
    "qemu-system-aarch64": "qemu-system-arm",
    "qemu-aarch64-static": "qemu-user-static",
    // mmdebstrap asks it whether this machine can run the programs of another.
    "arch-test": "arch-test",
  },
} as const;

/** The C compilers with which the tests of layouts compare the headers. */
export const compilers: Readonly<Record<string, string>> = {
  gcc: "gcc libc6-dev",
  "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
};

/** Throws one line that says what to install, or who has to run this. */
export function requireTools(
  architecture: keyof typeof packagesFor,
  others: Readonly<Record<string, string>> = {},
): void {
  const needed = { ...packages, ...packagesFor[architecture], ...others };
  const missing = Object.entries(needed).flatMap(([tool, name]) => (Bun.which(tool) ? [] : [name]));
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
