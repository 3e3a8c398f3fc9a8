import { lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Release } from "../../src/gateway/update/releases.ts";
import { digestOf, type Ledger } from "./ledger.ts";

/**
 * Makes the package for a box that has the Bun of a release already: the folder that updates unpack, without Bun. The same package gives the same bytes.
 *
 * @param from the whole package
 * @param ledger where it is kept, by its digest
 * @returns undefined where the package has no Bun as a file
 */
export function makeWithoutBun(from: string, ledger: Ledger): Release["without_bun"] {
  const packages = ledger.packagePath("");
  mkdirSync(packages, { recursive: true });
  const place = mkdtempSync(join(packages, "without-bun-"));
  const [tree, made] = [join(place, "tree"), join(place, "made.deb")];
  mkdirSync(tree, { mode: 0o755 });
  try {
    run(["sh", "-c", 'dpkg-deb --fsys-tarfile "$1" | tar -xpC "$2" ./usr/lib/lintel', "sh", from, tree]);
    const folder = join(tree, "usr/lib/lintel");
    const bun = join(folder, "bun");
    if (!lstatSync(bun).isFile()) return undefined;
    const bun_digest = digestOf(bun);
    rmSync(bun);
    mkdirSync(join(tree, "DEBIAN"), { mode: 0o755 });
    writeFileSync(join(tree, "DEBIAN/control"), control);
    // Times of this run would give other bytes.
    const built_s = Math.floor(statSync(join(folder, "release.json")).mtimeMs / 1000);
    const build = ["dpkg-deb", "--root-owner-group", "--threads-max=1", "--build", tree, made];
    run(["env", `SOURCE_DATE_EPOCH=${built_s}`, ...build]);
    const found = { bytes: statSync(made).size, sha256: digestOf(made), bun: bun_digest };
    renameSync(made, ledger.withoutBunPath(found));
    return found;
  } finally {
    rmSync(place, { recursive: true });
  }
}

function run(words: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync([...words]);
  if (exitCode !== 0) throw new Error(`${words[0]} failed: ${stderr.toString().trim()}`);
}

/** Of another name than the whole one: by hand it cannot be installed in the place of that. */
const control = `Package: lintel-without-bun
Version: 0
Architecture: all
Maintainer: lintel update
Description: for lintel update alone
`;
