import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import type { ReleaseFolder } from "./releases.ts";
import { ran } from "./updated-home.ts";

/**
 * Has the updater of a release on trial show that it can bring the next one. In a directory of its own it reads the list of releases as on a new box,
 * verifies that, downloads the last bytes of its own package, and unpacks it. What it unpacked is compared with what the confirmed release has unpacked.
 *
 * @param of.downloads the directory of the package as it was downloaded; it is moved away. Without it the updater downloads all of it
 * @returns why the updater is not proved, or undefined
 */
export async function faultOfUpdater(of: {
  readonly directory: string;
  readonly release: ReleaseFolder;
  readonly downloads: string;
  readonly config: string;
}): Promise<string | undefined> {
  const { release, downloads, config } = of;
  const directory = proofDirectory(of.directory);
  const download = join(directory, "download");
  mkdirSync(download, { recursive: true, mode: 0o755 });
  for (const name of existsSync(downloads) ? readdirSync(downloads) : []) {
    const path = join(downloads, name);
    truncateSync(path, Math.max(0, statSync(path).size - tail_bytes));
    renameSync(path, join(download, name));
  }
  const words = [release.launcher, "update", "--prove", directory, "--config", config, "--json"];
  const { code, out, said } = await ran(words, { ms_max: proof_ms_max });
  if (code !== 0 || !out.includes('"proved"')) {
    const last = said.trim() === "" ? out : (said.trim().split("\n").at(-1) ?? "");
    return messageOf(`its updater ends with ${code}${last.trim() === "" ? "" : `: ${last.trim()}`}`);
  }
  const unpacked = join(directory, release.version);
  const { code: difference } = await ran(["diff", "-rq", "--no-dereference", release.path, unpacked]);
  return difference === 0 ? undefined : "its updater unpacks something else than the package holds";
}

export function dropProof(directory: string): void {
  rmSync(proofDirectory(directory), { recursive: true, force: true });
}

const proofDirectory = (directory: string) => join(directory, "proof");

/** Of the package, downloaded again by the updater on proof. */
const tail_bytes = 1024;
const proof_ms_max = 30 * 60_000;
