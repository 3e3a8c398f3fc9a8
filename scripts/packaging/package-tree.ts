import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, extname, join, normalize } from "node:path";
import { commandTree } from "./command-tree.ts";
import { completions } from "./completions.ts";
import { copyright, documents } from "./documents.ts";
import { manualPages } from "./manual.ts";
import { udevRules } from "./udev-rules.ts";

const packaging = normalize(join(import.meta.dir, "../../packaging"));
const own = (name: string) => readFileSync(join(packaging, name), "utf8");

/**
 * Makes all of a Debian package in `tree`, where its release lies in usr/lib/lintel already.
 *
 * @param options.made_s the time that it bears, in seconds since 1970
 */
export async function makePackage(options: {
  tree: string;
  version: string;
  architecture: string;
  made_s: number;
}): Promise<void> {
  const { tree, version, architecture, made_s } = options;
  const add = (path: string, content: string | Uint8Array, mode = 0o644) => {
    mkdirSync(join(tree, dirname(path)), { recursive: true });
    writeFileSync(join(tree, path), content);
    chmodSync(join(tree, path), mode);
  };
  const packed = (text: string) => Bun.gzipSync(Buffer.from(text), { level: 9 });

  add("usr/bin/lintel", own("usr-bin-lintel"), 0o755);
  add("usr/libexec/lintel/run-update", own("run-update"), 0o755);
  add("etc/lintel/lintel.toml", own("lintel.toml"), 0o640);
  for (const [path, text] of installedUnits()) add(path, text);
  add("usr/lib/systemd/system.conf.d/lintel.conf", own("system.conf"));
  add("usr/lib/systemd/journald.conf.d/lintel.conf", own("journald.conf"));
  add("usr/lib/udev/rules.d/70-lintel.rules", udevRules());

  const tree_of_commands = await commandTree();
  const date = new Date(made_s * 1000).toISOString().slice(0, 10);
  for (const [name, text] of manualPages(tree_of_commands, date))
    add(`usr/share/man/man${name.at(-1)}/${name}.gz`, packed(text));
  for (const [path, text] of completions(tree_of_commands)) add(path, text);
  for (const [path, text] of documents()) add(path, text);
  add("usr/share/doc/lintel/copyright", copyright());
  add("usr/share/doc/lintel/changelog.gz", packed(changelog(version, made_s)));
  add("usr/share/lintian/overrides/lintel", own("lintian-overrides"));

  add("DEBIAN/conffiles", "/etc/lintel/lintel.toml\n");
  for (const name of ["postinst", "prerm", "postrm"]) add(`DEBIAN/${name}`, own(name), 0o755);
  const installed_kib = Math.ceil(sizeOf(tree) / 1024);
  const fields = { Version: version, Architecture: architecture, "Installed-Size": `${installed_kib}` };
  const control = Object.entries(fields).map(([field, value]) => `${field}: ${value}\n`);
  add("DEBIAN/control", `${own("control")}${control.join("")}`);
}

/** Debian's form of a changelog, which names the version alone: CHANGELOG.md is in the package beside it. */
function changelog(version: string, made_s: number): string {
  const maintainer = /^Maintainer: (.*)$/m.exec(own("control"))?.[1];
  const date = new Date(made_s * 1000).toUTCString().replace("GMT", "+0000");
  return `lintel (${version}) stable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- ${maintainer}  ${date}\n`;
}

/** Bytes of the files below a directory. */
function sizeOf(path: string): number {
  const { size } = lstatSync(path);
  if (!lstatSync(path).isDirectory()) return size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

const directory = normalize(join(import.meta.dir, "../../systemd"));

/** Where a file of systemd/ lies in a package, by the ending of its name. */
const places: Readonly<Record<string, (name: string) => string>> = {
  ".service": (name) => `usr/lib/systemd/system/${name}`,
  ".timer": (name) => `usr/lib/systemd/system/${name}`,
  ".path": (name) => `usr/lib/systemd/system/${name}`,
  ".sysusers": (name) => `usr/lib/sysusers.d/${name.replace(".sysusers", ".conf")}`,
  ".tmpfiles": (name) => `usr/lib/tmpfiles.d/${name.replace(".tmpfiles", ".conf")}`,
};

/** The files of systemd/ as a package has them, by their paths in it: what names a checkout names what is installed. */
export function installedUnits(): Map<string, string> {
  return new Map(
    readdirSync(directory)
      .sort()
      .flatMap((name) => {
        const place = places[extname(name)];
        return place === undefined
          ? []
          : [[place(name), asInstalled(readFileSync(join(directory, name), "utf8"))]];
      }),
  );
}

function asInstalled(text: string): string {
  const installed = text
    .replaceAll("/opt/lintel/scripts/lintel", "/usr/bin/lintel")
    .replaceAll("file:/opt/lintel/", "file:/usr/share/doc/lintel/");
  const left = /.*\/opt\/.*/.exec(installed);
  if (left !== null) throw new Error(`a unit of the package would name a checkout: ${left[0]}`);
  return installed;
}
