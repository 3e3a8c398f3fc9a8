import { cpSync, readFileSync, realpathSync } from "node:fs";
import { join, normalize } from "node:path";

const root = normalize(join(import.meta.dir, "../.."));

/**
 * The packages that stay out of the bundle, and the files of each that are run, beside its package.json: zigbee-herdsman-converters loads the
 * files of a maker by their names, and what these ask of zigbee-herdsman by its path; of noble a file is loaded that its index does not name; onoff has
 * epoll start a thread from beside its own file.
 */
const modules: Readonly<Record<string, readonly string[]>> = {
  "zigbee-herdsman-converters": [
    "dist/index.js",
    "dist/converters/**/*.js",
    "dist/devices/*.js",
    "dist/lib/*.js",
    "dist/models-index.json",
  ],
  "zigbee-herdsman": ["dist/index.js", "dist/{buffalo,utils,zspec}/**/*.js"],
  "iconv-lite": ["lib/**/*.js", "encodings/**/*.js", "encodings/**/*.json"],
  "safer-buffer": ["safer.js"],
  semver: ["*.js", "classes/*.js", "functions/*.js", "internal/*.js", "ranges/*.js"],
  "@stoprocent/noble": ["lib/*.js", "lib/*.json", "lib/hci-socket/*.js", "lib/hci-socket/*.json"],
  "@stoprocent/bluetooth-hci-socket": ["*.ts"],
  debug: ["src/*.js"],
  ms: ["index.js"],
  onoff: ["onoff.js"],
  "lodash.debounce": ["index.js"],
  epoll: ["*.ts"],
};

/** Copies them into a `node_modules`. */
export function addModules(directory: string): void {
  for (const [name, patterns] of Object.entries(modules)) {
    const from = realpathSync(join(root, "node_modules", name));
    for (const pattern of ["package.json", ...patterns]) {
      const files = [...new Bun.Glob(pattern).scanSync({ cwd: from })];
      if (files.length === 0) throw new Error(`${name} has no files ${pattern}`);
      for (const file of files) cpSync(join(from, file), join(directory, name, file));
    }
  }
}

/** Names of these packages. */
export const unbundled: readonly string[] = Object.keys(modules);

/** A package's own description of itself. */
export function manifest(name: string): { readonly version: string; readonly license?: string } {
  return JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8"));
}
