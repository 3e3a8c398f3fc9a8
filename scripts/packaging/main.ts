/**
 * Completes a release folder and makes the tree of its Debian package, for scripts/build:
 *
 *   main.ts --release DIR --package DIR --architecture amd64 --version 0.1.0 --commit 1a2b3c4d5e
 *
 * The release has its program, Bun and launcher already. SOURCE_DATE_EPOCH is the time that all of it bears.
 */
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { addModules } from "./modules.ts";
import { makePackage } from "./package-tree.ts";

const { values } = parseArgs({
  options: {
    release: { type: "string", default: "" },
    package: { type: "string", default: "" },
    architecture: { type: "string", default: "" },
    version: { type: "string", default: "" },
    commit: { type: "string", default: "" },
  },
});
const { release, package: tree, architecture, version, commit } = values;

addModules(join(release, "program/node_modules"));
sortOutputs(join(release, "program/pages/built.json"));
writeFileSync(
  join(release, "release.json"),
  `${JSON.stringify({ version, commit, architecture }, null, 2)}\n`,
);
for (const name of ["lintel", "bun"]) chmodSync(join(release, name), 0o755);

rmSync(tree, { recursive: true, force: true });
mkdirSync(join(tree, "usr/lib"), { recursive: true });
cpSync(release, join(tree, "usr/lib/lintel"), { recursive: true });
await makePackage({ tree, version, architecture, made_s: Number(process.env["SOURCE_DATE_EPOCH"]) });
process.exit();

/** The bundler lists the modules of the browser in another order each time. What the program reads of its list stays. */
function sortOutputs(metafile: string): void {
  const { outputs } = JSON.parse(readFileSync(metafile, "utf8")) as { outputs: Record<string, Output> };
  const sorted = Object.entries(outputs)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, { entryPoint, imports }]) => [path, { entryPoint, imports }]);
  writeFileSync(metafile, `${JSON.stringify({ outputs: Object.fromEntries(sorted) })}\n`);
}

interface Output {
  readonly entryPoint?: string;
  readonly imports: readonly unknown[];
}
