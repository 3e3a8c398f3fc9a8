import { type Static, Type } from "@sinclair/typebox";
import { OperatorError } from "../../base/errors.ts";
import { plainLine, plainWords } from "../../base/text.ts";
import type { WalkingLine } from "../../domain/derived/walking-passes.ts";
import { valueInFile } from "../../domain/home-file.ts";
import type { Item } from "../../domain/records/item.ts";
import { erasedAt, type SpanOfDevice } from "../erasure.ts";
import { Kind, time_ms } from "../exchange.ts";
import { normalAddress } from "./item-names.ts";

/** Letters of a name or a room that is given at a gateway, and how many devices may have one. */
const given_name_max = 60;
export const given_names_max = 500;
/** The longest line of curtain sensors. */
const metres_max = 100;

const Text = Type.String({ minLength: 1, maxLength: given_name_max });
const Address = Type.String({ maxLength: 64 });

/**
 * The name and place of a device in the words of somebody in the home: a proposal to the programme, by which the gateway calls it as long as the inventory does
 * not know it. Kept by the device, so that its place stays known when the inventory takes its item over.
 */
export const GivenName = Type.Object(
  {
    kind: Kind,
    address: Address,
    name: Text,
    room: Type.Optional(Text),
    /** Of a curtain sensor: its distance from a fixed end of the line that those of its room make. */
    metres: Type.Optional(Type.Number({ minimum: 0, maximum: metres_max })),
    /** Of a pill box: the hour for which its dose is prescribed, by the clock of the home: `08:00`. */
    due: Type.Optional(Type.String({ pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$" })),
    /** Address of the broken device whose name and place it took. */
    replaces: Type.Optional(Address),
    /** When it was given, unix milliseconds. */
    given_ms: time_ms,
  },
  { additionalProperties: false },
);
export type GivenName = Readonly<Static<typeof GivenName>>;

/** Whether a record is of the device of a kind and an address, in its normal form. */
export function isDevice({ kind, address }: Pick<GivenName, "kind" | "address">, record: Item): boolean {
  return record.typename === kind && normalAddress(record.macaddress ?? "") === address;
}

/** A device that another one took the place of. */
export interface Replaced {
  /** Address of the other one. */
  readonly by: string;
  /** When that was said, unix milliseconds. */
  readonly at_ms: number;
}

/** Whether another device took the place of that of a record, by the names of its home; one that was named again is in use again. */
export function replacedIn(names: readonly GivenName[], record: Item): Replaced | undefined {
  const other = names.find(
    ({ kind, replaces }) => replaces !== undefined && isDevice({ kind, address: replaces }, record),
  );
  if (other === undefined || names.some((one) => isDevice(one, record))) return undefined;
  return { by: other.address, at_ms: other.given_ms };
}

/** Names and places that devices were given, in order of kind and address. */
export interface GivenNames {
  /** Of a home: at a gateway here, at central as its gateway last sent them. They say nothing of other homes, whatever devices they name. */
  givenNames(home?: number): Promise<readonly GivenName[]>;
}

/** Gives names at a gateway. Both calls throw an OperatorError, with nothing changed, where a device is not known or something else has the name. */
export interface NameStore {
  /** Calls a device by a name, and says where it is. */
  nameItem(giving: NameGiving): Promise<NamedItem>;
  /** Gives the name and place of a device to the one that was put there for it. What was recorded of either stays its own. */
  replaceItem(replacing: Replacing): Promise<NamedItem>;
}

/** Another item has the name; nothing was changed. */
export class NameTaken extends OperatorError {}

/** Name and place for the device of an address; what is not told stays as it was given before, or as the inventory has it. */
export interface NameGiving {
  /** In its normal form. */
  readonly address: string;
  readonly name?: string | undefined;
  readonly room?: string | undefined;
  readonly metres?: number | undefined;
  readonly due?: string | undefined;
  readonly given_ms: number;
  /** Lines of the configuration, which name their sensors: one of these keeps the name that it has there. */
  readonly lines?: readonly WalkingLine[] | undefined;
}

/** Two devices, each by its address or the name of its item. */
export interface Replacing extends Pick<NameGiving, "given_ms" | "lines"> {
  readonly old: string;
  readonly new: string;
}

export interface NamedItem extends GivenName {
  /** Name of its item from now on: the given one, or that of the inventory. */
  readonly itemname: string;
}

/**
 * A name or a room as it is kept: one line, nothing in it that acts on a screen.
 *
 * @param what it is, for the error: `name` or `room`
 * @throws OperatorError where nothing is left of it, or too much
 */
export function givenText(written: string, what: string): string {
  const text = plainLine(written).replace(/\s+/g, " ").trim();
  if (text === "") throw new OperatorError(`the ${what} is empty`, `give the ${what} that people use`);
  if (text.length > given_name_max)
    throw new OperatorError(
      `the ${what} has ${text.length} letters`,
      `give one of ${given_name_max} letters at most`,
    );
  return text;
}

/** A distance as it was written. @throws OperatorError where it is none */
export function givenMetres(written: string): number {
  const text = written.trim().replace(",", ".");
  const metres = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (metres <= metres_max) return metres;
  throw new OperatorError(
    `${JSON.stringify(written)} is no distance in metres`,
    `give a number from 0 to ${metres_max}, such as 0.75`,
  );
}

/** An hour of the day as it was written: `8:00`, `08:00` or `8`. @throws OperatorError where it is none */
export function givenHour(written: string): string {
  const [, hour = "", minute = "00"] = /^(\d{1,2})(?:[:.](\d{2}))?$/.exec(written.trim()) ?? [];
  if (hour !== "" && Number(hour) < 24 && Number(minute) < 60) return `${hour.padStart(2, "0")}:${minute}`;
  throw new OperatorError(`${JSON.stringify(written)} is no hour of the day`, "give one such as 08:00");
}

/** The file of a home in which central keeps its given names. */
export const givenNamesFile = "given-names.json";

export function givenNamesBytes(names: readonly GivenName[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(names));
}

/** The names in such a file, as far as they are any: it comes from a gateway. */
export function givenNamesIn(content: Uint8Array | undefined): readonly GivenName[] {
  return valueInFile(GivenNames, content)?.map((one) => plainWords(one)) ?? [];
}
const GivenNames = Type.Array(GivenName, { maxItems: given_names_max });

/** Names without those that were given in a time that was erased. */
export function namesWithoutErased(
  names: readonly GivenName[],
  spans: readonly SpanOfDevice[],
): readonly GivenName[] {
  return names.filter((one) => erasedAt(spans, { ...one, itemid: undefined }, one.given_ms) === undefined);
}
