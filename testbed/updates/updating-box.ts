import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, normalize } from "node:path";
import type { Subprocess } from "bun";
import { eventually, Site } from "../front-door.ts";
import { linesOf } from "../lines.ts";
import { type Fault, makePackage, makeRelease } from "./release-files.ts";

const publish = normalize(join(import.meta.dir, "../../scripts/release"));
const runUpdate = normalize(join(import.meta.dir, "../../packaging/run-update"));

/** A folder of releases on a web server, which can take its time, and fail. */
export class ReleaseServer {
  readonly #server: Bun.Server<undefined>;
  /** Bytes of a package that it sends before it cuts the connection; absent: all. */
  cutAfter_bytes: number | undefined;
  /** Requests for packages, by where they begin, and by the digests in their addresses. */
  readonly ranges: number[] = [];
  readonly asked: string[] = [];

  constructor(readonly folder: string) {
    this.#server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        const path = join(
          folder,
          decodeURIComponent(new URL(request.url).pathname).replace(/^\/releases/, ""),
        );
        if (!existsSync(path) || !statSync(path).isFile()) return new Response("", { status: 404 });
        const from = Number(/^bytes=(\d+)-$/.exec(request.headers.get("range") ?? "")?.[1] ?? 0);
        if (path.endsWith(".deb")) {
          this.ranges.push(from);
          this.asked.push(basename(path).slice(0, 64));
        }
        const bytes = (await Bun.file(path).bytes()).slice(from);
        const cut = path.endsWith(".deb") ? this.cutAfter_bytes : undefined;
        const sent = cut === undefined ? bytes : bytes.slice(0, cut);
        return new Response(sent, { status: from > 0 ? 206 : 200 });
      },
    });
  }

  get url(): string {
    return `${this.#server.url}releases`;
  }

  stop(): Promise<void> {
    return this.#server.stop(true);
  }
}

/**
 * A box with the package of 0.1.0 on it: its release, its directory of releases, its data, and a supervisor that does what systemd does with
 * lintel.service. `systemctl` on the PATH of its updater speaks to that.
 */
export class UpdatingBox implements AsyncDisposable {
  /** The data and the releases: all that the updater may change. */
  readonly disk = mkdtempSync(join(tmpdir(), "lintel-disk-"));
  readonly site = new Site({ data: join(this.disk, "data") });
  readonly releases = join(this.disk, "releases");
  readonly #package = join(this.site.directory, "package");
  readonly #bin = join(this.site.directory, "bin");
  /** The ledger of the programme, on a disk of its own. */
  readonly ledger = join(this.site.directory, "ledger");
  readonly root: string;
  readonly server: ReleaseServer;
  readonly #supervisor: Supervisor;
  #updater: Subprocess<"ignore", "pipe", "pipe"> | undefined;

