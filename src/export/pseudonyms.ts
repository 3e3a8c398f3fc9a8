import { createHmac } from "node:crypto";
import type { Static, TObject } from "@sinclair/typebox";
import { RecentlyUsed } from "../base/recently-used.ts";
import type { Item } from "../domain/records/item.ts";
import { type Identifies, identifiedBy } from "../domain/records/record-field.ts";
import type { FileCell, FileColumn, FileRow } from "./columns.ts";

/**
 * Takes identifiers out of rows, by what the columns say of themselves (src/domain/records/record-field.ts): fields that tell of persons are left out, and homes,
 * subjects and items have numbers made by a key. With the same key they are the same for ever, at a gateway and at central: an item is known by the address of its device,
 * which does not change where the inventory takes over what was provisional.
 */
export class Pseudonyms {
  readonly #key: Uint8Array;
  #onUse: () => void;
  readonly #items = new Map<number, Item>();
  readonly #names = new Map<string, Item>();
  /** Each row of a file asks for the same few again. */
  readonly #numbers = new RecentlyUsed<number>({ weight_max: numbers_max });

  /** @param onUse called once, before anything is written by the key */
  constructor(key: Uint8Array, onUse: () => void = () => {}) {
    this.#key = key;
    this.#onUse = onUse;
  }

  /** Tells keys apart, and nothing of them. */
  get fingerprint(): string {
    return this.#digest("key").slice(0, 16);
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
    return this.#number(`${what} ${number}`);
  }

  /** The number of an item. */
  itemNumber(itemid: number): number {
    const item = this.#items.get(itemid);
    return this.#number(`item ${(item && deviceKey(item)) ?? itemid}`);
  }

  /** A record without identifiers: where a field tells of a person it is null. */
  record<Schema extends TObject>(schema: Schema, record: Static<Schema>): Static<Schema> {
    const values = record as Record<string, FileCell>;
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => {
        const identifies = identifiedBy(field);
        const value = values[name] ?? null;
        return [name, identifies === "person" ? null : this.#shown(name, identifies, value)];
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
    return columns.filter(({ identifies }) => identifies !== "person");
  }

  /** Makes rows without identifiers of rows with these columns. */
  rows(columns: readonly FileColumn[]): (row: FileRow) => FileRow {
    const makers = columns.flatMap(({ name, identifies }, at) =>
      identifies === "person" ? [] : [(row: FileRow) => this.#shown(name, identifies, row[at] ?? null)],
    );
    return (row) => makers.map((make) => make(row));
  }

  #shown(name: string, identifies: Exclude<Identifies, "person">, cell: FileCell): FileCell {
    if (cell === null || identifies === "nobody") return cell;
    if (typeof identifies === "object")
      return identifies.isKnown(String(cell)) ? cell : `${name}-${this.#number(`${name} ${cell}`)}`;
    if (identifies === "itemname") return this.itemName(String(cell));
    if (identifies === "item") return this.itemNumber(Number(cell));
    return this.numberOf(identifies, Number(cell));
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

/** The device of an item by its type and address, the same wherever the item is known; undefined of one without an address. */
export function deviceKey(of: Pick<Item, "typename" | "macaddress">): string | undefined {
  const { typename, macaddress } = of;
  const address = (macaddress ?? "").toLowerCase().replaceAll(/[^0-9a-z]/g, "");
  return address === "" || address === "null" ? undefined : `${typename} ${address}`;
}

/** Numbers that are kept: those of the homes, subjects and items of a large programme. */
const numbers_max = 10_000;
