import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Events, Models } from "zigbee-herdsman";
import type * as Library from "zigbee-herdsman-converters";
import type { Definition, Fz, OnEvent } from "zigbee-herdsman-converters/lib/types";
import { type Expose, exposesIn, propertiesOf, senses, subtypeOf } from "../wire/exposes.ts";
import type { Payload, Properties } from "../wire/properties.ts";
import type { HerdsmanLog } from "./herdsman-log.ts";
import type { Subtype } from "./models.ts";
import type { Step, Translator } from "./translator.ts";

/**
 * zigbee-herdsman-converters, which knows some 4,500 models, loaded when a device of one of them is there and not before: it
 * costs 6 MB, and 1 to 10 for each maker. It stays out of the bundle, where it could not load a maker's file by its name.
 */
const load = createRequire(import.meta.url);
let library: Promise<typeof Library> | undefined;

/** The keys of its index under which the model of a device may stand: as it was told, and without its padding. */
function keysOf(modelID: string | undefined): string[] {
  const told = (modelID || "null").toLowerCase();
  return [told, (told.split("\0")[0] ?? "").trim()].map((key) => `${JSON.stringify(key)}:`);
}

/** Whether converters has a definition for the model of a device, told from its index alone, of 200 kB that are not kept. */
export function isListed(device: Models.Device): boolean {
  const directory = dirname(load.resolve("zigbee-herdsman-converters/package.json"));
  const index = readFileSync(join(directory, "dist/models-index.json"), "utf8");
  return keysOf(device.modelID).some((key) => index.includes(key));
}

async function converters(log: HerdsmanLog): Promise<typeof Library> {
  library ??= (async () => {
    const herdsman = await import("zigbee-herdsman");
    // One zigbee-herdsman for both: a second one would cost 17 MB.
    const path = load.resolve("zigbee-herdsman");
    load.cache[path] ??= { id: path, filename: path, loaded: true, exports: herdsman } as NodeJS.Module;
    return load("zigbee-herdsman-converters") as typeof Library;
  })();
  const loaded = await library;
  loaded.setLogger(log);
  return loaded;
}

/** The translator of a device whose model converters has; undefined where it is another model of the same name. */
export async function converterTranslator(
  device: Models.Device,
  log: HerdsmanLog,
): Promise<Translator | undefined> {
  const definition = await (await converters(log)).findByDevice(device);
  return definition === undefined ? undefined : new ConverterTranslator(device, definition);
}

/**
 * A device by its definition. Only what a converter returns for a message counts: what it publishes later by a timer, such as the
 * end of a motion that the sensor never told, goes nowhere.
 */
export class ConverterTranslator implements Translator {
  readonly vendor: string;
  readonly properties: Properties;
  readonly senses: boolean;
  readonly subtype?: Subtype;
  readonly description: string;
  readonly source: string;
  readonly never: readonly string[];
  readonly #device: Models.Device;
  readonly #definition: Definition;
  /** The values that it told before, which some converters ask for. As many entries as it has properties. */
  readonly #state: Record<string, unknown> = {};

  constructor(device: Models.Device, definition: Definition) {
    this.#device = device;
    this.#definition = definition;
    this.vendor = definition.vendor;
    this.description = definition.description;
    this.source = `zigbee-herdsman-converters ${load("zigbee-herdsman-converters/package.json").version}`;
    this.never = neverTold(definition);
    const exposed = exposesOf(definition, device);
    this.properties = propertiesOf(exposed);
    this.senses = senses(exposed);
    const subtype = subtypeOf(this.properties);
    if (subtype !== undefined) this.subtype = subtype;
  }

  translate(message: Events.MessagePayload): Payload | Promise<Payload> {
    const { cluster, type } = message;
    const fitting = this.#definition.fromZigbee.filter(
      (one) =>
        one.cluster === cluster && (Array.isArray(one.type) ? one.type.includes(type) : one.type === type),
    );
    const told: Record<string, unknown> = {};
    const meta = { device: this.#device, state: this.#state, deviceExposesChanged: () => {} };
    // Most converters answer at once; the rest are waited for, in their order.
    const take = (from: number): Payload | Promise<Payload> => {
      for (let at = from; at < fitting.length; at += 1) {
        const answer = fitting[at]?.convert(
          this.#definition,
          message as Fz.Message<string>,
          () => {},
          {},
          meta,
        );
        if (answer instanceof Promise) {
          return answer.then((late) => {
            Object.assign(told, late);
            return take(at + 1);
          });
        }
        Object.assign(told, answer);
      }
      Object.assign(this.#state, told);
      return told;
    };
    return take(0);
  }

  async configure(coordinator: Models.Endpoint): Promise<void> {
    await this.#definition.configure?.(this.#device, coordinator, this.#definition);
  }

  async follow(step: Step): Promise<void> {
    const data = { device: this.#device, state: this.#state, options: {}, deviceExposesChanged: () => {} };
    const event: OnEvent.Event =
      step === "stop" ? { type: step, data: { ieeeAddr: this.#device.ieeeAddr } } : { type: step, data };
    await this.#definition.onEvent?.(event);
  }
}

/** Options of definitions that make up an end by a timer, where the device tells none: the end that it never tells. */
const untoldEnds: Readonly<Record<string, string>> = {
  occupancy_timeout: "the end of a movement",
  vibration_timeout: "the end of a vibration",
};

/** States that a device of this definition never tells. */
export function neverTold(definition: Definition): string[] {
  return (definition.options ?? []).flatMap(({ name }) => untoldEnds[name] ?? []);
}

function exposesOf(definition: Definition, device: Models.Device): Expose[] {
  return exposesIn(
    typeof definition.exposes === "function" ? definition.exposes(device, {}) : definition.exposes,
  );
}
