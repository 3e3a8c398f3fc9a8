import { mkdirSync, openSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { installer, lastLines, run } from "./root.ts";

const boot_ms_max = 60_000;
const command_ms_max = 300_000;
const poll_ms = 100;

export interface Ended {
  readonly code: number;
  readonly out: string;
  /** The text on stderr. */
  readonly said: string;
}

interface RunOptions {
  /** Root does what the world does to the box; README's commands are the installer's. */
  readonly as?: "installer" | "root";
  readonly input?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Time after which the command is ended, and has failed. */
  readonly ms_max?: number;
}

/**
 * A Debian that systemd has booted in a container, with a network of its own that leads nowhere, or that of another box. It
 * shares this machine's kernel; devices, processes, mounts and names are its own.
 */
export class Box {
  readonly #directory: string;
  readonly #name: string;
  readonly #mounts: Readonly<Record<string, string>>;
  readonly #beside: Box | undefined;
  readonly #console: number;
  readonly #group: string;
  readonly #network: string | undefined;
  readonly #disks: Readonly<Record<string, string>>;
  #nspawn: Bun.Subprocess | undefined;
  #leader = 0;

  /**
   * @param options `group` names its control group, one of this machine's; `mounts` are directories of this machine and their places in it;
   * `beside` is the box whose network it shares, `network` a namespace that it is in instead; what is in `mounts` it can't change,
   * what is in `disks` it can
   */
  constructor(options: {
    name: string;
    directory: string;
    mounts: Readonly<Record<string, string>>;
    console: string;
    group: string;
    beside?: Box;
    network?: string;
    disks?: Readonly<Record<string, string>>;
  }) {
    this.#name = options.name;
    this.#network = options.network;
    this.#disks = options.disks ?? {};
    this.#directory = options.directory;
    this.#mounts = options.mounts;
    this.#beside = options.beside;
    this.#console = openSync(options.console, "a");
    this.#group = groupOf(options.group);
    // One hierarchy of control groups, as a Raspberry Pi has; this machine's own may be of the older kind.
    if (options.beside === undefined) run(["sh", "-c", mountGroups]);
    mkdirSync(this.#group);
  }

  /** Switches it on, and waits until everything that is enabled has been started. */
  async boot(): Promise<string> {
    const words = [
      ...["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--boot", "--link-journal=no"],
      this.#networkOption,
      ...["--directory", this.#directory, "--machine", this.#name, "--console=pipe"],
      // systemd holds units to their devices by a program in the kernel.
      "--system-call-filter=bpf",
      ...Object.entries(this.#mounts).flatMap(([from, to]) => ["--bind-ro", `${from}:${to}`]),
      ...Object.entries(this.#disks).flatMap(([from, to]) => ["--bind", `${from}:${to}`]),
    ];
    const join = 'echo $$ >"$0/cgroup.procs" && exec "$@"';
    this.#nspawn = Bun.spawn(["sh", "-c", join, this.#group, ...words], {
      env: { PATH: process.env["PATH"] ?? "", SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: "1" },
      stdio: ["ignore", this.#console, this.#console],
    });
    const { pid } = this.#nspawn;
    this.#leader = await until("the container has an init", boot_ms_max, () => {
      const child = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);
      const isInit = child > 0 && readFileSync(`/proc/${child}/cmdline`, "utf8").includes("systemd\0");
      return isInit ? child : undefined;
    });
    return until("the box has started", boot_ms_max, async () => {
      const { out } = await this.run("systemctl is-system-running", { as: "root" });
      return /^(running|degraded)/.test(out) ? out.trim() : undefined;
    });
  }

  get #networkOption(): string {
    if (this.#network !== undefined) return `--network-namespace-path=${this.#network}`;
    if (this.#beside === undefined) return "--private-network";
    return `--network-namespace-path=/proc/${this.#beside.#leader}/ns/net`;
  }

  /** As by its power button. */
  async shutDown(): Promise<void> {
    await this.run("systemctl poweroff", { as: "root" });
    await this.#nspawn?.exited;
  }

  /** As by its plug: nothing in it hears of it. What it had handed to the kernel is still written. */
  async cutPower(): Promise<void> {
    process.kill(this.#leader, "SIGKILL");
    await this.#nspawn?.exited;
  }

  async close(): Promise<void> {
    if (this.#nspawn?.exitCode === null) await this.cutPower();
  }

  /** Runs a line of bash in the box, and waits for its end. */
  async run(line: string, options: RunOptions = {}): Promise<Ended> {
    // By a pipe, which can be opened as /dev/stdin; what this program writes to cannot.
    const child = this.start(options.input === undefined ? line : `cat | { ${line}\n}`, options);
    child.stdin.write(options.input ?? "");
    void child.stdin.end();
    const timer = setTimeout(() => child.kill("SIGKILL"), options.ms_max ?? command_ms_max);
    const [out, said, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    clearTimeout(timer);
    return { code, out, said };
  }

  /** Output of a line that must succeed. */
  async must(line: string, options: RunOptions = {}): Promise<string> {
    const { code, out, said } = await this.run(line, options);
    if (code !== 0) throw new Error(`${line}\n  ended with ${code}: ${lastLines(`${out}\n${said}`)}`);
    return out;
  }

  start(line: string, options: RunOptions = {}): Bun.Subprocess<"pipe", "pipe", "pipe"> {
    const { as = "installer" } = options;
    const home = as === "root" ? "/root" : `/home/${installer.name}`;
    const user =
      as === "root" ? [] : ["setpriv", `--reuid=${installer.id}`, `--regid=${installer.id}`, "--init-groups"];
    const env = {
      HOME: home,
      PATH: paths,
      LANG: "C.UTF-8",
      ...options.env,
    };
    const words = [
      ...["nsenter", "--target", String(this.#leader), "--mount", "--uts", "--ipc", "--pid", "--net"],
      ...[...user, "env", "--ignore-environment", `--chdir=${options.cwd ?? home}`],
      ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
      ...["bash", "-c", line],
    ];
    return Bun.spawn(words, { stdin: "pipe", stdout: "pipe", stderr: "pipe" });
  }

  /** A property of a unit, from systemd. */
  async property(unit: string, name: string): Promise<string> {
    return (await this.must(`systemctl show ${unit} --property ${name} --value`, { as: "root" })).trim();
  }

  /** Messages of a unit since its last start, or since `since`. */
  journal(unit: string, since = "-1d"): Promise<string> {
    return this.must(`journalctl --quiet --no-pager --output cat --unit ${unit} --since ${since}`, {
      as: "root",
    });
  }

  /** Writes a file of the box, as an editor would. */
  async write(path: string, text: string): Promise<void> {
    await this.must(`mkdir -p "$(dirname ${path})" && cat >${path}`, { as: "root", input: text });
  }
}

const mountGroups = "umount --recursive /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup";

function groupOf(name: string): string {
  return `/sys/fs/cgroup/${basename(name)}`;
}

/** Takes away the control group of a box that is off, or whose last processes are ending. */
export function removeGroup(name: string): void {
  const remove = `find "$0" -depth -type d -exec rmdir {} + 2>/dev/null`;
  const within_s = 10;
  const script = `${mountGroups} && for try in $(seq ${within_s}0); do [ -d "$0" ] && ! ${remove} || exit 0; sleep 0.1; done; exit 1`;
  run(["unshare", "--mount", "--propagation", "private", "sh", "-c", script, groupOf(name)]);
}

const paths = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Asks until there is an answer: that. Throws, naming what was waited for, when `ms_max` are over. */
export async function until<Answer>(
  what: string,
  ms_max: number,
  ask: () => Answer | undefined | Promise<Answer | undefined>,
): Promise<Answer> {
  const end = performance.now() + ms_max;
  for (;;) {
    const answer = await Promise.resolve(ask());
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > end) throw new Error(`waited ${ms_max / 1000} s in vain until ${what}`);
    await Bun.sleep(poll_ms);
  }
}
