import { createHmac } from "node:crypto";
import type { Static, TObject } from "@sinclair/typebox";
import { RecentlyUsed } from "../base/recently-used.ts";
import type { Item } from "../domain/records/item.ts";
import { type Identifies, identifiedBy } from "../domain/records/record-field.ts";
import { column, type FileCell, type FileColumn, type FileRow } from "./columns.ts";

/** How much a package tells of people. `full` has all that the interface answers. */
export const identifierLevels = ["none", "coded", "full"] as const;
export type IdentifierLevel = (typeof identifierLevels)[number];

interface PseudonymOptions {
  /** `coded`: numbers are the programme's own. Absent: none. */
  readonly level?: Exclude<IdentifierLevel, "full">;
  /** The year in which ages are counted. */
  readonly year: number;
  /** Called once, before anything is written by the key. */
  readonly onUse?: () => void;
}

/**
 * Takes names out of rows, by what the columns say of themselves (src/domain/records/record-field.ts): fields that tell of persons are left out, and homes,
 * subjects and items have numbers made by a key. With the same key they are the same for ever, at a gateway and at central: an item is known by the address of its device,
 * which does not change where the inventory takes over what was provisional.
 */
export class Pseudonyms {
  readonly level: Exclude<IdentifierLevel, "full">;
  readonly #key: Uint8Array;
  readonly #year: number;
  #onUse: () => void;
  readonly #items = new Map<number, Item>();
  readonly #names = new Map<string, Item>();
  /** Each row of a file asks for the same few again. */
  readonly #numbers = new RecentlyUsed<number>({ weight_max: numbers_max });

  constructor(key: Uint8Array, options: PseudonymOptions) {
    const { level = "none", year, onUse = () => {} } = options;
    this.#key = key;
    this.level = level;
    this.#year = year;
    this.#onUse = onUse;
  }

  /** Tells keys apart, and nothing of them. */
  get fingerprint(): string {
    return this.#digest("key").slice(0, 16);
  }

