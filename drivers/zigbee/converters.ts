import type { Events, Models } from "zigbee-herdsman";
import type { Definition, Fz, OnEvent } from "zigbee-herdsman-converters/lib/types";
import { type Expose, exposesIn, propertiesOf, senses, subtypeOf } from "../wire/exposes.ts";
import type { Payload, Properties } from "../wire/properties.ts";
import { definitionOf, libraryVersion } from "./definitions.ts";
import type { HerdsmanLog } from "./herdsman-log.ts";
import type { Subtype } from "./models.ts";
import type { Step, Translator } from "./translator.ts";

/** The translator of a device whose model converters has; undefined where it is another model of the same name. */
export async function converterTranslator(
  device: Models.Device,
  log: HerdsmanLog,
): Promise<Translator | undefined> {
  const definition = await definitionOf(device, log);
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
    this.source = libraryVersion();
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
