import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Models } from "zigbee-herdsman";
import type * as Library from "zigbee-herdsman-converters";
import type { Definition } from "zigbee-herdsman-converters/lib/types";
import type { HerdsmanLog } from "./herdsman-log.ts";

/**
 * zigbee-herdsman-converters, which knows some 4,500 models, loaded when a device of one of them is there and not before. It
 * stays out of the bundle, where it could not load a maker's file by its name. Its files are run here and not by the runtime, so that
 * a home keeps little of them: text without what only people read, of the index the models that are there, and of a
 * maker's file those definitions that are asked for. All that Philips, Aqara, IKEA and Sonoff make would take 12 MB more.
 */
const load = createRequire(import.meta.url);
const manifest = "zigbee-herdsman-converters/package.json";
const directory = join(dirname(load.resolve(manifest)), "dist");
/** Where definitions of a model are: the file of a maker, and which one in it. */
type Places = readonly (readonly [file: string, index: number])[];
const models: Record<string, Places> = Object.create(null);
/** The exports of its files by their paths, and of what it is given in the place of others. */
const exported = new Map<string, object>([[join(directory, "models-index.json"), models]]);
let library: Promise<typeof Library> | undefined;

/** Name and version, as told of what it translates. */
export function libraryVersion(): string {
  return `zigbee-herdsman-converters ${load(manifest).version}`;
}

/** Whether converters has a definition for the model of a device. */
export function isListed({ modelID }: Models.Device): boolean {
  return Object.keys(listed(modelID)).length > 0;
}

/** The definition of a device whose model is listed; undefined where it is another model of the same name. */
export async function definitionOf(device: Models.Device, log: HerdsmanLog): Promise<Definition | undefined> {
  library ??= loaded();
  const converters = await library;
  converters.setLogger(log);
  Object.assign(models, listed(device.modelID));
  return converters.findByDevice(device);
}

async function loaded(): Promise<typeof Library> {
  const herdsman = await import("zigbee-herdsman");
  // One zigbee-herdsman for both: a second one would cost 17 MB.
  exported.set(load.resolve("zigbee-herdsman"), herdsman);
  exported.set(load.resolve("zigbee-herdsman/dist/zspec"), herdsman.ZSpec);
  exported.set(load.resolve("zigbee-herdsman/dist/zspec/zcl"), herdsman.Zcl);
  return run(join(directory, "index.js")) as typeof Library;
}

/** The lines of the index for a model, by their keys: as it was told, and without its padding. From its text, 200 kB that are not kept. */
function listed(modelID: string | undefined): Record<string, Places> {
  const index = readFileSync(join(directory, "models-index.json"), "utf8");
  const told = (modelID || "null").toLowerCase();
  const keys = new Set([told, (told.split("\0")[0] ?? "").trim()]);
  return Object.fromEntries(
    [...keys].flatMap((key) => {
      const start = index.indexOf(`${JSON.stringify(key)}:`);
      if (start < 0) return [];
      const line = index.slice(start, index.indexOf("]]", start) + "]]".length);
      return Object.entries(JSON.parse(`{${line}}`) as Record<string, Places>);
    }),
  );
}

/** The exports of a file of the library, which is run when it is first asked for. */
export function run(path: string): object {
  const known = exported.get(path);
  if (known !== undefined) return known;
  const module: { exports: object; makers?: readonly (() => Definition)[] } = { exports: {} };
  // Before it has run, because files ask for each other in a circle.
  exported.set(path, module.exports);
  const lean = new Bun.Transpiler({ loader: "js", target: "bun", minifyWhitespace: true });
  const code = lean.transformSync(withMakers(readFileSync(path, "utf8")));
  const asks = createRequire(path);
  const require = (name: string) => {
    const found = asks.resolve(name);
    return exported.get(found) ?? (found.startsWith(directory) ? run(found) : asks(name));
  };
  new Function("exports", "require", "module", `${code}\n//# sourceURL=${path}`)(
    module.exports,
    require,
    module,
  );
  if (module.makers !== undefined) Object.assign(module.exports, { definitions: onDemand(module.makers) });
  return module.exports;
}

/** Between these lines stand the definitions of a maker, each between lines of a brace at the second step, as the compiler of TypeScript leaves them. */
const first_line = "\nexports.definitions = [\n";
const last_line = "\n];";

/** The code of a file with a function for each definition in `module.makers`; as it is where the file has none, or they have another form. */
function withMakers(code: string): string {
  const from = code.indexOf(first_line);
  const to = code.indexOf(last_line, from);
  if (from < 0 || to < 0) return code;
  const makers = code
    .slice(from + first_line.length, to)
    .replace(/^ {4}\{$/gm, "    () => ({")
    .replace(/^ {4}\}(,?)$/gm, "    })$1");
  return `${code.slice(0, from)}\nmodule.makers = [\n${makers}${code.slice(to)}`;
}

/** A list whose elements are made when they are first asked for. */
function onDemand(makers: readonly (() => Definition)[]): Definition[] {
  const made: Definition[] = [];
  for (const [index, make] of makers.entries()) {
    const get = () => {
      const value = make();
      Object.defineProperty(made, index, { value });
      return value;
    };
    Object.defineProperty(made, index, { get, enumerable: true, configurable: true });
  }
  return made;
}
