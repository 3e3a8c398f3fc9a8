import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parseIfWhole, readIfThere, writeDurably } from "../../../src/base/disk/safe-files.ts";
import { OperatorError } from "../../../src/base/errors.ts";
import { type Kind, kindNames } from "../../../src/domain/kinds.ts";
import type { DeviceKey } from "../../../src/domain/reading.ts";
import { fingerprintOf } from "../../wire/fingerprint.ts";
import { decodeAddress, encodeAddress } from "../address.ts";
import type { LinkKey, Pairing } from "./pairing.ts";
import { ah, areEqual, type TypedAddress } from "./toolbox.ts";

const hex = (bytes: number) => Type.String({ pattern: `^[\\da-f]{${bytes * 2}}$` });

const bondSchema = Type.Object({
  /** By which the device is known, its own or, of one with changing addresses, that of its identity. */
  address: Type.String({ pattern: "^[\\da-f]{2}(:[\\da-f]{2}){5}$" }),
  /** The kind as which it was paired. */
  kind: Type.Union(kindNames.map((name) => Type.Literal(name))),
  addressType: Type.Union([Type.Literal("public"), Type.Literal("random")]),
  key: hex(16),
  diversifier: Type.Integer({ minimum: 0, maximum: 0xffff }),
  random: hex(8),
  identityKey: Type.Optional(hex(16)),
  /** Whether a person made sure by a number who it is. */
  byNumber: Type.Boolean(),
  secureConnections: Type.Boolean(),
});
const fileSchema = Type.Object({
  bonds: Type.Array(bondSchema),
  /** Of devices that claim an address that is known with another key: they wait for a person. */
  claims: Type.Optional(Type.Array(bondSchema)),
});

/** A device that keeps a key of ours, and we keep it too. */
export type Bond = Static<typeof bondSchema>;

/** Devices that are bonded at once; one more is refused. */
export const bonds_max = 64;
/** Bonds that wait for a person at once; the oldest goes first. */
const claims_max = 16;
/** Changing addresses that are remembered, with whom they belong to or that they belong to nobody. */
const resolved_max = 1_024;

/**
 * The bonds of this gateway, in one file that only its user may read. Each change is on disk before it counts: a device whose
 * keys were lost with the power is paired once more.
 */
export class Bonds {
  readonly #file: string;
  readonly #byAddress: Map<string, Bond>;
  #claims: readonly Bond[];
  readonly #resolved = new Map<string, Bond | undefined>();

