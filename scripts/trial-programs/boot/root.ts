import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Packages of the box besides Debian's smallest system: an init, the ones that README names, and a database for
 * central. Everything else that Lintel needs is missing here, so that the package has to bring it.
 */
const packages = [
  "systemd",
  "systemd-sysv",
  "dbus",
  "sudo",
  "curl",
  "ca-certificates",
  "procps",
  "tzdata",
  // As every Debian has that was not put together by hand.
  "systemd-timesyncd",
  "postgresql",
];

/** The installer, who works as README says: with sudo, and a home directory. */
export const installer = { name: "installer", id: 1000 } as const;

/** A fresh Debian in `directory`, from a copy in `cache` that is made once for each mirror and list of packages. */
export function makeRoot(options: { directory: string; cache: string }): string {
  const { suite, mirror } = debian();
  const name = createHash("sha256")
    .update(JSON.stringify([suite, mirror, packages]))
    .digest("hex");
  mkdirSync(options.cache, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(options.cache);
  if (uid !== 0 || (mode & 0o022) !== 0)
    throw new Error(`${options.cache} may be written by others: remove it`);
  const base = join(options.cache, `${suite}-${name.slice(0, 12)}`);
  if (!existsSync(base)) {
    const making = `${base}.making`;
    run(["rm", "-rf", making]);
    run(["debootstrap", "--variant=minbase", `--include=${packages.join(",")}`, suite, making, mirror]);
    rmSync(join(making, "var/cache/apt/archives"), { recursive: true });
    renameSync(making, base);
  }
  run(["cp", "-a", base, options.directory]);
  furnish(options.directory);
  return `${suite} from ${mirror}`;
}

/** Where apt on this machine gets Debian from. */
function debian(): { suite: string; mirror: string } {
  const suite = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "";
  const format = "$(CODENAME) $(COMPONENT) $(REPO_URI)";
  const targets = run(["apt-get", "indextargets", "--format", format, "Identifier: Packages"]);
  const mirror = targets
    .split("\n")
    .map((line) => line.split(" "))
    .find(([codename, component]) => codename === suite && component === "main")?.[2];
  if (mirror === undefined)
    throw new Error("apt on this machine knows no mirror of Debian: see /etc/apt/sources.list");
  return { suite, mirror };
}

/** Makes the settings that an image for a card already has: a user with sudo, and a host name. */
function furnish(directory: string): void {
  const { name, id } = installer;
  const write = (path: string, text: string) => writeFileSync(join(directory, path), text);
  run(["chroot", directory, "useradd", "--create-home", "--uid", String(id), "--shell", "/bin/bash", name]);
  write("etc/sudoers.d/installer", `${name} ALL=(ALL) NOPASSWD: ALL\n`);
  write("etc/hostname", "gateway\n");
  write("etc/hosts", "127.0.0.1 localhost gateway gateway.local\n::1 localhost\n");
  write("etc/machine-id", "");
  // The database answers to anybody on the machine, and is started where a step asks for it.
  rmSync(join(directory, "etc/systemd/system/multi-user.target.wants/postgresql.service"), { force: true });
  const trust = "local all all trust\nhost all all 127.0.0.1/32 trust\nhost all all ::1/128 trust\n";
  run([
    "sh",
    "-c",
    'for file in "$1"/etc/postgresql/*/main/pg_hba.conf; do printf "%s" "$2" >"$file"; done',
    "sh",
    directory,
    trust,
  ]);
}

/** Runs a program of this machine to its end: what it printed. Throws with what it said where it failed. */
export function run(words: readonly string[], options: { cwd?: string } = {}): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...words], { ...options, stdin: "ignore" });
  if (exitCode !== 0)
    throw new Error(`${words.join(" ")}: exit ${exitCode}: ${lastLines(`${stdout}${stderr}`)}`);
  return stdout.toString();
}

export function lastLines(text: string, lines = 12): string {
  return text.trim().split("\n").slice(-lines).join("\n");
}