  constructor({ sections = "", trial_s = 30 }: { sections?: string; trial_s?: number } = {}) {
    const folder = join(this.site.directory, "served");
    mkdirSync(folder);
    this.server = new ReleaseServer(folder);
    this.list("init", "--folder", folder);
    this.root = readFileSync(join(this.ledger, "root.json"), "utf8");
    makeRelease(this.#package, { version: "0.1.0", root: this.root });
    this.configure(sections, trial_s);
    const socket = join(this.site.directory, "systemd.sock");
    this.#supervisor = new Supervisor(socket, () => [
      existsSync(join(this.releases, "current"))
        ? join(this.releases, "current/lintel")
        : join(this.#package, "lintel"),
      "run",
      "--config",
      this.site.config,
      "--json",
    ]);
    mkdirSync(this.#bin);
    const systemctl = join(this.#bin, "systemctl");
    const ask = `const words = process.argv.slice(2).filter((word) => !word.startsWith("-"));
const answer = await fetch("http://systemd/" + words.join("/"), { unix: ${JSON.stringify(socket)} });
process.stdout.write(await answer.text());`;
    writeFileSync(systemctl, `#!${process.execPath}\n${ask}\n`);
    chmodSync(systemctl, 0o755);
  }

  configure(sections: string, trial_s = 30, watch_s = 0): void {
    const update = `[update]\nmanifest = "${this.server.url}"\nring = 50\ntrial_seconds = ${trial_s}\nwatch_seconds = ${watch_s}\ndirectory = "${this.releases}"`;
    this.site.configure({ sections: `${sections}\n${update}` });
  }

  /** Makes a release and publishes it. */
  publish(of: {
    version: string;
    fault?: Fault;
    ring?: number;
    architecture?: string;
    short?: boolean;
    bun?: string;
  }): string {
    const file = makePackage(this.site.directory, { root: this.root, ...of });
    this.list("add", "--ring", String(of.ring ?? 500), file);
    return file;
  }

  /** `scripts/release` of the programme. */
  list(verb: string, ...words: string[]): void {
    const { exitCode, stderr } = Bun.spawnSync([publish, verb, this.ledger, "--yes", ...words], {
      env: { ...process.env, DPKG_DEB_COMPRESSOR_TYPE: "gzip", DPKG_DEB_COMPRESSOR_LEVEL: "1" },
    });
    if (exitCode !== 0) throw new Error(stderr.toString());
  }

  /** As `systemctl restart lintel` by somebody else than the updater. */
  async restart(): Promise<void> {
    await this.#supervisor.stop();
    this.#supervisor.start();
  }

  /** Has something happen whenever the updater stops the gateway, which runs until it is over. */
  set beforeStop(happens: () => Promise<void>) {
    this.#supervisor.beforeStop = happens;
  }

  /** Switches it on. */
  switchOn(): void {
    this.#supervisor.start();
  }

  /** Switches it on, and waits until the gateway serves. */
  async boot(): Promise<void> {
    this.switchOn();
    await this.serving();
  }

  /** Waits until the gateway serves. */
  serving(): Promise<true> {
    return eventually(() => this.#supervisor.serving || undefined, "the gateway serves");
  }

  /** Starts the updater of the confirmed release, as its unit does. */
  startUpdate(...words: string[]): Promise<{ code: number; out: string; said: string }> {
    return this.startUpdateBy([], ...words);
  }

  /** The same by a program whose words stand before those of the updater. */
  startUpdateBy(
    program: readonly string[],
    ...words: string[]
  ): Promise<{ code: number; out: string; said: string }> {
    const update = [runUpdate, this.releases, this.#package, "--config", this.site.config, "--json"];
    const child = Bun.spawn([...program, ...update, ...words], {
      cwd: this.site.directory,
      env: { PATH: `${this.#bin}:/usr/bin:/bin`, HOME: this.site.home },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      detached: true,
    });
    this.#updater = child;
    return Promise.all([
      child.exited,
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]).then(([code, out, said]) => ({ code, out, said }));
  }

  /** Runs the updater to its end: what it printed. */
  async update(): Promise<{ result: string; message: string }> {
    const { out, said } = await this.startUpdate();
    if (out === "") throw new Error(`the updater has failed: ${said}`);
    return JSON.parse(out);
  }

  /** Looks at a release that is being watched, until there is a verdict. */
  async judged(): Promise<{ result: string; message: string }> {
    for (;;) {
      const updated = await this.update();
      if (updated.result !== "watched") return updated;
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: as JSON
  async status(): Promise<any> {
    const { out } = await this.startUpdate("--status");
    return JSON.parse(out);
  }

  /** The state of the updater, as it lies on the disk. */
  state(): State {
    const path = join(this.releases, "state.json");
    return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
  }

  /** Starts the updater, and pulls the plug as soon as something is so. */
  async cutPowerWhen(isNow: () => boolean): Promise<void> {
    let ended = false;
    void this.startUpdate().then(() => {
      ended = true;
    });
    while (!isNow()) {
      if (ended) throw new Error("the update ended before the power was cut");
      await Bun.sleep(1);
    }
    await this.cutPower();
  }

  /** The plug is pulled: every process of the box ends at once. */
  async cutPower(): Promise<void> {
    killGroup(this.#updater);
    await this.#updater?.exited;
    await this.#supervisor.kill();
  }

  /** The folder that the running gateway was started from. */
  running(): string | undefined {
    return this.#supervisor.folder;
  }

  /** Where a link of the directory of releases leads. */
  link(name: "current" | "confirmed" | "previous"): string | undefined {
    const path = join(this.releases, name);
    return existsSync(path) ? readlinkSync(path) : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cutPower();
    await this.#supervisor.close();
    await this.server.stop();
    await this.site.remove();
    rmSync(this.disk, { recursive: true, force: true });
  }
}

interface State {
  readonly trial?: { readonly phase: string; readonly switched_ms?: number };
}

/** One service: started again when it ends, as Restart=always does. */
class Supervisor {
  readonly #server: Bun.Server<undefined>;
  readonly #command: () => readonly string[];
  #child: Subprocess<"ignore", "pipe", "inherit" | "ignore"> | undefined;
  /** Of one start, until it is stopped; absent: nothing is to run. */
  #wanted: symbol | undefined;
  #restarts = 0;
  serving = false;
  folder: string | undefined;
  beforeStop: () => Promise<void> = async () => {};

  constructor(socket: string, command: () => readonly string[]) {
    this.#command = command;
    this.#server = Bun.serve({
      unix: socket,
      // A gateway may take its time to stop. Bun takes no such setting in its types for a unix socket.
      idleTimeout: 0 as never,
      fetch: async ({ url }) => {
        const [, verb] = new URL(url).pathname.split("/");
        if (verb === "start") this.start();
        if (verb === "stop") await this.stop();
        return new Response(
          `ActiveState=${this.serving ? "active" : "activating"}\nNRestarts=${this.#restarts}\n`,
        );
      },
    });
  }

  start(): void {
    if (this.#wanted !== undefined) return;
    this.#wanted = Symbol();
    this.#restarts = 0;
    void this.#keepRunning(this.#wanted);
  }

  async #keepRunning(start: symbol): Promise<void> {
    while (this.#wanted === start) {
      const [program = "", ...words] = this.#command();
      this.folder = program;
      const child = Bun.spawn([program, ...words], {
        env: { PATH: "/usr/bin:/bin" },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "ignore",
        detached: true,
      });
      this.#child = child;
      void linesOf(child.stdout)
        .next()
        .then(({ done }) => {
          if (!done && this.#child === child) this.serving = true;
        });
      await child.exited;
      if (this.#wanted !== start) break;
      this.serving = false;
      await Bun.sleep(100);
      if (this.#wanted === start) this.#restarts += 1;
    }
  }

  async stop(): Promise<void> {
    if (this.serving) await this.beforeStop();
    this.#wanted = undefined;
    this.#child?.kill("SIGTERM");
    await this.#child?.exited;
    this.serving = false;
  }

  async kill(): Promise<void> {
    this.#wanted = undefined;
    killGroup(this.#child);
    await this.#child?.exited;
    this.serving = false;
  }

  async close(): Promise<void> {
    await this.kill();
    await this.#server.stop(true);
  }
}

/** Ends a process that was started as the leader of a group, and all that it has started. */
function killGroup(leader: Subprocess | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader.pid, "SIGKILL");
  } catch {
    // All of them have ended.
  }
}
