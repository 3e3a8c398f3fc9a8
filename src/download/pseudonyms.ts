import { createHmac } from "node:crypto";
import type { Item } from "../records/items.ts";
import type { Cell, Column, Row } from "./column.ts";

/**
 * Takes identifiers out of rows, by what the columns say of themselves (src/records/identifying.ts): fields that tell of persons are left out, and homes,
 * subjects and items have numbers made by a key. With the same key they are the same for ever, at a gateway and at central: an item is known by the address of its device,
 * which does not change where the inventory takes over what was provisional.
 */
export class Pseudonyms {
  readonly #key: Uint8Array;
  #onUse: () => void;
  readonly #items = new Map<number, Item>();
  readonly #names = new Map<string, Item>();

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
  order(items: Item[]): Item[] {
    return items.sort((one, other) => this.itemNumber(one.itemid) - this.itemNumber(other.itemid));
  }

  numberOf(what: "subject" | "home", number: number): number {
    return this.#number(`${what} ${number}`);
  }

  /** The number of an item. */
  itemNumber(itemid: number): number {
    const { typename, macaddress } = this.#items.get(itemid) ?? {};
    const address = (macaddress ?? "").toLowerCase().replaceAll(/[^0-9a-z]/g, "");
    return this.#number(
      address === "" || address === "null" ? `item ${itemid}` : `item ${typename} ${address}`,
    );
  }

  /** An item of which nothing is left but its kind, its number and what is the same of many. */
  item(item: Item): Item {
    const { itemid, itemname, currenthomeid } = item;
    return {
      ...item,
      itemid: this.itemNumber(itemid),
      itemname: this.itemName(itemname),
      currenthomeid: currenthomeid === null ? null : this.numberOf("home", currenthomeid),
      ...{ serialnum: null, macaddress: null, modelname: null, vendorname: null },
      ...{ subtypename: "null", statusname: null, lastbatterychange: "null" },
    };
  }

  /** Kind of the item and its number. */
  itemName(itemname: string): string {
    const item = this.#names.get(itemname);
    return item === undefined
      ? `item-${this.#number(`name ${itemname}`)}`
      : `${item.typename}-${this.itemNumber(item.itemid)}`;
  }

  /** The columns that stay. */
  columns(columns: readonly Column[]): Column[] {
    return columns.filter(({ identifies }) => identifies !== "person");
  }

  /** Makes rows without identifiers of rows with these columns. */
  rows(columns: readonly Column[]): (row: Row) => Row {
    const makers = columns.flatMap(({ name, identifies }, at) => {
      if (identifies === "person") return [];
      if (identifies === "nobody") return [(row: Row) => row[at] ?? null];
      return [(row: Row) => this.#cell(name, identifies, row[at] ?? null)];
    });
    return (row) => makers.map((make) => make(row));
  }

  #cell(name: string, identifies: Exclude<Column["identifies"], "person" | "nobody">, cell: Cell): Cell {
    if (cell === null) return null;
    if (typeof identifies === "object")
      return identifies.isKnown(String(cell)) ? cell : `${name}-${this.#number(`${name} ${cell}`)}`;
    if (identifies === "itemname") return this.itemName(String(cell));
    if (identifies === "item") return this.itemNumber(Number(cell));
    return this.numberOf(identifies, Number(cell));
  }

  /** Of 48 bits, which every program that reads numbers holds exactly. */
  #number(text: string): number {
    return Number.parseInt(this.#digest(text).slice(0, 12), 16);
  }

  #digest(text: string): string {
    return createHmac("sha256", this.#key).update(text).digest("hex");
  }
}
