import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { installedUnits } from "./units.ts";

const packaging = normalize(join(import.meta.dir, "../../packaging"));
const own = (name: string) => readFileSync(join(packaging, name), "utf8");

/** Makes all of a Debian package in `tree`, where its release lies in usr/lib/lintel already. */
export function makePackage(options: { tree: string; version: string; architecture: string }): void {
  const { tree, version, architecture } = options;
  const add = (path: string, text: string, mode = 0o644) => {
    mkdirSync(join(tree, dirname(path)), { recursive: true });
    writeFileSync(join(tree, path), text);
    chmodSync(join(tree, path), mode);
  };
  add("usr/bin/lintel", own("usr-bin-lintel"), 0o755);
  for (const [path, text] of installedUnits()) add(path, text);
  add("etc/lintel/lintel.toml", own("lintel.toml"), 0o640);

  add("DEBIAN/conffiles", "/etc/lintel/lintel.toml\n");
  for (const name of ["postinst", "prerm", "postrm"]) add(`DEBIAN/${name}`, own(name), 0o755);
  const installed_kib = Math.ceil(sizeOf(tree) / 1024);
  const fields = { Version: version, Architecture: architecture, "Installed-Size": `${installed_kib}` };
  const control = Object.entries(fields).map(([field, value]) => `${field}: ${value}\n`);
  add("DEBIAN/control", `${own("control")}${control.join("")}`);
}

/** Bytes of the files below a directory. */
function sizeOf(path: string): number {
  const { size } = lstatSync(path);
  if (!lstatSync(path).isDirectory()) return size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}
