import { existsSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { documentPaths } from "../../src/web/docs/documents.ts";
import { unbundled } from "./modules.ts";

const root = normalize(join(import.meta.dir, "../.."));
const text = (path: string) => readFileSync(join(root, path), "utf8");

/** All texts by their places in a package; the example of a configuration with them. */
export function documents(): Map<string, string> {
  return new Map([
    ...documentPaths(root)
      .sort()
      .map((path) => [`usr/share/doc/lintel/${path}`, text(path)] as const),
    ["usr/share/doc/lintel/examples/lintel.toml", text("systemd/lintel.toml")],
  ]);
}

/** Who holds the copyright of what is in a package: Lintel, Bun, and each library by its own word. */
export function copyright(): string {
  const { dependencies } = JSON.parse(text("package.json")) as { dependencies: Record<string, string> };
  const bundled = closure([...Object.keys(dependencies), ...unbundled]);
  const libraries = bundled.map((name) => {
    const { version, license = "see below" } = JSON.parse(text(`node_modules/${name}/package.json`));
    const own = licenseOf(name);
    return `${"-".repeat(78)}\n${name} ${version}: ${license}\n\n${own}\n`;
  });
  return `Lintel

${text("LICENSE").trim()}

${"-".repeat(78)}
Bun ${bunVersion()}: MIT, with JavaScriptCore and WebKit under the LGPL-2 and others;
https://bun.sh/docs/project/licensing lists what it is made of. On Debian the
texts are in /usr/share/common-licenses/LGPL-2 and /usr/share/common-licenses/LGPL-2.1.

The program contains these libraries.

${libraries.join("\n")}`;
}

/** These packages and all that they depend on, as far as they are installed here; sorted. */
function closure(names: readonly string[]): string[] {
  const found = new Set<string>();
  const add = (name: string) => {
    if (found.has(name) || !existsSync(join(root, "node_modules", name, "package.json"))) return;
    found.add(name);
    const { dependencies = {} } = JSON.parse(text(`node_modules/${name}/package.json`));
    for (const one of Object.keys(dependencies)) add(one);
  };
  for (const name of names) add(name);
  return [...found].filter((name) => !name.startsWith("@types/") && !isOwn(name)).sort();
}

/** Whether it stands in for a native addon: then it is part of Lintel. */
function isOwn(name: string): boolean {
  const { name: own } = JSON.parse(text(`node_modules/${name}/package.json`));
  return own.startsWith("@lintel/");
}

function licenseOf(name: string): string {
  const directory = join(root, "node_modules", name);
  const [file] = [...new Bun.Glob("{LICENSE,LICENCE,license,License}*").scanSync({ cwd: directory })].sort();
  if (file === undefined) return "Its package has no text of its licence.";
  // Where one may be chosen, it is the other.
  const [chosen = "", gpl] = text(`node_modules/${name}/${file}`).split("GNU GENERAL PUBLIC LICENSE");
  return gpl === undefined
    ? chosen.trim()
    : `${chosen.trim()}\n\n(Or, at choice: /usr/share/common-licenses/GPL-2.)`;
}

function bunVersion(): string {
  return (JSON.parse(text("package.json")).packageManager as string).replace("bun@", "");
}
