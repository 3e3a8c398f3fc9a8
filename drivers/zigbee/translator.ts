import type { Events, Models } from "zigbee-herdsman";
import type { Payload, Properties } from "../wire/properties.ts";
import type { Subtype } from "./models.ts";

export type Step = "start" | "deviceAnnounce" | "deviceNetworkAddressChanged" | "stop";

/** The messages of one device, taken apart: by the tables of `clusters.ts`, or by its definition in zigbee-herdsman-converters. */
export interface Translator {
  readonly vendor?: string;
  readonly subtype?: Subtype;
  readonly description?: string;
  /** By what values are found, in a few words. */
  readonly source: string;
  /** States that the device never tells, although one would expect it: `the end of a movement`. */
  readonly never: readonly string[];
  /** All that the device can tell. */
  readonly properties: Properties;
  /** Whether something of it is a reading, rather than a setting or the state of a lamp. */
  readonly senses: boolean;
  /** The values that a message has; empty where it has none. */
  translate(message: Events.MessagePayload): Payload | Promise<Payload>;
  /** Has the device tell of itself from now on. Rejects when it does not answer. */
  configure(coordinator: Models.Endpoint): Promise<void>;
  /** Does what a step of the device asks for. Rejects when the device does not answer. */
  follow(step: Step): Promise<void>;
}
