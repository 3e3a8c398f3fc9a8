import { type Static, Type } from "@sinclair/typebox";
import type { Moment } from "../../src/base/clock.ts";
import type { Device } from "../../src/domain/reading.ts";
import type { Host } from "../driver.ts";
import {
  type Advertisement,
  devices_max,
  type Peripheral,
  type PeripheralDefinition,
} from "../peripheral.ts";
import { fingerprintOf } from "../wire/fingerprint.ts";
import { Box } from "./boxes.ts";
import { models, products } from "./models.ts";
import { type SensorSighting, sensorSightingOf, subtypeOf } from "./sensor.ts";
import { Sensor } from "./sensors.ts";
import { bthomeUuid, decodeServiceData, type Refusal } from "./service-data.ts";
import { sightingOf } from "./sighting.ts";

const section = Type.Object(
  {
    sensors: Type.Optional(
      Type.Array(Type.String({ pattern: "^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$" }), {
        maxItems: devices_max,
        description:
          'a list of door and window sensors that are not lids of pill boxes, such as ["54:48:e6:8f:80:a5"]',
      }),
    ),
  },
  { additionalProperties: false },
);
type Section = Static<typeof section>;

/** Whatever broadcasts BTHome v2: pill boxes, door and window sensors as boxes of one lid, and wireless sensors. */
export const bthomeDevices: PeripheralDefinition<typeof section> = {
  name: "bthome",
  section,
  kind: "pillboxes",
  products,
  recognises: ({ serviceData }) => serviceData.has(bthomeUuid),
  deviceOf,
  create: ({ config, host, keyOf }) => new BthomeDevices({ config, host, keyOf }),
};

export class BthomeDevices implements Peripheral {
  readonly #config: Section;
  readonly #host: Host;
  readonly #keyOf: (address: string) => Uint8Array | undefined;
  readonly #boxes = new Map<string, Box>();
  readonly #sensors = new Map<string, Sensor>();
  /** Messages already logged about devices, so that each is logged once. */
  readonly #said = new Set<string>();

  constructor(options: {
    config: Section;
    host: Host;
    keyOf: (address: string) => Uint8Array | undefined;
  }) {
    this.#config = options.config;
    this.#host = options.host;
    this.#keyOf = options.keyOf;
  }

  advertised({ address, name, serviceData }: Advertisement, moment: Moment): void {
    const bytes = serviceData.get(bthomeUuid);
    if (bytes === undefined) return;
    const key = this.#keyOf(address);
    const sender = { address: bytesOf(address) };
    const broadcast = decodeServiceData(bytes, key === undefined ? sender : { ...sender, key });
    if (typeof broadcast === "string") {
      this.#refuse(address, broadcast);
      return;
    }
    const proof = {
      key:
        key === undefined
          ? null
          : { fingerprint: fingerprintOf(key), made: "its bind key", configured: true },
      ...(broadcast.counter === undefined ? {} : { counter: broadcast.counter }),
    };
    // Before anything is made of it: a packet that is repeated from long ago is authentic too.
    const isOther = (device: Device) =>
      this.#host.identify({ device: { kind: device.kind, address }, part: "bthome", ...proof }) ===
      "conflict";
    if (broadcast.stopped !== undefined) this.#host.dropped(`bthome broadcasts with an ${broadcast.stopped}`);
    const seen = isSensor(address, this.#config)
      ? undefined
      : sightingOf(broadcast.objects, broadcast.counter);
    if (seen === "impossible") this.#host.dropped("bthome broadcasts of doors that cannot be");
    if (seen === undefined) {
      const sensed = sensorSightingOf(broadcast.objects, broadcast);
      if (sensed === undefined) return;
      const device = sensorNamed(address, name, sensed);
      if (!isOther(device)) this.#sensorAt(address)?.take(device, sensed, moment);
    } else if (seen !== "impossible") {
      const device = boxNamed(address, name);
      if (!isOther(device)) this.#boxAt(address)?.take(device, seen, moment, bytes);
    }
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#host.clock.after(stop_most_ms, resolve);
      const all = [...this.#boxes.values(), ...this.#sensors.values()];
      const settled = Promise.all(all.map((one) => one.settled()));
      void settled.then(() => {
        cancel();
        resolve();
      });
    });
  }

  #boxAt(address: string): Box | undefined {
    return this.#followed(this.#boxes, address, () => new Box({ host: this.#host, address }));
  }

  #sensorAt(address: string): Sensor | undefined {
    return this.#followed(this.#sensors, address, () => new Sensor({ host: this.#host, address }));
  }

  #followed<One>(all: Map<string, One>, address: string, make: () => One): One | undefined {
    const known = all.get(address);
    if (known !== undefined) return known;
    if (this.#boxes.size + this.#sensors.size >= devices_max) {
      this.#host.dropped("bthome broadcasts of more devices than can be followed");
      return undefined;
    }
    const made = make();
    all.set(address, made);
    return made;
  }

  #refuse(address: string, refusal: Refusal): void {
    this.#host.dropped(`bthome broadcasts ${refusal}`);
    const remedy = remedies[refusal];
    if (remedy === undefined || this.#said.size >= said_max || this.#said.has(`${refusal} ${address}`))
      return;
    this.#said.add(`${refusal} ${address}`);
    this.#host.log.warn(`BTHome device ${address} sends broadcasts ${refusal}: ${remedy}`);
  }
}

/** A device, as far as a broadcast tells without a key: an encrypted one may be any, and counts as a box. */
function deviceOf({ address, name, serviceData }: Advertisement, config: Section): Device | undefined {
  const bytes = serviceData.get(bthomeUuid);
  if (bytes === undefined) return undefined;
  const broadcast = decodeServiceData(bytes, { address: bytesOf(address) });
  if (broadcast === "encrypted, without a key") return boxNamed(address, name);
  if (typeof broadcast === "string") return undefined;
  const seen = isSensor(address, config) ? undefined : sightingOf(broadcast.objects);
  if (seen !== undefined) return seen === "impossible" ? undefined : boxNamed(address, name);
  const sensed = sensorSightingOf(broadcast.objects, broadcast);
  return sensed && sensorNamed(address, name, sensed);
}

/** Whether a device with a lid is a sensor of its own. */
function isSensor(address: string, { sensors = [] }: Section): boolean {
  return sensors.some((one) => one.toLowerCase() === address);
}

function sensorNamed(address: string, name: string | undefined, seen: SensorSighting): Device {
  const model = name === undefined ? {} : (models[name] ?? { model: name });
  const subtype = subtypeOf(seen);
  return { kind: "wirelesssensors", address, ...(subtype === undefined ? {} : { subtype }), ...model };
}

function boxNamed(address: string, name: string | undefined): Device {
  const model = name === undefined ? {} : models[name];
  return { kind: "pillboxes", address, subtype: "broadcasting", ...model };
}

function bytesOf(address: string): Uint8Array {
  return Uint8Array.fromHex(address.replaceAll(":", ""));
}

const remedies: Partial<Record<Refusal, string>> = {
  "encrypted, without a key": "set its bind key below [ble] if it is one of this home",
  "encrypted with another key": "correct its bind key below [ble]",
  "in plain text although a key is set":
    "turn its encryption on again, or take its key out of [ble] if that was meant",
};

const said_max = 64;
const stop_most_ms = 1_500;
