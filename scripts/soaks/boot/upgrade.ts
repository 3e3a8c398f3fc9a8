import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { heardAgain } from "./faults.ts";
import { status } from "./gateway.ts";
import { command } from "./readme.ts";
import { run } from "./root.ts";
import { expect, step, type Trial } from "./trial.ts";

/** The repository that the box was cloned from, and what is committed to it later. */
export class Releases {
  readonly repository: string;
  readonly #checkout: string;

  /** As `checkout` is now, with what is changed in it and not committed yet. */
  constructor(options: { checkout: string; directory: string }) {
    this.repository = join(options.directory, "repository.git");
    this.#checkout = join(options.directory, "checkout");
    mkdirSync(options.directory, { recursive: true });
    const git = (...words: string[]) => run(["git", "-C", options.checkout, ...words]).trim();
    const commit = git("stash", "create") || git("rev-parse", "HEAD");
    run(["git", "init", "--quiet", "--bare", "--initial-branch=main", this.repository]);
    git("push", "--quiet", this.repository, `${commit}:refs/heads/main`);
    run(["git", "clone", "--quiet", this.repository, this.#checkout]);
  }

  /** One more version; with a dependency that was one of development alone, where it is to have another lock file. */
  release(version: string, options: { lock?: boolean } = {}): void {
    const path = join(this.#checkout, "package.json");
    const manifest = JSON.parse(readFileSync(path, "utf8"));
    manifest.version = version;
    if (options.lock) {
      const { [added]: pinned, ...others } = manifest.devDependencies;
      manifest.devDependencies = others;
      manifest.dependencies[added] = pinned;
    }
    writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
    const cwd = this.#checkout;
    if (options.lock) run([process.execPath, "install", "--lockfile-only", "--ignore-scripts"], { cwd });
    const author = ["-c", "user.name=soak", "-c", "user.email=soak@localhost"];
    run(["git", ...author, "commit", "--quiet", "--all", "--message", `Release ${version}`], { cwd });
    run(["git", "push", "--quiet"], { cwd });
  }
}

const added = "ajv-formats";

/** docs/upgrade.md: another source, then another lock file. */
export async function tryUpgrade(trial: Trial, releases: Releases): Promise<void> {
  const { box } = trial;
  await step("an upgrade of the source needs no network but for the pull", async () => {
    releases.release("0.1.91");
    await box.must(command("upgradePull"));
    for (const name of ["upgradePrepare", "upgradeUnits", "upgradeRestart"] as const)
      await box.must(command(name));
    await runs(trial, "0.1.91");
    return heardAgain(trial);
  });
  await step("between the pull and the next line of an upgrade the version before runs on", async () => {
    releases.release("0.1.92", { lock: true });
    await box.must(command("upgradePull"));
    const from = `@${Math.floor(Date.now() / 1000)}`;
    await box.must("systemctl restart lintel", { as: "root" });
    await runs(trial, "0.1.91");
    const log = await box.journal("lintel", from);
    const said = log.split("\n").find((line) => line.includes("is not complete")) ?? "";
    expect(
      said.includes("run 'sudo /opt/lintel/scripts/lintel --version'"),
      "a line that says what to do",
      log,
    );
    await heardAgain(trial);
    return said;
  });
  await step("without a network that line fails, and says so", async () => {
    const { code, said } = await box.run(command("upgradePrepare"));
    expect(code === 1 && said.includes("check the network"), "a failure of the network", said);
    await box.must("systemctl restart lintel", { as: "root" });
    await runs(trial, "0.1.91");
    return said.trim().split("\n").at(-1);
  });
  await step("with one it fetches what the new lock file names, and the new version runs", async () => {
    await box.must(command("upgradePrepare"), { network: true });
    for (const name of ["upgradeUnits", "upgradeRestart"] as const) await box.must(command(name));
    await runs(trial, "0.1.92");
    await box.must(`test -d /opt/lintel/node_modules/${added}`);
    return heardAgain(trial);
  });
  await step("back again to an older version, and from there to the newest", async () => {
    for (const [commit, version] of [
      ["HEAD~1", "0.1.91"],
      ["main", "0.1.92"],
    ] as const) {
      await box.must(command("backAgain", { COMMIT: commit }));
      await box.must(command("upgradePrepare"), { network: true });
      for (const name of ["upgradeUnits", "upgradeRestart"] as const) await box.must(command(name));
      await runs(trial, version);
    }
    return heardAgain(trial);
  });
}

async function runs({ box }: Trial, version: string): Promise<void> {
  const seen = await status(box);
  expect(seen.running && seen.version.startsWith(version), `version ${version}`, seen.version);
}