  /** @throws OperatorError when the file is there and cannot be read. */
  constructor(directory: string) {
    this.#file = join(directory, "bonds.json");
    const text = readIfThere(this.#file);
    const kept = text === undefined ? { bonds: [] } : parseIfWhole(text);
    if (!Value.Check(fileSchema, kept)) {
      throw new OperatorError(
        `the keys of bonded devices in ${this.#file} cannot be read`,
        "restore the file from a backup, or remove it and pair these devices anew",
      );
    }
    this.#byAddress = new Map(kept.bonds.map((bond) => [bond.address, bond]));
    this.#claims = kept.claims ?? [];
  }

  of(address: string): Bond | undefined {
    return this.#byAddress.get(address);
  }

  /** The bond of the device that speaks under a changing address; undefined for an address of another kind, and of others. */
  speakingAs(address: string): Bond | undefined {
    if (!isResolvable(address) || this.#byAddress.size === 0) return undefined;
    if (this.#resolved.has(address)) return this.#resolved.get(address);
    const bytes = encodeAddress(address).toReversed();
    const [prand, hash] = [bytes.slice(0, 3), bytes.slice(3)];
    const bond = [...this.#byAddress.values()].find(
      ({ identityKey }) =>
        identityKey !== undefined && areEqual(ah(Uint8Array.fromHex(identityKey), prand), hash),
    );
    this.#resolved.set(address, bond);
    const [oldest] = this.#resolved.keys();
    if (this.#resolved.size > resolved_max && oldest !== undefined) this.#resolved.delete(oldest);
    return bond;
  }

  /** Whether there is room for the bond of a device. */
  hasRoomFor(address: string): boolean {
    return this.#byAddress.has(address) || this.#byAddress.size < bonds_max;
  }

  /** Keeps a bond in the place of that of the same address; throws when the disk does not take it, and keeps nothing then. */
  keep(bond: Bond): void {
    const bonds = [...this.#byAddress.values()].filter(({ address: other }) => other !== bond.address);
    const claims = this.#claims.filter(({ address: other }) => other !== bond.address);
    this.#write([...bonds, bond], claims);
    this.#byAddress.set(bond.address, bond);
    this.#resolved.clear();
  }

  /** Keeps the bond of a device that claims to be another one, until a person has accepted it. */
  putAside(bond: Bond): void {
    const others = this.#claims.filter(({ key }) => key !== bond.key);
    this.#write([...this.#byAddress.values()], [...others, bond].slice(-claims_max));
  }

  /** Takes the claims that a person has accepted by now. */
  settle(isAccepted: (bond: Bond) => boolean): void {
    for (const bond of this.#claims) if (isAccepted(bond)) this.keep(bond);
  }

  #write(bonds: readonly Bond[], claims: readonly Bond[]): void {
    writeDurably(this.#file, JSON.stringify({ bonds, ...(claims.length === 0 ? {} : { claims }) }));
    this.#claims = claims;
  }
}

/** The bond that a pairing gave with the device of this lasting address. */
export function bondOf(lasting: TypedAddress, kind: Kind, pairing: Pairing): Bond {
  return {
    address: printedAddress(lasting),
    kind,
    addressType: lasting[0] === 0 ? "public" : "random",
    key: pairing.key.value.toHex(),
    diversifier: pairing.key.diversifier,
    random: pairing.key.random.toHex(),
    ...(pairing.identityKey === undefined ? {} : { identityKey: pairing.identityKey.toHex() }),
    byNumber: pairing.method !== "justWorks",
    secureConnections: pairing.secureConnections,
  };
}

/** The key of a bond, as identities have it: what tells it from others, and how it was made. */
export function deviceKeyOf({ key, byNumber, secureConnections }: Bond): DeviceKey {
  return {
    fingerprint: fingerprintOf(Uint8Array.fromHex(key)),
    made: `paired ${byNumber ? "by digits" : "without digits"}, ${secureConnections ? "secure connections" : "legacy pairing"}`,
  };
}

export function keyOf(bond: Bond): LinkKey {
  return {
    value: Uint8Array.fromHex(bond.key),
    diversifier: bond.diversifier,
    random: Uint8Array.fromHex(bond.random),
  };
}

/** Core 5.4, Vol 6, Part B, 1.3.2.2: the two highest bits of a random address are 0 and 1. */
export function isResolvable(address: string): boolean {
  return Number.parseInt(address.slice(0, 2), 16) >> 6 === 0b01;
}

/**
 * The address by which a device that was paired is known from now on: that of its identity where the address of the link
 * changes, else that of the link itself. Undefined where the keys that it gave do not fit the address under which it spoke.
 */
export function lastingAddress(link: TypedAddress, pairing: Pairing): TypedAddress | undefined {
  if (link[0] !== 1 || !isResolvable(printedAddress(link))) return link;
  const { identityKey, identityAddress } = pairing;
  if (identityKey === undefined || identityAddress === undefined) return undefined;
  return areEqual(ah(identityKey, link.subarray(1, 4)), link.subarray(4)) ? identityAddress : undefined;
}

/** An address of the toolbox as it is printed. */
export function printedAddress(address: TypedAddress): string {
  return decodeAddress(address.slice(1).reverse());
}

/** An address as the toolbox takes it. */
export function typedAddress(address: string, type: "public" | "random"): TypedAddress {
  return Uint8Array.of(type === "random" ? 1 : 0, ...encodeAddress(address).toReversed());
}
