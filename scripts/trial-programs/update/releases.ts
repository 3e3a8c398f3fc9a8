import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { run } from "../boot/root.ts";
import { type Attack, attack, keepForReplay } from "./attacks.ts";

/**
 * The package that the box starts with, built as people build it, and releases that are made of it: with the same program, another version, and a
 * fault before the program where one is asked for. Their Bun is a script that starts the package's, so that each is some megabytes small.
 */
export class ReleaseMaker {
  readonly #checkout: string;
  readonly #directory: string;
  /** The ledgers of the programme and of somebody else. */
  readonly #ledger: string;
  readonly #foreignLedger: string;
  /** The folders that these write; a web server serves one of them. */
  readonly #folders: { readonly own: string; readonly foreign: string };
  readonly architecture: string;

  /** @param options.cache where a package that was built of the same source is kept, with its key, for the next run */
  constructor(options: { checkout: string; directory: string; cache: string }) {
    this.#checkout = options.checkout;
    const source = sourceOf(options.checkout);
    this.#directory = source === undefined ? options.directory : join(options.cache, `packages-${source}`);
    this.architecture = run(["dpkg", "--print-architecture"]).trim();
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const own = join(this.#directory, "folder");
    this.#folders = { own, foreign: `${own}-foreign` };
    [this.#ledger, this.#foreignLedger] = Object.entries(this.#folders).map(([name, folder]) => {
      const ledger = join(this.#directory, `ledger-${name}`);
      if (!existsSync(join(ledger, "root.json"))) {
        rmSync(ledger, { recursive: true, force: true });
        run([this.#release, "init", ledger, "--folder", folder, "--yes"]);
      }
      return ledger;
    }) as [string, string];
  }

  get #release(): string {
    return join(this.#checkout, "scripts/release");
  }

  /** The path of the package of a version, with all that is in it. */
  build(version: string): string {
    const built = join(this.#directory, `lintel_${version}_${this.architecture}.deb`);
    if (existsSync(built) && existsSync(join(this.#directory, "base"))) return built;
    const out = ["--arch", this.architecture, "--out", this.#directory, "--version", version];
    run([
      ...quickly,
      join(this.#checkout, "scripts/build"),
      ...out,
      "--root",
      join(this.#ledger, "root.json"),
    ]);
    rmSync(join(this.#directory, "base"), { recursive: true, force: true });
    renameSync(built.replace(/\.deb$/, ""), join(this.#directory, "base"));
    return built;
  }

  /** Makes a release, with a fault where one is given: its package. */
  async make({ version, fault }: { version: string; fault?: string }): Promise<string> {
    const name = `lintel_${version}_${this.architecture}`;
    const tree = join(this.#directory, name);
    rmSync(tree, { recursive: true, force: true });
    const lib = join(tree, "usr/lib/lintel");
    mkdirSync(join(tree, "DEBIAN"), { recursive: true });
    mkdirSync(lib, { recursive: true });
    const base = join(this.#directory, "base");
    const entries = readdirSync(base).filter((entry) => entry !== "bun");
    await runBeside(["cp", "--archive", ...entries.map((entry) => join(base, entry)), lib]);
    // The same in all of them, so that only the first one after a package is downloaded whole.
    writeFileSync(join(lib, "bun"), '#!/bin/sh\nexec /usr/lib/lintel/bun "$@"\n', { mode: 0o755 });
    nameVersion(lib, version);
    if (fault !== undefined) {
      writeFileSync(join(lib, "program/fault.js"), fault);
      const launcher = join(lib, "lintel");
      const text = readFileSync(launcher, "utf8");
      writeFileSync(
        launcher,
        text.replace('exec "$bun"', 'exec "$bun" --preload "$release/program/fault.js"'),
      );
    }
    const control = `Package: lintel\nVersion: ${version}\nArchitecture: ${this.architecture}\nMaintainer: trial <trial@localhost>\nDescription: of the trial\n`;
    writeFileSync(join(tree, "DEBIAN/control"), control);
    const file = join(this.#directory, `${name}.deb`);
    await runBeside(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", tree, file]);
    rmSync(tree, { recursive: true });
    return file;
  }

  /**
   * Publishes a release, signed by the programme or by somebody else, as it is or with another byte than is signed.
   *
   * @returns what a box calls the attack, where there is one
   */
  async publish(
    folder: string,
    file: string,
    of: { foreign?: boolean; cut?: boolean; attack?: Attack },
  ): Promise<string | undefined> {
    const ledger = of.foreign ? this.#foreignLedger : this.#ledger;
    const published = of.foreign ? this.#folders.foreign : this.#folders.own;
    const before = join(this.#directory, "folder-before");
    rmSync(before, { recursive: true, force: true });
    cpSync(this.#folders.own, before, { recursive: true });
    for (const { version } of this.#published(ledger)) this.#change(ledger, "withdraw", "--version", version);
    this.#change(ledger, "add", "--ring", "500", file);
    this.#serve(published, folder);
    if (!of.foreign && of.attack === undefined) keepForReplay(folder, this.#ledger);
    const called = of.attack && (await attack(of.attack, { folder, ledger, before }));
    if (of.cut) {
      const targets = join(folder, "targets/ring-500");
      for (const name of readdirSync(targets)) {
        const bytes = readFileSync(join(targets, name));
        bytes[5_000] = (bytes[5_000] ?? 0) ^ 1;
        writeFileSync(join(targets, name), bytes);
      }
    }
    rmSync(file);
    return called;
  }

  #change(ledger: string, verb: string, ...words: string[]): void {
    run([...quickly, this.#release, verb, ledger, "--yes", ...words]);
  }

  /** The release that the programme has published: one at a time. */
  get published(): Published | undefined {
    return this.#published(this.#ledger)[0];
  }

  #published(ledger: string): Published[] {
    return JSON.parse(readFileSync(join(ledger, "ledger.json"), "utf8")).releases;
  }

  /** Copies what was published to where it is served: who can write there is somebody else. */
  #serve(published: string, folder: string): void {
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    cpSync(published, folder, { recursive: true });
  }

  /** The path of a package that is installed by hand: all of it, under another version. */
  async whole(version: string): Promise<string> {
    const tree = join(this.#directory, "whole");
    rmSync(tree, { recursive: true, force: true });
    await runBeside(["dpkg-deb", "--raw-extract", this.build("0.1.0"), tree]);
    nameVersion(join(tree, "usr/lib/lintel"), version);
    const control = join(tree, "DEBIAN/control");
    writeFileSync(control, readFileSync(control, "utf8").replace(/^Version: .*$/m, `Version: ${version}`));
    const file = join(this.#directory, "whole.deb");
    await runBeside(["dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, file]);
    rmSync(tree, { recursive: true });
    return file;
  }
}

/** A box unpacks a package once: its size does not matter here. */
const quickly = ["env", "DPKG_DEB_COMPRESSOR_TYPE=gzip", "DPKG_DEB_COMPRESSOR_LEVEL=1"];

interface Published {
  readonly version: string;
  readonly sha256: string;
}

function nameVersion(release: string, version: string): void {
  const path = join(release, "release.json");
  // As the launcher's and the package's scripts read it, a member a line.
  writeFileSync(path, readFileSync(path, "utf8").replace(/"version": "[^"]*"/, `"version": "${version}"`));
}

/** Runs a command while the sensor goes on speaking. */
async function runBeside(words: readonly string[]): Promise<void> {
  const child = Bun.spawn([...words], { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${words[0]} failed: ${said.trim()}`);
}

/** A name of what a package is built of; undefined where that is not all committed. */
function sourceOf(checkout: string): string | undefined {
  const parts = [
    "src",
    "drivers",
    "packaging",
    "systemd",
    "scripts/build",
    "scripts/packaging",
    "scripts/launch.sh",
  ];
  const git = (...words: string[]) =>
    run(["git", "-c", `safe.directory=${checkout}`, "-C", checkout, ...words]);
  if (git("status", "--porcelain", "--", ...parts).trim() !== "") return undefined;
  return createHash("sha256")
    .update(git("ls-tree", "HEAD", "--", "bun.lock", ...parts))
    .digest("hex")
    .slice(0, 12);
}
