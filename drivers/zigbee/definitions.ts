import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Models } from "zigbee-herdsman";
import type * as Library from "zigbee-herdsman-converters";
import type { Definition } from "zigbee-herdsman-converters/lib/types";
import type { HerdsmanLog } from "./herdsman-log.ts";

/**
 * zigbee-herdsman-converters, which knows some 4,500 models, loaded when a device of one of them is there and not before. It
 * stays out of the bundle, where it could not load a maker's file by its name. Of its index it is given the models that are
 * there, and of a maker's file those definitions are made that are asked for: all that Philips, Aqara, IKEA and Sonoff make
 * would take 12 MB beside the 5 MB of the library.
 */
const load = createRequire(import.meta.url);
const manifest = "zigbee-herdsman-converters/package.json";
const directory = join(dirname(load.resolve(manifest)), "dist");
/** Where definitions of a model are: the file of a maker, and which one in it. */
type Places = readonly (readonly [file: string, index: number])[];
const models: Record<string, Places> = Object.create(null);
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
  for (const [file] of Object.values(listed(device.modelID)).flat())
    prepare(join(directory, "devices", file));
  return converters.findByDevice(device);
}

async function loaded(): Promise<typeof Library> {
  const herdsman = await import("zigbee-herdsman");
  // One zigbee-herdsman for both: a second one would cost 17 MB.
  put(load.resolve("zigbee-herdsman"), herdsman);
  put(load.resolve("zigbee-herdsman/dist/zspec"), herdsman.ZSpec);
  put(load.resolve("zigbee-herdsman/dist/zspec/zcl"), herdsman.Zcl);
  put(join(directory, "models-index.json"), models);
  return load("zigbee-herdsman-converters") as typeof Library;
}

function put(path: string, exports: unknown): void {
  load.cache[path] ??= { id: path, filename: path, loaded: true, exports } as NodeJS.Module;
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

/** Has the library find a maker's file with definitions that are made when they are asked for; any file of another form it loads itself. */
function prepare(path: string): void {
  if (load.cache[path] !== undefined) return;
  const exports = onDemand(path);
  if (exports !== undefined) put(path, exports);
}

/** Between these lines stand the definitions of a maker, each between lines of a brace at the second step, as the compiler of TypeScript leaves them. */
const first_line = "\nexports.definitions = [\n";
const last_line = "\n];";

/** The exports of a maker's file, each definition made when it is first asked for; undefined where the file has another form. */
export function onDemand(path: string): { readonly definitions: readonly Definition[] } | undefined {
  const text = readFileSync(path, "utf8");
  const from = text.indexOf(first_line);
  const to = text.indexOf(last_line, from);
  if (from < 0 || to < 0) return undefined;
  const makers = text
    .slice(from + first_line.length, to)
    .replace(/^ {4}\{$/gm, "    () => ({")
    .replace(/^ {4}\}(,?)$/gm, "    })$1");
  const before = `${text.slice(0, from)}\nconst makers_of_definitions = [\n`;
  const after = `${text.slice(to)}\nreturn makers_of_definitions;\n//# sourceURL=${path}`;
  const run = new Function("exports", "require", ascii(before + makers + after));
  const exports = {};
  const made: Definition[] = [];
  for (const [index, make] of (run(exports, createRequire(path)) as (() => Definition)[]).entries()) {
    const get = () => {
      const value = make();
      Object.defineProperty(made, index, { value });
      return value;
    };
    Object.defineProperty(made, index, { get, enumerable: true, configurable: true });
  }
  return Object.assign(exports, { definitions: made });
}

/** Text of code as letters of one byte each: the engine keeps it for as long as a function of it is there, and takes two bytes for each otherwise. */
function ascii(code: string): string {
  return code.replace(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
