import type { CharacteristicProperty } from "../peripheral.ts";
import { decodeUuid, encodeUuid } from "./uuid.ts";

/** How GATT lays services out in attributes. Core 5.4, Vol 3, Part G. */

/** Attribute types, 3.1 to 3.3. */
export const attributeType = {
  primaryService: "2800",
  characteristic: "2803",
  clientConfiguration: "2902",
} as const;

/** Client Characteristic Configuration, 3.3.3.3. */
export const configuration = { off: 0x0000, notify: 0x0001, indicate: 0x0002 } as const;

/** The bits of 3.3.1.1 that are of use. */
export const propertyBits: Readonly<Record<CharacteristicProperty, number>> = {
  read: 0x02,
  writeWithoutResponse: 0x04,
  write: 0x08,
  notify: 0x10,
  indicate: 0x20,
};

/** A characteristic declaration, 3.3.1: properties, handle of the value, UUID. */
export interface Declaration {
  readonly properties: ReadonlySet<CharacteristicProperty>;
  readonly valueHandle: number;
  readonly uuid: string;
}

export function encodeDeclaration({ properties, valueHandle, uuid }: Declaration): Uint8Array {
  const bits = [...properties].reduce((sum, property) => sum | propertyBits[property], 0);
  return Buffer.concat([Uint8Array.of(bits, valueHandle & 0xff, valueHandle >> 8), encodeUuid(uuid)]);
}

/** Undefined when it is too short. */
export function decodeDeclaration(value: Uint8Array): Declaration | undefined {
  if (value.length !== 5 && value.length !== 19) return undefined;
  const [bits = 0, low = 0, high = 0] = value;
  const properties = Object.entries(propertyBits)
    .filter(([, bit]) => (bits & bit) !== 0)
    .map(([property]) => property as CharacteristicProperty);
  return {
    properties: new Set(properties),
    valueHandle: low | (high << 8),
    uuid: decodeUuid(value.subarray(3)),
  };
}
