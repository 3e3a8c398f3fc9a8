import { chmodSync, copyFileSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, normalize } from "node:path";

const checkout = normalize(join(import.meta.dir, "../.."));

/** The bundle of this checkout, made as people get it; and its Bun. */
function bundle(): { program: string; bun: string } {
  const script = `set -eu; root=${checkout}; . "$root/scripts/setup.sh"; lintel_setup production; lintel_bundle; echo "$program"; echo "$bun"`;
  const { stdout, stderr, exitCode } = Bun.spawnSync(["sh", "-c", script]);
  const [program = "", bun = ""] = stdout.toString().trim().split("\n");
  if (exitCode !== 0 || !program.endsWith("/main.js"))
    throw new Error(`there is no bundle: ${stderr.toString()}`);
  return { program: normalize(join(program, "..")), bun };
}
let made: ReturnType<typeof bundle> | undefined;

export const architecture = process.arch === "x64" ? "amd64" : process.arch;

/** Something that a release does wrong: JavaScript that runs in its process before the program does. */
export type Fault = string;

/** The parts of a release that tests choose. */
export interface ReleaseOf {
  version: string;
  /** The root of the programme's repository, as JSON. */
  root: string;
  fault?: Fault;
  architecture?: string;
  /** Its program is one file that imports the bundle where it lies: the same steps on the disk, and few of each. */
  short?: boolean;
  /** A word in its Bun, which is then a file, and the same in all releases with this word. */
  bun?: string;
}

/** A release as a folder that runs by itself, with the same program whatever its version; only root may write into it. */
export function makeRelease(folder: string, of: ReleaseOf): void {
  made ??= bundle();
  const program = join(folder, "program");
  mkdirSync(program, { recursive: true, mode: 0o755 });
  const bun = join(folder, "bun");
  if (of.bun === undefined) symlinkSync(made.bun, bun);
  else writeFileSync(bun, `#!/bin/sh\n# ${of.bun}\nexec ${made.bun} "$@"\n`, { mode: 0o755 });
  if (of.short)
    writeFileSync(join(program, "main.js"), `import ${JSON.stringify(join(made.program, "main.js"))};\n`);
  else {
    copyTree(made.program, program);
    // What cannot be bundled.
    mkdirSync(join(program, "node_modules"));
    for (const name of readdirSync(join(checkout, "node_modules")).filter((one) => !one.startsWith(".")))
      symlinkSync(join(checkout, "node_modules", name), join(program, "node_modules", name));
  }
  const fault = of.fault === undefined ? "" : '--preload "$here/program/fault.js" ';
  if (of.fault !== undefined) writeFileSync(join(program, "fault.js"), of.fault);
  const launcher = join(folder, "lintel");
  writeFileSync(
    launcher,
    `#!/bin/sh\nhere=$(dirname "$(readlink -f "$0")")\nexec "$here/bun" ${fault}"$here/program/main.js" "$@"\n`,
  );
  chmodSync(launcher, 0o755);
  const { version, architecture: other = architecture } = of;
  writeFileSync(
    join(folder, "release.json"),
    JSON.stringify({ version, commit: "1a2b3c4d5e", architecture: other }),
  );
  writeFileSync(join(folder, "release-root.json"), of.root);
}

/** The same as a package: its path. */
export function makePackage(directory: string, of: ReleaseOf): string {
  const name = `lintel_${of.version}_${of.architecture ?? architecture}`;
  const tree = join(directory, name);
  rmSync(tree, { recursive: true, force: true });
  makeRelease(join(tree, "usr/lib/lintel"), of);
  mkdirSync(join(tree, "DEBIAN"), { mode: 0o755 });
  writeFileSync(
    join(tree, "DEBIAN/control"),
    `Package: lintel\nVersion: ${of.version}\nArchitecture: ${of.architecture ?? architecture}\nMaintainer: test <test@example.org>\nDescription: a test\n`,
  );
  const file = join(directory, `${name}.deb`);
  const build = ["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", tree, file];
  const { exitCode, stderr } = Bun.spawnSync(build);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return file;
}

function copyTree(from: string, to: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) {
      mkdirSync(target, { mode: 0o755 });
      copyTree(source, target);
    } else if (entry.isFile()) copyFileSync(source, target);
  }
}
