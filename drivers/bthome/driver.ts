import { Type } from "@sinclair/typebox";
import type { Moment } from "../../src/clock.ts";
import type { Device } from "../../src/reading.ts";
import type { Host } from "../driver.ts";
import {
  type Advertisement,
  devices_max,
  type Peripheral,
  type PeripheralDefinition,
} from "../peripheral.ts";
import { Box } from "./boxes.ts";
import { models } from "./models.ts";
import { bthomeUuid, decodeServiceData, type Refusal } from "./service-data.ts";
import { sightingOf } from "./sighting.ts";

const section = Type.Object({}, { additionalProperties: false });

/** Broadcasting pill boxes, and door and window sensors as boxes of one lid: BTHome v2. */
export const bthomeBoxes: PeripheralDefinition<typeof section> = {
  name: "bthome",
  section,
  kind: "pillboxes",
  recognises: ({ serviceData }) => serviceData.has(bthomeUuid),
  deviceOf,
  create: ({ host, keyOf }) => new BthomeBoxes({ host, keyOf }),
};

export class BthomeBoxes implements Peripheral {
  readonly #host: Host;
  readonly #keyOf: (address: string) => Uint8Array | undefined;
  readonly #boxes = new Map<string, Box>();
  /** Messages already logged about devices, so that each is logged once. */
  readonly #said = new Set<string>();

  constructor(options: { host: Host; keyOf: (address: string) => Uint8Array | undefined }) {
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
    if (broadcast.stopped !== undefined) this.#host.dropped(`bthome broadcasts with an ${broadcast.stopped}`);
    const seen = sightingOf(broadcast.objects, broadcast.counter);
    if (seen === "impossible") this.#host.dropped("bthome broadcasts of doors that cannot be");
    if (seen === undefined || seen === "impossible") return;
    this.#boxOf(address)?.take(boxNamed(address, name), seen, moment, bytes);
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#host.clock.after(stop_most_ms, resolve);
      const settled = Promise.all([...this.#boxes.values()].map((box) => box.settled()));
      void settled.then(() => {
        cancel();
        resolve();
      });
    });
  }

  #boxOf(address: string): Box | undefined {
    const known = this.#boxes.get(address);
    if (known !== undefined) return known;
    if (this.#boxes.size >= devices_max) {
      this.#host.dropped("bthome broadcasts of more boxes than can be followed");
      return undefined;
    }
    const box = new Box({ host: this.#host, address });
    this.#boxes.set(address, box);
    return box;
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

/** A box, as far as a broadcast tells without a key: an encrypted one may be any device of BTHome. */
function deviceOf({ address, name, serviceData }: Advertisement): Device | undefined {
  const bytes = serviceData.get(bthomeUuid);
  if (bytes === undefined) return undefined;
  const broadcast = decodeServiceData(bytes, { address: bytesOf(address) });
  if (broadcast === "encrypted, without a key") return boxNamed(address, name);
  const seen = typeof broadcast === "string" ? undefined : sightingOf(broadcast.objects);
  return typeof seen === "object" ? boxNamed(address, name) : undefined;
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
