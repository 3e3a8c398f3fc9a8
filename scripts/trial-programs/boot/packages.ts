import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Box } from "./box.ts";
import { command, type Printed } from "./readme.ts";
import { run } from "./root.ts";
import { bunPath } from "./stick.ts";
import { expect, step, type Trial } from "./trial.ts";

/** The versions that a box gets, one after the other. */
export const versions = ["0.1.91", "0.1.92"] as const;
export type Version = (typeof versions)[number];

/** Where a box sees them. */
export const packagesPath = "/mnt/packages";

const architecture = process.arch === "arm64" ? "arm64" : "amd64";

/** Who signs the repository of the trial. */
const signer = "programme@example.org";

/** Builds a package of each version from `checkout` into `directory`, a directory for each, and a signed repository of both in `apt`. */
export function buildPackages(options: { checkout: string; directory: string }): string {
  const { checkout, directory } = options;
  const keys = `${directory}.keys`;
  mkdirSync(keys, { recursive: true, mode: 0o700 });
  const gpg = ["gpg", "--homedir", keys, "--batch", "--quiet", "--passphrase", ""];
  run([...gpg, "--quick-generate-key", signer, "ed25519", "sign", "never"]);
  for (const version of versions) {
    const out = join(directory, version);
    mkdirSync(out, { recursive: true });
    const words = ["--arch", architecture, "--version", version, "--out", out];
    // Whatever it takes to compress them better is spent on releases.
    const quick = ["DPKG_DEB_COMPRESSOR_TYPE=gzip", "DPKG_DEB_COMPRESSOR_LEVEL=1"];
    run(["env", ...quick, "scripts/build", ...words], { cwd: checkout });
    const built = join(out, `lintel_${version}_${architecture}.deb`);
    const folders = [`${directory}.pool`, join(directory, "apt")];
    const signed = ["scripts/apt-folder", ...folders, "--sign-with", signer, built];
    run(["env", `GNUPGHOME=${keys}`, ...signed], { cwd: checkout });
    run(["rm", "-r", join(out, `lintel_${version}_${architecture}`)]);
  }
  run(["gpgconf", "--homedir", keys, "--kill", "all"]);
  return directory;
}

/** Runs a printed line that installs a package from the directory that somebody stands in. */
export async function install(box: Box, version: Version, name: Printed = "install"): Promise<string> {
  const line = command(name).replace("_arm64.deb", `_${architecture}.deb`);
  return box.must(line.replace("_amd64.deb", `_${architecture}.deb`), {
    cwd: `${packagesPath}/${version}`,
    // apt asks before it goes back to an older version.
    ...(name === "goBack" && { input: "y\n" }),
  });
}

/** docs/install.md, "The package": a box that takes it from a signed repository, and refuses one that somebody has changed. */
export async function tryRepository({ box }: Trial): Promise<void> {
  const root = "/root/repository";
  const handler = `request => new Response(Bun.file("${root}" + new URL(request.url).pathname))`;
  // Ends with its input: an orphan that nobody reaps would keep the box from going off.
  const program = `Bun.serve({ port: ${port}, fetch: ${handler} }); for await (const line of console); process.exit()`;
  const server = box.start(`exec ${bunPath} --eval '${program}'`, { as: "root" });
  const blanks = { "https://packages.example/lintel": `http://localhost:${port}` };
  await step("apt installs it from a signed repository", async () => {
    await box.must(`cp -r ${packagesPath}/apt ${root}`, { as: "root" });
    await box.must(command("repositoryKey", blanks));
    await box.must(command("repositoryLine", blanks));
    await box.must(command("repositoryInstall"));
    return (await box.must("dpkg-query --show lintel")).trim();
  });
  await step("and takes nothing from one whose list was changed", async () => {
    await box.must(`sed -i 's/${versions[1]}/0.1.99/' ${root}/Packages && gzip -kf ${root}/Packages`, {
      as: "root",
    });
    await box.must("rm -rf /var/lib/apt/lists", { as: "root" });
    const { out, said } = await box.run("sudo apt update && apt-cache policy lintel");
    expect(!out.includes("0.1.99"), "none of its versions", out);
    return said.split("\n").find((line) => line.startsWith("E:"));
  });
  void server.stdin.end();
  await server.exited;
}

const port = 8100;