  /** The same text for the same form of the same rows. */
  get form(): string {
    return [this.fingerprint, this.level, this.#year].join(" ");
  }

  /** Learns which devices the items are that rows name. */
  learn(items: readonly Item[]): void {
    for (const item of items) {
      this.#items.set(item.itemid, item);
      this.#names.set(item.itemname, item);
    }
  }

  /** Says that something is about to be written by the key. */
  use(): void {
    this.#onUse();
    this.#onUse = () => {};
  }

  /** Puts items into an order that tells nothing, and that is the same at a gateway and at central. */
  order(items: readonly Item[]): Item[] {
    const numbered = items.map((item) => ({ item, number: this.itemNumber(item.itemid) }));
    return numbered.sort((one, other) => one.number - other.number).map(({ item }) => item);
  }

  numberOf(what: "subject" | "home", number: number): number {
    return this.#coded(what, number);
  }

  /** The number of an item. */
  itemNumber(itemid: number): number {
    if (this.level === "coded") return itemid;
    return this.deviceNumber(this.#items.get(itemid), itemid);
  }

  /** The number of the item of a device, which is by its address, or by the itemid of one without an address. */
  deviceNumber(device: Pick<Item, "typename" | "macaddress"> | undefined, itemid: number): number {
    return this.#number(`item ${(device && deviceKey(device)) ?? itemid}`);
  }

  /** The name of an epoch: it is that of a home's store, and would join packages of two keys. */
  epochName(epoch: string): string {
    return this.level === "coded" ? epoch : this.#digest(`epoch ${epoch}`).slice(0, epoch_length);
  }

  /** A record without names: where a field tells of a person it is null. */
  record<Schema extends TObject>(schema: Schema, record: Static<Schema>): Static<Schema> {
    const values = record as Record<string, FileCell>;
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => {
        const identifies = identifiedBy(field);
        const value = values[name] ?? null;
        return [name, isPersonal(identifies) ? null : this.#shown(name, identifies, value)];
      }),
    ) as Static<Schema>;
  }

  /** Kind of the item and its number. */
  itemName(itemname: string): string {
    const item = this.#names.get(itemname);
    return item === undefined
      ? `item-${this.#number(`name ${itemname}`)}`
      : `${item.typename}-${this.itemNumber(item.itemid)}`;
  }

  /** The columns that stay. */
  columns(columns: readonly FileColumn[]): FileColumn[] {
    return columns.flatMap((one) =>
      one.identifies === "birth" ? [ageColumn] : one.identifies === "person" ? [] : [one],
    );
  }

  /** Makes rows without names of rows with these columns. */
  rows(columns: readonly FileColumn[]): (row: FileRow) => FileRow {
    const death = columns.findIndex(({ name }) => name === "dod");
    const makers = columns.flatMap(({ name, identifies }, at) => {
      if (identifies === "person") return [];
      if (identifies === "birth") return [(row: FileRow) => this.#age(row[at] ?? null, row[death] ?? null)];
      return [(row: FileRow) => this.#shown(name, identifies, row[at] ?? null)];
    });
    return (row) => makers.map((make) => make(row));
  }

  /** Whole years by the calendar's years alone: two packages must not tell the birthday. Unix milliseconds. */
  #age(born_ms: FileCell, died_ms: FileCell): FileCell {
    if (born_ms === null) return null;
    const until = died_ms === null ? this.#year : new Date(Number(died_ms)).getUTCFullYear();
    return Math.max(0, Math.min(age_max, until - new Date(Number(born_ms)).getUTCFullYear()));
  }

  #shown(name: string, identifies: Exclude<Identifies, "person" | "birth">, cell: FileCell): FileCell {
    if (cell === null || identifies === "nobody") return cell;
    if (typeof identifies === "object") {
      const { isKnown, as = name } = identifies;
      return isKnown(String(cell)) ? cell : `${as}-${this.#number(`${as} ${cell}`)}`;
    }
    if (identifies === "itemname") return this.itemName(String(cell));
    if (identifies === "item") return this.itemNumber(Number(cell));
    return this.#coded(identifies === "code" ? name : identifies, Number(cell));
  }

  #coded(what: string, number: number): number {
    return this.level === "coded" ? number : this.#number(`${what} ${number}`);
  }

  /** Of 48 bits, which every program that reads numbers holds exactly. */
  #number(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = Number.parseInt(this.#digest(text).slice(0, 12), 16);
    this.#numbers.set(text, number, 1);
    return number;
  }

  #digest(text: string): string {
    return createHmac("sha256", this.#key).update(text).digest("hex");
  }
}

/** Whether a field is not in a package without names: of one that tells of a birth there is the age. */
export function isPersonal(identifies: Identifies): identifies is "person" | "birth" {
  return identifies === "person" || identifies === "birth";
}

/** The key of a recipient's packages: it cannot be told from the data manager's, and no two have the same. */
export function recipientKey(key: Uint8Array, recipient: string): Uint8Array {
  return createHmac("sha256", key).update(`recipient ${recipient}`).digest();
}

/** The device of an item by its type and address, the same wherever the item is known; undefined of one without an address. */
export function deviceKey(of: Pick<Item, "typename" | "macaddress">): string | undefined {
  const { typename, macaddress } = of;
  const address = (macaddress ?? "").toLowerCase().replaceAll(/[^0-9a-z]/g, "");
  return address === "" || address === "null" ? undefined : `${typename} ${address}`;
}

/** More years than these are a group of few, who could be known by them. */
const age_max = 90;
const ageColumn: FileColumn = {
  ...column(
    "age",
    "integer",
    `years that the subject reached in the year of the download, or in which it died; ${age_max} stands for ${age_max} and more`,
    "years",
  ),
  nullable: true,
};
const epoch_length = 32;
/** Numbers that are kept: those of the homes, subjects and items of a large programme. */
const numbers_max = 10_000;
